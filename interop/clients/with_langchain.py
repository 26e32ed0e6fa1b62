"""langchain-mcp-adapters: tools as LangChain has them, and as it hands them to a model."""

from __future__ import annotations

from langchain_core.utils.function_calling import convert_to_openai_tool
from langchain_mcp_adapters.tools import load_mcp_tools
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from interop.clients.job import Report, Server, run


async def use(server: Server) -> Report:
    report = Report()
    parameters = StdioServerParameters(command=server.command, args=server.args, env=dict(server.env))
    async with stdio_client(parameters) as streams, ClientSession(*streams) as session:
        await session.initialize()
        tools = {tool.name: tool for tool in await load_mcp_tools(session)}
        report.loaded = len([convert_to_openai_tool(tool) for tool in tools.values()])
        for call in server.calls:
            answer = await tools[call.tool].ainvoke(dict(call.arguments))
            first = answer[0] if isinstance(answer, list) else answer
            report.texts[call.tool] = first["text"] if isinstance(first, dict) else str(first)
    return report


if __name__ == "__main__":
    run(use)

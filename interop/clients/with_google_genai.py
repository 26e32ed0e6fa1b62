"""google-genai: each tool as a function declaration of Gemini's own schema, and calls as the model makes them."""

from __future__ import annotations

from google.genai._adapters import McpToGenAiToolAdapter
from google.genai.types import FunctionCall
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from interop.clients.job import Report, Server, run


async def use(server: Server) -> Report:
    report = Report()
    parameters = StdioServerParameters(command=server.command, args=server.args, env=dict(server.env))
    async with stdio_client(parameters) as streams, ClientSession(*streams) as session:
        await session.initialize()
        adapter = McpToGenAiToolAdapter(session, await session.list_tools())
        declared = [each for tool in adapter.tools for each in tool.function_declarations or []]
        report.loaded = sum(each.parameters is not None for each in declared)
        for call in server.calls:
            answer = await adapter.call_tool(FunctionCall(name=call.tool, args=dict(call.arguments)))
            report.texts[call.tool] = answer.content[0].text
    return report


if __name__ == "__main__":
    run(use)

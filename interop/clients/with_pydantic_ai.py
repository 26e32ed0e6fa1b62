"""pydantic-ai: its toolset, with schemas as it writes them for the models of OpenAI and Google."""

from __future__ import annotations

import json

from fastmcp.client.transports import StdioTransport
from pydantic_ai._json_schema import InlineDefsJsonSchemaTransformer
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.profiles.openai import OpenAIJsonSchemaTransformer

from interop.clients.job import Report, Server, run


async def use(server: Server) -> Report:
    report = Report()
    transport = StdioTransport(server.command, server.args, env=dict(server.env))
    async with MCPToolset(transport) as toolset:
        for tool in await toolset.list_tools():
            for transformer in (OpenAIJsonSchemaTransformer, InlineDefsJsonSchemaTransformer):
                transformer(tool.input_schema if hasattr(tool, "input_schema") else tool.inputSchema).walk()
            report.loaded += 1
        for call in server.calls:
            answer = await toolset.direct_call_tool(call.tool, dict(call.arguments))
            first = answer[0] if isinstance(answer, list) else answer
            report.texts[call.tool] = first if isinstance(first, str) else json.dumps(first, default=str)
    return report


if __name__ == "__main__":
    run(use)

"""openai-agents with schemas converted to strict: where that worked, the call gives every field, as the model must."""

from __future__ import annotations

import json

from agents import Agent, RunContextWrapper
from agents.mcp import MCPServerStdio, MCPUtil
from agents.tool import FunctionTool
from agents.tool_context import ToolContext

from interop.clients.job import Report, Server, run


async def use(server: Server) -> Report:
    report = Report()
    params = {"command": server.command, "args": server.args, "env": dict(server.env)}
    async with MCPServerStdio(params, client_session_timeout_seconds=60) as connected:
        tools = await MCPUtil.get_function_tools(connected, True, RunContextWrapper(None), Agent(name="t"))
        functions = {tool.name: tool for tool in tools if isinstance(tool, FunctionTool)}
        report.loaded = len(functions)
        report.strict = sum(tool.strict_json_schema for tool in functions.values())
        for call in server.calls:
            function = functions[call.tool]
            arguments = json.dumps(call.filled_in if function.strict_json_schema else call.arguments)
            context = ToolContext(None, tool_name=call.tool, tool_call_id="1", tool_arguments=arguments)
            answer = await function.on_invoke_tool(context, arguments)
            blocks = answer if isinstance(answer, list) else [answer]
            first = blocks[0]
            report.texts[call.tool] = first["text"] if isinstance(first, dict) else str(first)
    return report


if __name__ == "__main__":
    run(use)

"""fastmcp: its client, and its proxy, which takes each tool over as one of its own."""

from __future__ import annotations

from fastmcp.client import Client
from fastmcp.client.transports import StdioTransport
from fastmcp.server import create_proxy

from interop.clients.job import Report, Server, run


async def use(server: Server) -> Report:
    report = Report()
    transport = StdioTransport(server.command, server.args, env=dict(server.env))
    report.loaded = len(await create_proxy(Client(transport)).list_tools())
    async with Client(transport) as client:
        for call in server.calls:
            answer = await client.call_tool(call.tool, dict(call.arguments))
            report.texts[call.tool] = answer.content[0].text
    return report


if __name__ == "__main__":
    run(use)

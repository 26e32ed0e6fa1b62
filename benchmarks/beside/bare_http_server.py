"""What the SDK alone costs over HTTP: one tool that makes the same request as ours, with the caller's token."""

from __future__ import annotations

import os
import sys
from typing import Any

import anyio
import anyio.to_thread
import requests
import uvicorn
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from requests.adapters import HTTPAdapter

server = MCPServer("bare")
session = requests.Session()
session.mount("http://", HTTPAdapter(pool_maxsize=64))


@server.tool()
async def browse_labels(action: str, project_id: str, ctx: Context[Any, Any]) -> str:
    url = f"{os.environ['GITLAB_URL']}/api/v4/projects/{project_id}/labels"
    headers = {"PRIVATE-TOKEN": (ctx.headers or {})["private-token"]}
    return await anyio.to_thread.run_sync(lambda: session.get(url, headers=headers, timeout=30).text)


class Server(uvicorn.Server):
    async def startup(self, sockets: Any = None) -> None:
        await super().startup(sockets)
        port = self.servers[0].sockets[0].getsockname()[1]
        sys.stderr.write(f"http://127.0.0.1:{port}\n")


app = server.streamable_http_app(json_response=True, stateless_http=True)
anyio.run(Server(uvicorn.Config(app, port=0, log_config=None, access_log=False)).serve)

"""What the SDK alone costs: an MCP server with the same number of tools, whose only tool that works makes the
same HTTP request as ours does."""

from __future__ import annotations

import os
import sys
from functools import cache
from typing import Any

from mcp.server import MCPServer

server = MCPServer("bare")


@cache
def session() -> Any:
    """Imported with the first call, as ours does: a server that only starts shall not pay for it."""
    import requests

    return requests.Session()


@server.tool()
def browse_labels(action: str, project_id: str, page: int = 1) -> str:
    url = f"{os.environ['GITLAB_URL']}/api/v4/projects/{project_id}/labels?page={page}"
    answer: str = session().get(url, headers={"PRIVATE-TOKEN": os.environ["GITLAB_TOKEN"]}, timeout=30).text
    return answer


def placeholder(action: str, project_id: str, search: str = "", page: int = 1) -> str:
    """A tool that is only listed."""
    return ""


for number in range(int(sys.argv[1]) - 1):
    server.add_tool(placeholder, name=f"tool_{number}")

server.run()

"""Links that open a client and ask its person whether the server is to be added. They hold no token."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode

from gitlab_mcp.clients.all_clients import ASKED_TOKEN
from gitlab_mcp.clients.client import Launch
from gitlab_mcp.clients.documents import QUESTION

_ASKED_URL = "gitlab_url"


def cursor_link(name: str, launch: Launch) -> str:
    """Cursor shows the entry before it adds it, so that the person fills in the variables."""
    config = {
        "command": launch.command,
        "args": [*launch.arguments],
        "env": {"GITLAB_URL": "https://gitlab.com", "GITLAB_TOKEN": ""},
    }
    encoded = base64.b64encode(_compact(config).encode()).decode()
    return "https://cursor.com/en/install-mcp?" + urlencode(
        {"name": name, "config": encoded}, quote_via=quote
    )


def vscode_link(name: str, launch: Launch) -> str:
    """VS Code asks for the address and the token. Its own scheme cannot be linked from a README, hence the redirect."""
    address = {
        "type": "promptString",
        "id": _ASKED_URL,
        "description": "The address of your GitLab",
        "default": "https://gitlab.com",
    }
    config = {
        "type": "stdio",
        "command": launch.command,
        "args": [*launch.arguments],
        "env": {"GITLAB_URL": f"${{input:{_ASKED_URL}}}", "GITLAB_TOKEN": f"${{input:{ASKED_TOKEN}}}"},
    }
    inputs = _compact([address, QUESTION])
    query = urlencode({"name": name, "inputs": inputs, "config": _compact(config)}, quote_via=quote)
    return "https://insiders.vscode.dev/redirect/mcp/install?" + query


def _compact(value: Mapping[str, Any] | list[Any]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))

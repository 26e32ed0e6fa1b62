"""What a person pastes into a client's file, or into a shell."""

from __future__ import annotations

import shlex
from dataclasses import replace

from gitlab_mcp.clients.all_clients import ASKED_TOKEN
from gitlab_mcp.clients.client import Client, File, Launch
from gitlab_mcp.clients.documents import Document

_SAYS_WHERE_THE_TOKEN_IS = ("GITLAB_TOKEN", "GITLAB_TOKEN_FILE", "GITLAB_MCP_PROFILE")
_PASTED = File("json", {}, ("mcpServers",))


def asking_for_token(client: Client, launch: Launch) -> Launch:
    """Where the client can ask its person for the token, and nothing else says where it is."""
    variables = launch.variables
    if not client.asks_for_token or not variables.keys().isdisjoint(_SAYS_WHERE_THE_TOKEN_IS):
        return launch
    return replace(launch, variables={**variables, "GITLAB_TOKEN": f"${{input:{ASKED_TOKEN}}}"})


def snippet(client: Client, name: str, launch: Launch) -> str:
    """A whole file with nothing but the server in it; or the command that adds it."""
    if client.commands:
        return shlex.join(client.commands.add(name, launch)) + "\n"
    file = client.file or _PASTED
    return Document(client, file, "the snippet", "").with_server(name, client.entry(name, launch))


def language(client: Client) -> str:
    """As a block of code in Markdown is marked."""
    return "console" if client.commands else (client.file or _PASTED).syntax

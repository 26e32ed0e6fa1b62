"""The table of clients that reach the server over HTTP, each with what its person pastes.

The page for people (`front_page.py`) and docs/guides/http-clients.md are made from it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal

Syntax = Literal["json", "toml", "yaml", "console"]


@dataclass(frozen=True, slots=True)
class Credential:
    """The header with which a request says whose it is. It names a variable, and never holds a value."""

    header: str
    prefix: str
    variable: str
    asked_for: str
    """What a client asks its person for."""
    placeholder: str
    """Stands for the value in clients that read no variables."""

    def from_variable(self, form: str) -> str:
        """`form` is how the client writes a variable, with a * for its name."""
        return self.prefix + form.replace("*", self.variable)

    @property
    def typed_in(self) -> str:
        return self.prefix + self.placeholder


GITLAB_TOKEN: Final = Credential("PRIVATE-TOKEN", "", "GITLAB_TOKEN", "GitLab token", "glpat-…")
SERVER_SECRET: Final = Credential(
    "Authorization", "Bearer ", "MCP_SERVER_SECRET", "Secret of the server", "the secret of this server"
)
"""Where the server holds the token itself and asks for a secret in place of it."""


@dataclass(frozen=True, slots=True)
class RemoteClient:
    title: str
    where: str
    """Where the person puts it, in Markdown's code marks where it is a file or a command."""
    syntax: Syntax
    snippet: Callable[[str, Credential], str]
    """Of the URL of the MCP endpoint."""


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def _reading_variables(key: str, form: str, url_key: str = "url") -> Callable[[str, Credential], str]:
    """An entry under `key`, for a client that writes a variable in this form."""

    def snippet(url: str, credential: Credential) -> str:
        headers = {credential.header: credential.from_variable(form)}
        return _json({key: {"gitlab": {url_key: url, "headers": headers}}})

    return snippet


def _typed_in(key: str) -> Callable[[str, Credential], str]:
    """For a client that reads no variables."""

    def snippet(url: str, credential: Credential) -> str:
        return _json({key: {"gitlab": {"url": url, "headers": {credential.header: credential.typed_in}}}})

    return snippet


def _claude_code(url: str, credential: Credential) -> str:
    header = f'"{credential.header}: {credential.from_variable("$*")}"'
    return f"claude mcp add --transport http gitlab {url} --header {header}"


def _vs_code(url: str, credential: Credential) -> str:
    asked = {
        "type": "promptString",
        "id": "gitlab_token",
        "description": credential.asked_for,
        "password": True,
    }
    headers = {credential.header: f"{credential.prefix}${{input:{asked['id']}}}"}
    return _json({"servers": {"gitlab": {"type": "http", "url": url, "headers": headers}}, "inputs": [asked]})


def _codex(url: str, credential: Credential) -> str:
    # It sends `Authorization: Bearer`, under which GitLab tokens are taken too.
    return f'[mcp_servers.gitlab]\nurl = {json.dumps(url)}\nbearer_token_env_var = "{credential.variable}"'


def _goose(url: str, credential: Credential) -> str:
    return (
        "extensions:\n  gitlab:\n    name: gitlab\n    type: streamable_http\n    enabled: true\n"
        f"    uri: {json.dumps(url)}\n    headers:\n"
        f"      {credential.header}: {json.dumps(credential.typed_in, ensure_ascii=False)}\n    timeout: 300"
    )


def _opencode(url: str, credential: Credential) -> str:
    headers = {credential.header: credential.from_variable("{env:*}")}
    return _json({"mcp": {"servers": {"gitlab": {"type": "remote", "url": url, "headers": headers}}}})


def _mcp_remote(url: str, credential: Credential) -> str:
    header = f"{credential.header}:{credential.from_variable('${*}')}"
    entry = {
        "command": "npx",
        "args": ["mcp-remote", url, "--header", header],
        "env": {credential.variable: credential.placeholder},
    }
    return _json({"mcpServers": {"gitlab": entry}})


REMOTE_CLIENTS: Final = (
    RemoteClient("Claude Code", "a terminal", "console", _claude_code),
    RemoteClient("Cursor", "`.cursor/mcp.json`", "json", _reading_variables("mcpServers", "${env:*}")),
    RemoteClient("VS Code", "`.vscode/mcp.json` (VS Code asks once and keeps the answer)", "json", _vs_code),
    RemoteClient("Codex", "`~/.codex/config.toml`", "toml", _codex),
    RemoteClient(
        "Gemini CLI", "`~/.gemini/settings.json`", "json", _reading_variables("mcpServers", "$*", "httpUrl")
    ),
    RemoteClient(
        "Windsurf",
        "`~/.codeium/windsurf/mcp_config.json`",
        "json",
        _reading_variables("mcpServers", "${env:*}", "serverUrl"),
    ),
    RemoteClient("Zed", "its settings file", "json", _typed_in("context_servers")),
    RemoteClient("Goose", "`~/.config/goose/config.yaml`", "yaml", _goose),
    RemoteClient(
        "LM Studio", "`mcp.json` (Program → Install → Edit mcp.json)", "json", _typed_in("mcpServers")
    ),
    RemoteClient("OpenCode", "`opencode.json`, since version 2", "json", _opencode),
    RemoteClient(
        "Clients that only start programs",
        "their file, as Claude Desktop's `claude_desktop_config.json` (the npm package `mcp-remote` is the bridge)",
        "json",
        _mcp_remote,
    ),
)

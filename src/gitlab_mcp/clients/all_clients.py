"""The table of clients. `gitlab-mcp install`, README.md and docs/guides/clients.md are made from it."""

from __future__ import annotations

from typing import Any, Final

from gitlab_mcp.clients.client import Client, Commands, File, Launch

ASKED_TOKEN: Final = "gitlab_token"
"""The name of the question for the token, in clients that ask for it."""


def _plain(name: str, launch: Launch) -> dict[str, Any]:
    return {
        "command": launch.command,
        **({"args": list(launch.arguments)} if launch.arguments else {}),
        **({"env": dict(launch.variables)} if launch.variables else {}),
    }


def _typed(name: str, launch: Launch) -> dict[str, Any]:
    return {"type": "stdio", **_plain(name, launch)}


def _goose(name: str, launch: Launch) -> dict[str, Any]:
    return {
        "name": name,
        "type": "stdio",
        "enabled": True,
        "cmd": launch.command,
        "args": list(launch.arguments),
        "envs": dict(launch.variables),
        "timeout": 300,
    }


def _opencode(name: str, launch: Launch) -> dict[str, Any]:
    return {
        "type": "local",
        "enabled": True,
        "command": [launch.command, *launch.arguments],
        **({"environment": dict(launch.variables)} if launch.variables else {}),
    }


def _everywhere(*places: str) -> dict[Any, tuple[str, ...]]:
    return {"linux": places, "macos": places, "windows": places}


def _claude_code(name: str, launch: Launch) -> list[str]:
    variables = [word for each in launch.variables.items() for word in ("--env", "=".join(each))]
    # It takes all words that follow --env for variables, up to the next flag.
    begun = ["claude", "mcp", "add", *variables, "--scope", "user", name]
    return [*begun, "--", launch.command, *launch.arguments]


_MCP_SERVERS: Final = ("mcpServers",)

ALL: Final = (
    Client(
        "claude-desktop",
        "Claude Desktop",
        _plain,
        "env",
        File(
            "json",
            {
                "linux": ("{config}/Claude/claude_desktop_config.json",),
                "macos": ("{support}/Claude/claude_desktop_config.json",),
                "windows": ("{appdata}/Claude/claude_desktop_config.json",),
            },
            _MCP_SERVERS,
        ),
        where="Settings → Developer → Edit Config",
        afterwards="Quit Claude Desktop and start it again.",
    ),
    Client(
        "claude-code",
        "Claude Code",
        _plain,
        "env",
        commands=Commands(_claude_code, lambda name: ["claude", "mcp", "remove", "--scope", "user", name]),
        afterwards="`/mcp` in a session shows the server.",
    ),
    Client(
        "cursor",
        "Cursor",
        _plain,
        "env",
        File("json", _everywhere("{home}/.cursor/mcp.json"), _MCP_SERVERS),
        where="Settings → Tools & MCP; for one project alone, `.cursor/mcp.json` in it",
        afterwards="Switch the server on in Settings → Tools & MCP.",
    ),
    Client(
        "vscode",
        "VS Code",
        _typed,
        "env",
        File(
            "json",
            {
                "linux": ("{config}/Code/User/mcp.json",),
                "macos": ("{support}/Code/User/mcp.json",),
                "windows": ("{appdata}/Code/User/mcp.json",),
            },
            ("servers",),
        ),
        asks_for_token=True,
        where="the command MCP: Open User Configuration; for one project alone, `.vscode/mcp.json` in it",
        afterwards="Start the server from the list of MCP: List Servers.",
    ),
    Client(
        "windsurf",
        "Windsurf",
        _plain,
        "env",
        File("json", _everywhere("{home}/.codeium/windsurf/mcp_config.json"), _MCP_SERVERS),
        where="Settings → Cascade → MCP servers",
        afterwards="Press refresh in Cascade's list of MCP servers.",
    ),
    Client(
        "zed",
        "Zed",
        _plain,
        "env",
        File(
            "json",
            {
                "linux": ("{config}/zed/settings.json",),
                "macos": ("{home}/.config/zed/settings.json",),
                "windows": ("{appdata}/Zed/settings.json",),
            },
            ("context_servers",),
        ),
        where="the command zed: open settings file",
        afterwards="The agent panel's settings show the server with a green dot.",
    ),
    Client(
        "jetbrains",
        "JetBrains AI Assistant",
        _plain,
        "env",
        where="Settings → Tools → AI Assistant → Model Context Protocol (MCP) → Add → As JSON",
        afterwards="Press Apply.",
    ),
    Client(
        "junie",
        "JetBrains Junie",
        _plain,
        "env",
        File("json", _everywhere("{home}/.junie/mcp/mcp.json"), _MCP_SERVERS),
        where="Settings → Tools → Junie → MCP Settings",
        afterwards="Junie's MCP settings show the server.",
    ),
    Client(
        "codex",
        "Codex",
        _plain,
        "env",
        File("toml", _everywhere("{CODEX_HOME}/config.toml"), ("mcp_servers",)),
        afterwards="`/mcp` in a new session shows the server.",
    ),
    Client(
        "gemini-cli",
        "Gemini CLI",
        _plain,
        "env",
        File("json", _everywhere("{home}/.gemini/settings.json"), _MCP_SERVERS),
        afterwards="`/mcp` in a new session shows the server.",
    ),
    Client(
        "goose",
        "Goose",
        _goose,
        "envs",
        File(
            "yaml",
            {
                "linux": ("{config}/goose/config.yaml",),
                "macos": ("{config}/goose/config.yaml",),
                "windows": ("{appdata}/Block/goose/config/config.yaml",),
            },
            ("extensions",),
        ),
        afterwards="Start a new session.",
    ),
    Client(
        "lm-studio",
        "LM Studio",
        _plain,
        "env",
        File("json", _everywhere("{home}/.lmstudio/mcp.json"), _MCP_SERVERS),
        where="Program → Install → Edit mcp.json",
        afterwards="Switch the server on in the Program tab.",
    ),
    Client(
        "opencode",
        "OpenCode",
        _opencode,
        "environment",
        File(
            "json",
            _everywhere("{config}/opencode/opencode.json", "{config}/opencode/opencode.jsonc"),
            ("mcp",),
        ),
        afterwards="`opencode mcp list` shows the server.",
    ),
)

CLIENTS: Final = {client.name: client for client in ALL}

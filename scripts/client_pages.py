"""What README.md and docs/guides/clients.md say of each client, from the table of clients."""

from __future__ import annotations

from html import escape

from gitlab_mcp.clients.all_clients import ALL
from gitlab_mcp.clients.client import Client, Launch, System
from gitlab_mcp.clients.launch import DISTRIBUTION
from gitlab_mcp.clients.links import cursor_link, vscode_link
from gitlab_mcp.clients.snippets import asking_for_token, language, snippet

NAME = "gitlab"
RELEASED = Launch("uvx", (DISTRIBUTION,))
SYSTEMS: dict[System, str] = {"linux": "Linux", "macos": "macOS", "windows": "Windows"}
FOLDERS: dict[System, dict[str, str]] = {
    "linux": {"home": "~", "config": "~/.config", "CODEX_HOME": "~/.codex"},
    "macos": {
        "home": "~",
        "config": "~/.config",
        "CODEX_HOME": "~/.codex",
        "support": "~/Library/Application Support",
    },
    "windows": {
        "home": "%USERPROFILE%",
        "config": "%USERPROFILE%/.config",
        "CODEX_HOME": "%USERPROFILE%/.codex",
        "appdata": "%APPDATA%",
    },
}
BUTTONS = {
    "docs/images/add-to-vscode.svg": ("Add to VS Code", vscode_link),
    "docs/images/add-to-cursor.svg": ("Add to Cursor", cursor_link),
}


def buttons() -> dict[str, str]:
    """Drawn here, so that no page has to ask another server for a picture."""
    return {file: _button(words) for file, (words, _) in BUTTONS.items()}


def button_links() -> str:
    links = (f"[![{words}]({file})]({link(NAME, RELEASED)})" for file, (words, link) in BUTTONS.items())
    return "\n".join(links) + "\n"


def folded_sections() -> str:
    return "\n".join(
        f"<details><summary><b>{client.title}</b></summary>\n\n{_told(client)}\n</details>\n"
        for client in ALL
    )


def sections() -> str:
    return "\n".join(f"## {client.title}\n\n{_told(client)}" for client in ALL)


def _told(client: Client) -> str:
    launch = Launch(RELEASED.command, RELEASED.arguments, _variables(client))
    told = [
        _lead(client),
        f"```{language(client)}\n{snippet(client, NAME, asking_for_token(client, launch))}```",
        *(["It asks for the token once and keeps it."] if client.asks_for_token else []),
        *([client.afterwards] if client.afterwards else []),
    ]
    return "\n\n".join(told) + "\n"


def _variables(client: Client) -> dict[str, str]:
    token = {} if client.asks_for_token else {"GITLAB_TOKEN_FILE": "/home/you/.gitlab-token"}
    return {"GITLAB_URL": "https://gitlab.example.com", **token}


def _lead(client: Client) -> str:
    ours = f"`gitlab-mcp install {client.name}`"
    if client.commands:
        return f"{ours} runs this, after asking:"
    if client.file is None:
        return f"Paste this at *{client.where}*; {ours} prints it:"
    by_hand = f" You reach it by {client.where}." if client.where else ""
    return f"{ours} adds this to {_places(client)}.{by_hand}"


def _places(client: Client) -> str:
    assert client.file
    named: dict[str, list[str]] = {}
    for system, title in SYSTEMS.items():
        path = client.file.places[system][0].format(**FOLDERS[system])
        named.setdefault(path.replace("/", "\\") if system == "windows" else path, []).append(title)
    return ", ".join(f"`{path}` ({' and '.join(titles)})" for path, titles in named.items())


def _button(words: str) -> str:
    width = 24 + 7 * len(words)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="28" role="img" aria-label="{escape(words)}">'
        f'<rect width="{width}" height="28" rx="5" fill="#24292f"/>'
        f'<text x="{width // 2}" y="18.5" fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="12" '
        f'text-anchor="middle" textLength="{width - 24}">{escape(words)}</text></svg>\n'
    )

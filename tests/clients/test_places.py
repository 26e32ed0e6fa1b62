"""Where each client's file is on each system."""

from __future__ import annotations

import pytest

from gitlab_mcp.clients.all_clients import ALL, CLIENTS
from gitlab_mcp.clients.client import Client, Refused, System
from gitlab_mcp.clients.places import places
from tests.support.for_each import for_each

HOMES: dict[System, dict[str, str]] = {
    "linux": {"HOME": "/home/ada"},
    "macos": {"HOME": "/Users/ada"},
    "windows": {"USERPROFILE": r"C:\Users\ada", "APPDATA": r"C:\Users\ada\AppData\Roaming"},
}
EXPECTED = {
    "claude-desktop": (
        "/home/ada/.config/Claude/claude_desktop_config.json",
        "/Users/ada/Library/Application Support/Claude/claude_desktop_config.json",
        r"C:\Users\ada\AppData\Roaming\Claude\claude_desktop_config.json",
    ),
    "cursor": ("/home/ada/.cursor/mcp.json", "/Users/ada/.cursor/mcp.json", r"C:\Users\ada\.cursor\mcp.json"),
    "vscode": (
        "/home/ada/.config/Code/User/mcp.json",
        "/Users/ada/Library/Application Support/Code/User/mcp.json",
        r"C:\Users\ada\AppData\Roaming\Code\User\mcp.json",
    ),
    "zed": (
        "/home/ada/.config/zed/settings.json",
        "/Users/ada/.config/zed/settings.json",
        r"C:\Users\ada\AppData\Roaming\Zed\settings.json",
    ),
    "codex": (
        "/home/ada/.codex/config.toml",
        "/Users/ada/.codex/config.toml",
        r"C:\Users\ada\.codex\config.toml",
    ),
    "goose": (
        "/home/ada/.config/goose/config.yaml",
        "/Users/ada/.config/goose/config.yaml",
        r"C:\Users\ada\AppData\Roaming\Block\goose\config\config.yaml",
    ),
    "opencode": (
        "/home/ada/.config/opencode/opencode.json",
        "/Users/ada/.config/opencode/opencode.json",
        r"C:\Users\ada\.config\opencode\opencode.json",
    ),
}


def place(client: str, system: System, environ: dict[str, str]) -> str:
    file = CLIENTS[client].file
    assert file
    return str(places(file, system, environ)[0])


@pytest.mark.parametrize("client", EXPECTED)
def test_the_file_is_where_the_client_has_it_on_each_system(client: str) -> None:
    assert tuple(place(client, system, environ) for system, environ in HOMES.items()) == EXPECTED[client]


@for_each([client for client in ALL if client.file], lambda client: client.name)
def test_every_file_is_an_absolute_one_below_the_home_folder_on_every_system(client: Client) -> None:
    assert client.file
    for system, environ in HOMES.items():
        for path in places(client.file, system, environ):
            assert path.is_absolute()
            assert path.is_relative_to(next(iter(environ.values())))


def test_folders_that_were_moved_are_followed_unless_they_are_relative() -> None:
    moved = {"HOME": "/home/ada", "XDG_CONFIG_HOME": "/data/config", "CODEX_HOME": "/data/codex"}
    assert place("zed", "linux", moved) == "/data/config/zed/settings.json"
    assert place("codex", "linux", moved) == "/data/codex/config.toml"
    relative = {"HOME": "/home/ada", "XDG_CONFIG_HOME": "config", "CODEX_HOME": "codex"}
    assert place("zed", "linux", relative) == "/home/ada/.config/zed/settings.json"
    assert place("codex", "linux", relative) == "/home/ada/.codex/config.toml"


def test_windows_without_appdata_has_it_below_the_profile() -> None:
    without = {"USERPROFILE": r"D:\ada"}
    assert place("vscode", "windows", without) == r"D:\ada\AppData\Roaming\Code\User\mcp.json"


def test_without_a_home_it_is_said_which_variable_is_missing() -> None:
    for system, variable in (("linux", "HOME"), ("windows", "USERPROFILE")):
        with pytest.raises(Refused, match=f"{variable} is not set to a whole path"):
            place("cursor", system, {})  # type: ignore[arg-type]

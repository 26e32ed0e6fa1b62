"""What a person sees before a file is changed, and the links and commands that lead to the same."""

from __future__ import annotations

import base64
import json
import shlex
from urllib.parse import parse_qs, urlsplit

import pytest

from gitlab_mcp.clients.all_clients import CLIENTS
from gitlab_mcp.clients.client import Launch
from gitlab_mcp.clients.difference import difference
from gitlab_mcp.clients.launch import requirement
from gitlab_mcp.clients.links import cursor_link, vscode_link
from gitlab_mcp.clients.snippets import snippet

LAUNCH = Launch("uvx", ("gitlab-mcp-server",), {"GITLAB_URL": "https://gitlab.test"})


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ('"GITHUB_TOKEN": "ghp_abc \\" def", "A": "b"', '"GITHUB_TOKEN": "[redacted]", "A": "b"'),
        ("  API_KEY: sk-123", "  API_KEY: [redacted]"),
        ("password: 'x y' # mine", "password: '[redacted]' # mine"),
        ('env = {PASSWORD = "x y", A = "b"}', 'env = {PASSWORD = "[redacted]", A = "b"}'),
        ('"x": "glpat-abcdefghijklmnop"', '"x": "[redacted]"'),
        ('"args": ["--api-key=sk-123"]', '"args": ["--api-key=[redacted]"]'),
        ('"headers": ["Authorization: Bearer abc"]', '"headers": ["Authorization: Bearer [redacted]"]'),
        ('"GITLAB_TOKEN": "${input:gitlab_token}"', '"GITLAB_TOKEN": "${input:gitlab_token}"'),
        ('"GITLAB_TOKEN_FILE": "/home/ada/t"', '"GITLAB_TOKEN_FILE": "/home/ada/t"'),
    ],
)
def test_the_difference_shows_nobodys_secrets(line: str, shown: str) -> None:
    assert difference("", line) == ["+" + shown]


def test_lines_that_do_not_change_are_not_shown() -> None:
    assert difference("a: secret\nb: 1\n", "a: secret\nb: 2\n") == ["-b: 1", "+b: 2"]


def test_the_link_to_cursor_holds_an_entry_and_no_token() -> None:
    link = urlsplit(cursor_link("gitlab", LAUNCH))
    query = parse_qs(link.query, strict_parsing=True)
    config = json.loads(base64.b64decode(query["config"][0], validate=True))
    assert (link.scheme, query["name"]) == ("https", ["gitlab"])
    assert (config["command"], config["args"], config["env"]["GITLAB_TOKEN"]) == (
        "uvx",
        ["gitlab-mcp-server"],
        "",
    )


def test_the_link_to_vs_code_asks_for_what_its_entry_refers_to() -> None:
    query = parse_qs(urlsplit(vscode_link("gitlab", LAUNCH)).query, strict_parsing=True)
    config, inputs = json.loads(query["config"][0]), json.loads(query["inputs"][0])
    asked = {f"${{input:{each['id']}}}" for each in inputs}
    assert set(config["env"].values()) == asked
    assert [each["id"] for each in inputs if each.get("password")] == ["gitlab_token"]
    assert [config["command"], *config["args"]] == ["uvx", "gitlab-mcp-server"]


def test_the_command_of_claude_code_survives_a_shell() -> None:
    launch = Launch("/opt/it's here/gitlab-mcp", (), {"GITLAB_URL": "https://gitlab.test"})
    words = shlex.split(snippet(CLIENTS["claude-code"], "gitlab", launch))
    assert words[:3] == ["claude", "mcp", "add"]
    assert words[3:] == [
        *("--env", "GITLAB_URL=https://gitlab.test", "--scope", "user", "gitlab"),
        *("--", "/opt/it's here/gitlab-mcp"),
    ]


@pytest.mark.parametrize(
    ("origin", "given"),
    [
        ({"url": "file:///tmp/a%20b/x.whl", "archive_info": {}}, "/tmp/a b/x.whl"),
        ({"url": "https://gitlab.test/x.whl", "archive_info": {}}, "https://gitlab.test/x.whl"),
        (
            {"url": "https://gitlab.test/a/b.git", "vcs_info": {"vcs": "git", "commit_id": "abc"}},
            "git+https://gitlab.test/a/b.git@abc",
        ),
    ],
)
def test_the_package_is_had_again_from_where_it_came(origin: dict[str, object], given: str) -> None:
    assert requirement(origin) == given

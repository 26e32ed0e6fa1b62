"""A client's file with the server in it is the file as it was, and the server."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from typing import Any

import pytest
import yaml
from hypothesis import given, reject
from hypothesis import strategies as st

from gitlab_mcp.clients import json_text
from gitlab_mcp.clients.all_clients import ALL, CLIENTS
from gitlab_mcp.clients.client import Client, Launch, Refused
from gitlab_mcp.clients.documents import Document
from tests.support.for_each import for_each

LAUNCH = Launch("/opt/gitlab-mcp", (), {"GITLAB_URL": "https://gitlab.test"})
WITH_FILE = [client for client in ALL if client.file]
PARSERS: dict[str, Callable[[str], Any]] = {
    "json": json_text.parsed,
    "toml": tomllib.loads,
    "yaml": yaml.safe_load,
}


def document(client: str | Client, text: str) -> Document:
    known = CLIENTS[client] if isinstance(client, str) else client
    assert known.file
    return Document(known, known.file, "the file", text)


def added(client: str | Client, text: str, launch: Launch = LAUNCH) -> str:
    known = CLIENTS[client] if isinstance(client, str) else client
    before = document(known, text)
    return before.with_server("gitlab", before.merged("gitlab", known.entry("gitlab", launch)))


def removed(client: str, text: str) -> str:
    return document(client, text).without_server("gitlab")


def refusal(client: str, text: str) -> str:
    with pytest.raises(Refused) as caught:
        added(client, text)
    return caught.value.wrong


@for_each(WITH_FILE, lambda client: client.name)
def test_a_file_that_is_new_or_empty_gets_the_server_where_the_client_looks_for_it(client: Client) -> None:
    assert client.file
    for text in ("", "\n"):
        found: Any = PARSERS[client.file.syntax](added(client, text))
        for key in (*client.file.servers, "gitlab"):
            found = found[key]
        assert found == client.entry("gitlab", LAUNCH)


@for_each(WITH_FILE, lambda client: client.name)
def test_adding_twice_changes_nothing_more(client: Client) -> None:
    once = added(client, "")
    assert added(client, once) == once


@for_each(WITH_FILE, lambda client: client.name)
def test_a_file_without_the_server_stays_as_it_is_when_it_is_removed(client: Client) -> None:
    text = (
        added(client, "")
        .replace("gitlab:", "other:")
        .replace('"gitlab"', '"other"')
        .replace(".gitlab]", ".other]")
    )
    assert document(client, text).without_server("gitlab") == text


JSON = {
    "tabs, a comment and a last comma": (
        '{\n\t"mcpServers": {\n\t\t// mine\n\t\t"a": {}, // keep\n\t},\n}\n',
        '{\n\t"mcpServers": {\n\t\t// mine\n\t\t"a": {}, // keep\n\t\t"gitlab": {"command": "c"},\n\t},\n}\n',
    ),
    "a comment behind the last server": (
        '{\n  "mcpServers": {\n    "a": {} // last\n    /* end */\n  }\n}',
        '{\n  "mcpServers": {\n    "a": {}, // last\n    /* end */\n    "gitlab": {"command": "c"}\n  }\n}',
    ),
    "comments before and after all": (
        '// Settings\n/* { */\n{\n  "mcpServers": {"a": {}}\n}\n// end }\n',
        '// Settings\n/* { */\n{\n  "mcpServers": {"a": {}, "gitlab": {"command": "c"}}\n}\n// end }\n',
    ),
    "other keys and no servers": (
        '{\n    "theme": "dark"\n}\n',
        '{\n    "theme": "dark",\n    "mcpServers": {"gitlab": {"command": "c"}}\n}\n',
    ),
    "no servers yet": (
        '{\n  "mcpServers": {}\n}\n',
        '{\n  "mcpServers": {\n    "gitlab": {"command": "c"}\n  }\n}\n',
    ),
    "one line": (
        '{"mcpServers": {"a": {}}, "x": 1}',
        '{"mcpServers": {"a": {}, "gitlab": {"command": "c"}}, "x": 1}',
    ),
    "one line with a last comma": (
        '{"mcpServers": {"a": {},}}',
        '{"mcpServers": {"a": {}, "gitlab": {"command": "c"},}}',
    ),
    "lines that end as on Windows": (
        '{\r\n  "mcpServers": {\r\n    "a": {}\r\n  }\r\n}\r\n',
        '{\r\n  "mcpServers": {\r\n    "a": {},\r\n    "gitlab": {"command": "c"}\r\n  }\r\n}\r\n',
    ),
    "a byte order mark": (
        '\ufeff{"mcpServers": {"a": {}}}',
        '\ufeff{"mcpServers": {"a": {}, "gitlab": {"command": "c"}}}',
    ),
    "what looks like a comment in a string": (
        '{"url": "https://x/*", "mcpServers": {"a//": {}}}',
        '{"url": "https://x/*", "mcpServers": {"a//": {}, "gitlab": {"command": "c"}}}',
    ),
    "the same key twice, of which the last counts": (
        '{"mcpServers": {"x": 1}, "mcpServers": {"a": {}}}',
        '{"mcpServers": {"x": 1}, "mcpServers": {"a": {}, "gitlab": {"command": "c"}}}',
    ),
}


def one_line(text: str) -> str:
    """Without the line breaks inside of the entry, so that the table above stays readable."""
    for broken in (
        '{\n      "command": "c"\n    }',
        '{\n\t\t\t"command": "c"\n\t\t}',
        '{\r\n      "command": "c"\r\n    }',
    ):
        text = text.replace(broken, '{"command": "c"}')
    deep = '{\n        "gitlab": {\n            "command": "c"\n        }\n    }'
    return text.replace(deep, '{"gitlab": {"command": "c"}}')


@pytest.mark.parametrize("name", JSON)
def test_json_is_changed_where_the_server_goes_and_nowhere_else(name: str) -> None:
    before, after = JSON[name]
    before_document = document("cursor", before)
    changed = before_document.with_server("gitlab", {"command": "c"})
    assert one_line(changed) == after
    if "servers yet" not in name and "no servers" not in name:
        ours = changed.replace('"command": "c"', '"command": "/opt/gitlab-mcp"')
        assert document("cursor", ours).without_server("gitlab") == before


members = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
COMMENTS = ("// one, {two}", '/* "three": [ */', "// 4,")


@given(
    st.dictionaries(st.text(max_size=6), members, max_size=4),
    st.none() | st.dictionaries(st.text(max_size=6).filter("gitlab".__ne__), members, max_size=3),
    st.sampled_from([None, 2, 4, "\t"]),
    st.sampled_from(["\n", "\r\n"]),
    st.lists(st.sampled_from(COMMENTS), max_size=2),
    st.lists(st.sampled_from(COMMENTS), max_size=12),
    st.booleans(),
)
def test_any_json_gets_the_server_and_loses_it_again_with_every_comment_kept(
    other: dict[str, Any],
    servers: dict[str, Any] | None,
    indent: int | str | None,
    newline: str,
    before: list[str],
    comments: list[str],
    last_commas: bool,
) -> None:
    whole = {**other, **({} if servers is None else {"mcpServers": servers})}
    if servers is None:
        whole.pop("mcpServers", None)
    lines = json.dumps(whole, indent=indent, ensure_ascii=False).split("\n")
    if last_commas and indent is not None:
        lines = [
            f"{line}," if line.endswith(("}", "]", "null", "true")) and line != "}" else line
            for line in lines
        ]
    for number, comment in enumerate(comments):
        if indent is not None:
            lines[number % len(lines)] += f" {comment}"
    text = newline.join([*before, *lines]) + newline
    try:
        parsed = json_text.parsed(text)
    except ValueError:
        reject()  # a comma too many
    with_it = added("cursor", text)
    assert json_text.parsed(with_it)["mcpServers"]["gitlab"] == CLIENTS["cursor"].entry("gitlab", LAUNCH)
    without_it = json_text.parsed(removed("cursor", with_it))
    assert without_it == {**parsed, "mcpServers": parsed.get("mcpServers", {})}
    for comment in COMMENTS:
        assert with_it.count(comment) == text.count(comment)


def test_toml_keeps_comments_order_and_other_servers() -> None:
    before = """model = "gpt"  # the usual one

[mcp_servers.docs]
command = "docs" # mine

[profiles.fast]
model = "mini"
"""
    after = added("codex", before)
    for line in before.splitlines():
        assert line in after.splitlines()
    assert tomllib.loads(after)["mcp_servers"].keys() == {"docs", "gitlab"}
    assert tomllib.loads(removed("codex", after)) == tomllib.loads(before)


@pytest.mark.parametrize(
    "before",
    [
        'mcp_servers = { docs = { command = "docs" } }\n',
        'mcp_servers.docs.command = "docs"\n',
        '[mcp_servers]\ndocs = { command = "docs" }\n',
        '[mcp_servers.docs]\ncommand = "docs"\n[other]\na = 1\n[mcp_servers.more]\ncommand = "more"\n',
        '[mcp_servers.gitlab]\ncommand = "/a/gitlab-mcp"\ntimeout = 30 # slow\n[mcp_servers.gitlab.env]\nA = "1"\n',
    ],
)
def test_every_form_of_toml_is_either_changed_rightly_or_refused(before: str) -> None:
    try:
        after = added("codex", before)
    except Refused as refused:
        assert "could not be changed without harm" in refused.wrong
        return
    found, expected = tomllib.loads(after), tomllib.loads(before)
    ours = found["mcp_servers"].pop("gitlab")
    old = expected["mcp_servers"].pop("gitlab", {})
    assert found == expected
    assert ours == {**old, "command": "/opt/gitlab-mcp", "env": {**old.get("env", {}), **LAUNCH.variables}}


YAML = {
    "comments and other extensions": (
        "# mine\nGOOSE_MODEL: x  # the model\nextensions:\n  # the developer's\n"
        "  developer:\n    enabled: true  # yes\n    args:\n    - a\n# the end\nafter: 1\n"
    ),
    "nothing behind the key": "extensions:\nafter: 1\n",
    "an empty flow mapping": "extensions: {}\nafter: 1\n",
    "a flow mapping": "extensions: {developer: {enabled: true}}\nafter: 1\n",
    "no extensions": "GOOSE_MODEL: x\n",
    "no last line break": "extensions:\n  developer:\n    enabled: true",
    "a block of text at the end": "extensions:\n  developer:\n    about: |\n      two\n      lines\nafter: 1\n",
    "an empty value at the end": "extensions:\n  developer:\n    bundled:\nafter: 1\n",
    "four spaces and Windows": "extensions:\r\n    developer:\r\n        enabled: true\r\nafter: 1\r\n",
    "a value between quotes": "extensions:\n  developer:\n    name: 'a # b'\n    args: [a, b]\n",
}


@pytest.mark.parametrize("name", YAML)
def test_yaml_keeps_every_line(name: str) -> None:
    before = YAML[name]
    after = added("goose", before)
    changed = {"extensions:", "extensions: {}", "extensions: {developer: {enabled: true}}"}
    assert [
        line for line in before.splitlines() if line not in after.splitlines() and line not in changed
    ] == []
    expected = yaml.safe_load(before)
    found = yaml.safe_load(after)
    assert found["extensions"].pop("gitlab") == CLIENTS["goose"].entry("gitlab", LAUNCH)
    assert found == {**expected, "extensions": expected.get("extensions") or {}}
    if name == "a flow mapping":
        # What cannot be changed without harm is noticed by reading what was made.
        with pytest.raises(Refused, match="without harm"):
            removed("goose", after)
    else:
        assert yaml.safe_load(removed("goose", after)) == found
    assert "\r\n" in after or "\r\n" not in before


def test_what_a_person_added_to_the_entry_stays_and_a_new_token_takes_the_place_of_the_old() -> None:
    before = json.dumps(
        {
            "mcpServers": {
                "gitlab": {
                    "command": "/old/bin/gitlab-mcp",
                    "disabled": True,
                    "env": {
                        "GITLAB_TOKEN": "old",
                        "GITLAB_READ_ONLY": "true",
                        "GITLAB_URL": "https://old.test",
                    },
                }
            }
        }
    )
    launch = Launch("/opt/gitlab-mcp", (), {"GITLAB_URL": "https://gitlab.test", "GITLAB_TOKEN_FILE": "/t"})
    entry = json.loads(added("cursor", before, launch))["mcpServers"]["gitlab"]
    assert entry == {
        "command": "/opt/gitlab-mcp",
        "disabled": True,
        "env": {"GITLAB_READ_ONLY": "true", "GITLAB_URL": "https://gitlab.test", "GITLAB_TOKEN_FILE": "/t"},
    }


@pytest.mark.parametrize(
    "entry",
    [
        {"command": "npx", "args": ["-y", "other-gitlab"]},
        {"url": "https://gitlab.com/api/v4/mcp"},
        # The distribution of this name is somebody else's.
        {"command": "uvx", "args": ["gitlab-mcp"]},
    ],
)
def test_another_server_of_the_same_name_is_left_alone(entry: dict[str, Any]) -> None:
    text = json.dumps({"mcpServers": {"gitlab": entry}})
    assert "another server named gitlab" in refusal("cursor", text)
    with pytest.raises(Refused):
        removed("cursor", text)


@pytest.mark.parametrize(
    ("client", "text", "why"),
    [
        ("cursor", '{"mcpServers": {', "no valid JSON"),
        ("cursor", "[]", "there should be an object at its top"),
        ("cursor", '{"mcpServers": []}', "mcpServers is not an object"),
        ("cursor", '{"mcpServers": null}', "mcpServers is not an object"),
        ("cursor", '{"mcpServers": {"gitlab": 1}}', "mcpServers.gitlab is not an object"),
        ("cursor", '{"a": 1} trailing', "no valid JSON"),
        ("cursor", "[" * 100_000, "no valid JSON"),
        ("cursor", '{"a": "' + "\\", "no valid JSON"),
        ("vscode", '{"inputs": {}}', "inputs is not a list"),
        ("codex", "a = ", "no valid TOML"),
        ("codex", "mcp_servers = 1", "mcp_servers is not an object"),
        ("goose", "a: [", "no valid YAML"),
        ("goose", "- a", "there should be an object at its top"),
        ("goose", "a: 1\n---\nb: 2\n", "no valid YAML"),
        ("goose", "a: !!python/object:os.system x", "no valid YAML"),
    ],
)
def test_a_file_that_the_client_could_not_read_is_refused(client: str, text: str, why: str) -> None:
    if client == "vscode":
        launch = Launch("/opt/gitlab-mcp", (), {"GITLAB_TOKEN": "${input:gitlab_token}"})
        with pytest.raises(Refused, match=why):
            added(client, text, launch)
    else:
        assert why in refusal(client, text)


def test_vs_code_is_told_to_ask_for_the_token_once() -> None:
    before = '{\n  "inputs": [\n    {"id": "other", "type": "promptString"} // mine\n  ]\n}\n'
    launch = Launch("/opt/gitlab-mcp", (), {"GITLAB_TOKEN": "${input:gitlab_token}"})
    once = added("vscode", before, launch)
    assert "// mine" in once
    assert [each["id"] for each in json_text.parsed(once)["inputs"]] == ["other", "gitlab_token"]
    assert added("vscode", once, launch) == once

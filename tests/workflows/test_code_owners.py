"""CODEOWNERS is read as GitLab reads it."""

from __future__ import annotations

import base64
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitlab_mcp.app import App
from gitlab_mcp.failures.failure import CallFailed
from gitlab_mcp.workflows.repository.codeowners_file import CodeOwners, Rule, parse_codeowners
from tests.support.in_time import in_seconds
from tests.support.standin import StandIn

FILE = """\
# Who looks after what
* @alice @acme/platform
/docs/ @bob
*.rb @carol
/generated/

[Database] @acme/dba
/db/
/db/seeds/ @dave
!/db/schema.rb

^[Docs][2]
*.md docs@example.com

[Security][2] @acme/security @@maintainers
config/*.key

[database]
/migrations/**/*.sql @acme/dba
"""


def owned(text: str, path: str) -> list[tuple[str, tuple[str, ...]]]:
    return [(section.name, rule.owners) for section, rule in parse_codeowners(text).rules_for(path)]


@pytest.mark.parametrize(
    ("path", "owners"),
    [
        ("README", [("codeowners", ("@alice", "@acme/platform"))]),
        ("docs/guide/start.txt", [("codeowners", ("@bob",))]),
        ("app/models/user.rb", [("codeowners", ("@carol",))]),
        ("docs/example.rb", [("codeowners", ("@carol",))]),
        ("generated/api.txt", []),
        ("db/structure.sql", [("codeowners", ("@alice", "@acme/platform")), ("Database", ("@acme/dba",))]),
        ("db/seeds/users.sql", [("codeowners", ("@alice", "@acme/platform")), ("Database", ("@dave",))]),
        ("db/schema.rb", [("codeowners", ("@carol",))]),
        (
            "migrations/2026/01.sql",
            [("codeowners", ("@alice", "@acme/platform")), ("Database", ("@acme/dba",))],
        ),
        ("docs/index.md", [("codeowners", ("@bob",)), ("Docs", ("docs@example.com",))]),
        (
            "service/config/tls.key",
            [
                ("codeowners", ("@alice", "@acme/platform")),
                ("Security", ("@acme/security", "@@maintainers")),
            ],
        ),
    ],
)
def test_the_last_rule_that_fits_decides_in_each_section(
    path: str, owners: list[tuple[str, tuple[str, ...]]]
) -> None:
    assert owned(FILE, path) == owners


def test_sections_say_how_many_must_approve_and_whether_they_must() -> None:
    sections = {
        section.name: (section.approvals, section.optional) for section in parse_codeowners(FILE).sections
    }
    assert sections == {
        "codeowners": (1, False),
        "Database": (1, False),
        "Docs": (1, True),
        "Security": (2, False),
    }


def test_a_section_named_again_goes_on_and_keeps_what_its_first_heading_said() -> None:
    text = "[Web][2] @ann\n*.js\n[WEB] @bea\n*.css\n"
    (section,) = parse_codeowners(text).sections
    assert (section.name, section.approvals) == ("Web", 2)
    assert [(rule.pattern, rule.owners) for rule in section.rules] == [
        ("*.js", ("@ann",)),
        ("*.css", ("@bea",)),
    ]


@pytest.mark.parametrize(
    ("pattern", "fits", "does_not"),
    [
        ("*", ["a", ".hidden", "a/b/.c"], []),
        ("README.md", ["README.md", "docs/README.md"], ["README.md.bak", "docs/README.mdx"]),
        ("/README.md", ["README.md"], ["docs/README.md"]),
        ("docs", ["docs", "a/docs"], ["docs/start.md"]),
        ("docs/", ["docs/start.md", "a/docs/b/c.md"], ["docs", "mydocs/a"]),
        ("/docs/*", ["docs/a.md"], ["docs/b/a.md"]),
        ("/docs/**/a.md", ["docs/a.md", "docs/x/y/a.md"], ["a.md", "docs/xa.md"]),
        ("/docs/**.md", ["docs/a.md"], ["docs/b/a.md"]),
        ("/a?c", ["abc"], ["a/c", "ac"]),
        ("/[ab].txt", ["a.txt", "b.txt"], ["c.txt"]),
        ("/[!ab].txt", ["c.txt"], ["a.txt", "/.txt"]),
        ("/[a-c].txt", ["b.txt"], ["d.txt"]),
        (r"/with\ space.txt", ["with space.txt"], ["with.txt"]),
        (r"\#notes", ["#notes"], ["notes"]),
        (r"/\*.txt", ["*.txt"], ["a.txt"]),
        ("/{a,b}", ["{a,b}"], ["a", "b"]),
    ],
)
def test_a_pattern_stands_for_paths_as_in_gitlab(pattern: str, fits: list[str], does_not: list[str]) -> None:
    rule = Rule(1, pattern, ("@a",))
    assert [path for path in fits if not rule.matches(path)] == []
    assert [path for path in does_not if rule.matches(path)] == []


def test_a_rule_without_owners_has_those_of_its_section() -> None:
    assert owned("[Web] @ann\n/web/\n", "web/a.js") == [("Web", ("@ann",))]


def test_what_a_section_excludes_no_later_rule_takes_back() -> None:
    text = "[Web] @ann\n!/web/vendor/\n/web/ @bea\n"
    assert owned(text, "web/vendor/a.js") == []
    assert owned(text, "web/a.js") == [("Web", ("@bea",))]


def test_a_path_with_a_space_keeps_it() -> None:
    assert owned("/my\\ docs/ @ann\n", "my docs/a") == [("codeowners", ("@ann",))]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("/a\n", 1),
        ("* @ann\n[No end @bea\n", 2),
        ("[]\n", 1),
        ("[Web][0] @ann\n*\n", 1),
        ("[Web][two] @ann\n*\n", 1),
        ("* ann\n", 1),
    ],
)
def test_what_gitlab_does_not_understand_is_named_with_its_line(text: str, line: int) -> None:
    assert line in {problem.line for problem in parse_codeowners(text).problems}


def test_a_file_that_is_in_order_has_no_problems() -> None:
    problems = parse_codeowners(
        "# all\n* @ann # and @bea, for now\n[Web][2] @a/b @@developer c@example.com\n*.js\n"
    ).problems
    assert problems == ()


def test_gitlab_has_no_remarks_behind_owners_so_names_in_them_count() -> None:
    assert owned("* @ann # not @bea\n", "x") == [("codeowners", ("@ann", "@bea"))]


@given(st.text(alphabet="[]^!*?\\/#@ -a.b\n1", max_size=80), st.text(alphabet="a/b.c -", max_size=12))
def test_no_file_breaks_the_reader(text: str, path: str) -> None:
    assert isinstance(parse_codeowners(text), CodeOwners)
    parse_codeowners(text).rules_for(path)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*a" * 40 + "b", "a" * 200),
        ("**/a/" * 60 + "b", "a/" * 1000 + "c"),
        ("**/*a*/" * 60 + "b", "aa/" * 1000 + "c"),
        ("/" + "a*" * 500 + "[!a]", "a" * 3000),
        ("?*" * 100 + "b", "a" * 1000),
    ],
)
def test_many_wildcards_and_a_deep_path_take_little_time(pattern: str, path: str) -> None:
    with in_seconds():
        assert not Rule(1, pattern, ()).matches(path)


@pytest.mark.parametrize(
    "word", ["a@" + "." * 300_000 + "@", "@" + "/" * 300_000, "[" * 300_000, "\\ " * 200_000]
)
def test_a_long_line_is_read_in_little_time(word: str) -> None:
    with in_seconds():
        parse_codeowners(f"* {word}\n{word}\n")


def with_file(standin: StandIn, text: str) -> None:
    file = {
        "file_path": "CODEOWNERS",
        "encoding": "base64",
        "content": base64.b64encode(text.encode()).decode(),
    }
    standin.answer("GET", "/projects/1/repository/files/CODEOWNERS", body=file)


@pytest.mark.anyio
@pytest.mark.parametrize("text", ["a @b\n" * 30_000, "/" + "*a" * 10_000 + " @b\n", "x" * 1_100_000])
async def test_a_file_of_too_many_rules_is_refused_with_what_to_do(
    text: str, standin: StandIn, against: Callable[..., App]
) -> None:
    with_file(standin, text)
    arguments = {"action": "owners", "project_id": "1", "file_path": "a" * 200}
    with in_seconds(), pytest.raises(CallFailed) as caught:
        await against().call("browse_code_owners", arguments)
    assert caught.value.failure.code == "PAYLOAD_TOO_LARGE"
    assert "browse_files get" in caught.value.failure.facts["suggested_fix"]


@pytest.mark.anyio
async def test_changed_files_that_were_not_compared_are_counted(
    standin: StandIn, against: Callable[..., App]
) -> None:
    with_file(standin, "".join(f"**/a*{number}*/**/b*{number}* @alice\n" for number in range(15_000)))
    standin.answer("GET", "/projects/1/merge_requests/2", body={"target_branch": "main"})
    diffs = [{"new_path": f"{'d/' * 50}{number}", "old_path": "a"} for number in range(100)]
    standin.answer("GET", "/projects/1/merge_requests/2/diffs", body=diffs)
    arguments = {"action": "merge_request", "project_id": "1", "merge_request_iid": 2}
    with in_seconds(30):
        result = await against().call("browse_code_owners", arguments)
    (omission,) = result.data["truncated"]
    assert omission["what"] == "changed files"
    assert 0 < omission["omitted"] <= 101

"""The policy file: what is wrong with one, and how a new version takes the place of another."""

from __future__ import annotations

import logging
import os
import time
from collections import Counter
from pathlib import Path
from typing import Any

import anyio
import pytest

from gitlab_mcp.actions.ask import NobodyToAsk, User
from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.settings import Settings, SettingsError, load
from gitlab_mcp.settings.policy_file import PolicyFile, PolicyMistakes, doubts, read_policy
from tests.support.guarded import Server, code_of, outcome, request_by, with_labels
from tests.support.people import with_people, write_policy
from tests.support.standin import StandIn

URL = "https://gitlab.example.com"
REGISTRY = Registry()

LIST = ("browse_labels", {"action": "list", "project_id": "acme/website"})
ALICE = "rules: [{name: one, users: [alice]}]"
BOB = "rules: [{name: one, users: [bob]}]"


def mistakes(text: str | bytes, **chosen: Any) -> list[tuple[int, str]]:
    content = text if isinstance(text, bytes) else text.encode()
    with pytest.raises(PolicyMistakes) as caught:
        read_policy(content, Settings(url=URL, **chosen), REGISTRY)
    return [(mistake.line, mistake.what) for mistake in caught.value.mistakes]


def rule(*lines: str) -> str:
    return "\n".join(["rules:", "  - name: one", "    users: [alice]", *(f"    {line}" for line in lines)])


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("", 1, "empty"),
        ("# nothing\n", 1, "empty"),
        ("rules:\n", 1, "expected a list of rules"),
        ("rules: []", 1, "without one nobody could call anything"),
        ("- a\n- b\n", 1, "must be a mapping"),
        ("rules:\n  - alice\n", 2, "a rule must be a mapping"),
        ("\n\nrulez: []\nrules: [{name: a, everybody: true}]\n", 3, "Did you mean rules?"),
        ("rules:\n  - {name: a, users: [x]\n", 3, "no YAML"),
        ("a: 1\n---\nb: 2\n", 2, "second document"),
        ("rules:\n - {name: a, users: [x], users: [y]}\n", 2, "'users' is there twice"),
        ("rules:\n - {? [a] : b}\n", 2, "a key is no text"),
        ("rules:\n - {name: a, users: &u [x]}\n - {name: b, users: *u}\n", 2, "anchors and aliases"),
        ("rules:\n - {name: a, users: !!python/name:os.system [x]}\n", 2, "tags"),
        ("rules: " + "[" * 20 + "]" * 20, 1, "nested too deeply"),
        (b"rules:\n  - \xff\n", 2, "not UTF-8"),
        ("rules:\n  - {name: a, users: ['\x07']}\n", 1, "character that is not allowed"),
        ("#" * 100_001, 1, "more than 100000 bytes"),
        ("rules: [{users: [alice]}]", 1, "has no name"),
        ("rules: [{name: a b, users: [alice]}]", 1, "name: expected letters"),
        ("rules:\n - {name: a, users: [x]}\n - {name: a, users: [y]}\n", 3, "there is a rule a before"),
        ("rules: [{name: a}]", 1, "names nobody"),
        ("rules: [{name: a, users: []}]", 1, "the list is empty"),
        ("rules: [{name: a, everybody: false}]", 1, "names nobody"),
        ("rules: [{name: a, everybody: true, users: [x]}]", 1, "is for everybody and names users"),
        ("rules: [{name: a, users: ['@alice']}]", 1, "usernames without @"),
        ("rules: [{name: a, users: [ümit]}]", 1, "usernames without @"),
        ("rules: [{name: a, users: [аlice]}]", 1, "usernames without @"),
        ("rules: [{name: a, users: [[x]]}]", 1, "usernames without @"),
        ("rules: [{name: a, groups: ['42']}]", 1, "group:7"),
        ("rules: [{name: a, groups: [acme//web]}]", 1, "paths of groups"),
        ("rules: [{name: a, groups: [acme/../x]}]", 1, "paths of groups"),
        ("rules: [{name: a, tokens: [persnal]}]", 1, "Did you mean personal?"),
        ("rules: [{name: a, users: [x], gitlab: 'https://evil.example.com'}]", 1, "--allow-gitlab-host"),
        (f"contact: '{'x' * 201}'\n{ALICE}", 1, "at most 200 characters"),
        (f'contact: "two\\nlines"\n{ALICE}', 1, "one line"),
        (rule("toolsets: [core, planing]"), 4, "Did you mean planning?"),
        (rule("toolsets: [discover]"), 4, "no 'discover' to choose"),
        (rule("toolsets:"), 4, "names of toolsets"),
        (rule("trust: destuctive"), 4, "Did you mean destructive?"),
        (rule("trust: [read]"), 4, "one of read"),
        (rule("read_only: maybe"), 4, "true or false"),
        (rule("quota: [writes=0]"), 4, "kinds with numbers"),
        (rule("quota: {writes: 5}"), 4, "kinds with numbers"),
        (rule("only_in: []"), 4, "paths such as acme"),
        (rule("only_in: ['https://elsewhere.example.com/acme']"), 4, "on no GitLab of this server"),
        (rule("only_actions:", "  - browse_*", "  - manage_brnch.delete"), 6, "manage_branch.delete?"),
        (rule("never_actions: [toolset:acess]"), 4, "fits no action"),
        (rule("colour: red"), 4, "a rule has no key 'colour'"),
        (
            "rules: [{name: a, groups: [" + ",".join(f"g{n}" for n in range(51)) + "]}]",
            1,
            "it names 51 groups",
        ),
    ],
)
def test_what_is_wrong_is_said_with_its_line(text: str | bytes, line: int, says: str) -> None:
    found = mistakes(text)
    assert [at for at, what in found if says in what] == [line], found


def test_everything_that_is_wrong_is_said_at_once() -> None:
    assert len(mistakes(rule("trust: x", "quota: y", "colour: red") + "\n  - name: two\n")) == 4


def test_nothing_is_taken_for_anything_but_text() -> None:
    text = "rules: [{name: '007', users: [no, 0x1F, 1e3, null], never_in: ['042']}]"
    [only] = read_policy(text.encode(), Settings(url=URL), REGISTRY).rules
    assert only.who.users == {"no", "0x1f", "1e3", "null"}
    assert only.limits.never_in == ("042",)


@pytest.mark.parametrize(
    ("bomb", "says"),
    [
        ("a: &a [x, x]\n" + "".join(f"b{n}: &b{n} [*a, *a]\n" for n in range(4000)), "anchors"),
        # The parser takes seconds to find its end.
        ("rules: " + "[" * 99_000, "nested too deeply"),
    ],
    ids=["aliases", "brackets"],
)
def test_a_bomb_costs_nothing(bomb: str, says: str) -> None:
    started = time.process_time()
    assert says in mistakes(bomb)[0][1]
    assert time.process_time() - started < 1


@pytest.mark.parametrize(
    ("rules", "says"),
    [
        ("{name: a, everybody: true}, {name: b, users: [x]}", "b is never reached: a"),
        ("{name: a, users: [x, y]}, {name: b, users: [Y]}", "b is never reached: a"),
        ("{name: a, tokens: [job, oauth]}, {name: b, users: [x], tokens: [job]}", "b is never reached"),
        ("{name: a, groups: [acme/web]}, {name: b, groups: [ACME]}", "b is never reached"),
        ("{name: a, groups: [acme/web], users: [x]}, {name: b, groups: [acme], users: [x]}", "b is never"),
        ("{name: a, groups: [acme/web]}, {name: b, direct_groups: [acme]}", "b is never reached"),
        ("{name: a, direct_groups: [acme]}, {name: b, direct_groups: [ACME]}", "b is never reached"),
        ("{name: a, direct_groups: [acme/web]}, {name: b, groups: [acme]}", None),
        ("{name: a, direct_groups: [acme]}, {name: b, groups: [acme]}", None),
        ("{name: a, groups: [acme]}, {name: b, groups: [acme/web]}", None),
        ("{name: a, users: [x], tokens: [oauth]}, {name: b, users: [x]}", None),
        ("{name: a, tokens: [oauth]}, {name: b, everybody: true}", None),
        ("{name: a, users: [x]}, {name: b, users: [x, y]}", None),
        ("{name: a, users: [x], toolsets: [ci]}", "names the toolset ci, which --toolsets leaves out"),
        ("{name: a, users: [x], trust: dangerous}", "--trust only up to destructive"),
    ],
)
def test_what_is_hardly_meant_is_doubted(rules: str, says: str | None) -> None:
    chosen = Settings(url=URL, toolsets=("planning",), trust="destructive")
    found = [
        doubt.what for doubt in doubts(read_policy(f"rules: [{rules}]".encode(), chosen, REGISTRY), chosen)
    ]
    assert [what for what in found if says and says in what] == found


def test_a_file_that_cannot_be_used_stops_the_start(tmp_path: Path) -> None:
    file = write_policy(tmp_path, "rules: [{name: a}]")
    with pytest.raises(SettingsError) as stopped:
        PolicyFile(file, load({"policy": str(file)}, {}), REGISTRY)
    assert f"{file}:1: the rule names nobody" in stopped.value.failure.facts["suggested_fix"]
    assert stopped.value.failure.facts["source"] == "--policy"
    for variables in ({"GITLAB_MCP_POLICY": ""}, {"GITLAB_MCP_POLICY": str(tmp_path / "none.yaml")}):
        with pytest.raises(SettingsError):
            load({}, variables)


class Alice(NobodyToAsk):
    async def user(self) -> User:
        return User(2, "alice", "personal", "user 2")


async def name_of_rule(file: PolicyFile) -> str:
    try:
        return (await (await file.current()).rule_for(Alice(), URL)).name
    except CallFailed:
        return "none"


@pytest.mark.anyio
async def test_a_new_version_is_read_and_a_broken_one_leaves_the_old_in_force(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "gitlab_mcp.policy")
    path = write_policy(tmp_path, ALICE)
    file = PolicyFile(path, Settings(url=URL), REGISTRY)
    assert await name_of_rule(file) == "one"
    for broken in ("rules: [", "", "rules: [{name: one, everybody: true, trust: none}]"):
        caplog.clear()
        write_policy(tmp_path, broken)
        assert [await name_of_rule(file) for _ in range(3)] == ["one"] * 3
        # Said once, with what is wrong and which version it is that holds.
        [said] = [record for record in caplog.records if record.levelno == logging.ERROR]
        assert f"{path}:" in said.message and (await file.current()).digest in said.message
    path.unlink()
    assert await name_of_rule(file) == "one"
    write_policy(tmp_path, BOB)
    assert await name_of_rule(file) == "none"
    assert "is in force: 1 rules" in caplog.text


@pytest.mark.anyio
async def test_a_file_that_is_still_being_written_is_not_read(tmp_path: Path) -> None:
    """Half a policy can be a whole one, and a wider one."""
    path = write_policy(tmp_path, BOB)
    file = PolicyFile(path, Settings(url=URL), REGISTRY)
    path.write_text("rules: [{name: everybody, everybody: true}]")
    assert await name_of_rule(file) == "none"
    path.write_text(ALICE)
    os.utime(path, (time.time() - 2, time.time() - 2))
    assert await name_of_rule(file) == "one"


@pytest.mark.anyio
async def test_a_file_that_is_swapped_by_a_link_is_read(tmp_path: Path) -> None:
    """As Kubernetes does it with a ConfigMap."""
    for version, text in (("1", BOB), ("2", ALICE)):
        (tmp_path / version).mkdir()
        write_policy(tmp_path / version, text)
    (tmp_path / "data").symlink_to(tmp_path / "1")
    file = PolicyFile(tmp_path / "data" / "policy.yaml", Settings(url=URL), REGISTRY)
    assert await name_of_rule(file) == "none"
    (tmp_path / "new").symlink_to(tmp_path / "2")
    (tmp_path / "new").replace(tmp_path / "data")
    assert await name_of_rule(file) == "one"


@pytest.mark.anyio
async def test_a_file_that_is_replaced_while_64_calls_run_is_the_old_or_the_new_one_for_each(
    standin: StandIn, against: Server, tmp_path: Path
) -> None:
    with_labels(standin, "bug")
    with_people(standin)
    app = against(policy=write_policy(tmp_path, ALICE), calls_per_caller=64)
    seen: Counter[str] = Counter()

    async def one() -> None:
        ended = await outcome(app, *LIST, request_by("alice"))
        seen[ended.code if isinstance(ended, Failure) else "done"] += 1

    async with anyio.create_task_group() as tasks:
        for _ in range(32):
            tasks.start_soon(one)
        while not seen["done"]:
            await anyio.sleep(0.001)
        write_policy(tmp_path, BOB)
        for _ in range(32):
            tasks.start_soon(one)
    assert seen.keys() == {"done", "OUT_OF_SCOPE"} and seen.total() == 64
    assert await code_of(app, *LIST, request_by("alice")) == "OUT_OF_SCOPE"
    await app.call(*LIST, request_context=request_by("bob"))


@pytest.mark.anyio
async def test_two_servers_with_different_files_say_so(
    standin: StandIn, against: Server, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Each keeps to its own. The log of each has the digest by which they can be told apart."""
    caplog.set_level(logging.INFO, "gitlab_mcp.policy")
    (tmp_path / "other").mkdir()
    with_labels(standin, "bug")
    with_people(standin)
    for folder, text, code in ((tmp_path, ALICE, "done"), (tmp_path / "other", BOB, "OUT_OF_SCOPE")):
        app = against(policy=write_policy(folder, text))
        ended = await outcome(app, *LIST, request_by("alice"))
        assert (ended.code if isinstance(ended, Failure) else "done") == code
    digests = {record.message.rpartition(" ")[2] for record in caplog.records if "in force" in record.message}
    assert len(digests) == 2

"""Every action's example plays its recording: what a real GitLab answered goes through the whole server."""

from __future__ import annotations

import json

import pytest

from gitlab_mcp.actions.action import Action
from gitlab_mcp.actions.arguments.problems import example_of
from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.app import App
from gitlab_mcp.failures.failure import CallFailed
from gitlab_mcp.results.content_blocks import text_size
from gitlab_mcp.settings import Secret, Settings
from tests.contracts.not_recorded import NOT_RECORDED, RECORDED_ELSEWHERE
from tests.support.guarded import UNGUARDED
from tests.support.versions import VERSIONS, cassettes_of

REFUSED_WHEN_RECORDED = {"TIER_RESTRICTED"}
"""The recorded GitLab had no licence: its answer to a paid action is a refusal, and that is what plays."""


def name_of(action: type[Action]) -> str:
    return f"{action.spec.tool.name} {action.spec.name}"


async def problem_of(action: type[Action], replayed: App) -> str | None:
    """What is wrong with the example, or None."""
    try:
        result = await replayed.call(action.spec.tool.name, example_of(action))
    except CallFailed as failed:
        code = failed.failure.code
        if name_of(action) in RECORDED_ELSEWHERE or (
            code == "REPLAY_MISS" and name_of(action) in NOT_RECORDED
        ):
            return None
        if code == "REPLAY_MISS":
            return (
                "no recording answers its example: take one that is recorded, add a recording with "
                "scripts/add_recording.py, or say why there is none in tests/contracts/not_recorded.py "
                f"{dict(failed.failure.facts)}"
            )
        if action.spec.feature and code in REFUSED_WHEN_RECORDED:
            return None
        return f"{code} {dict(failed.failure.facts)}"
    if name_of(action) in {*NOT_RECORDED, *RECORDED_ELSEWHERE}:
        return "it plays now: take it off the list in tests/contracts/not_recorded.py"
    json.dumps(dict(result.data))
    return None if text_size(result) <= 24_000 else "its answer is too long"


@pytest.mark.anyio
async def test_every_example_plays(replayed: App) -> None:
    problems = {name_of(action): await problem_of(action, replayed) for action in Registry().actions()}
    wrong = [f"{name}: {problem}" for name, problem in problems.items() if problem]
    assert not wrong, "\n".join(wrong)


def test_every_line_of_the_lists_names_an_action_and_is_in_one_of_them() -> None:
    names = {name_of(action) for action in Registry().actions()}
    assert {*NOT_RECORDED, *RECORDED_ELSEWHERE} - names == set()
    assert NOT_RECORDED.keys() & RECORDED_ELSEWHERE.keys() == set()


@pytest.mark.anyio
async def test_what_was_recorded_elsewhere_plays_there() -> None:
    actions = {name_of(action): action for action in Registry().actions()}
    wrong = []
    for name, recorded in RECORDED_ELSEWHERE.items():
        action, app = actions[name], replaying(recorded.version, recorded.caller)
        arguments = {"action": action.spec.name, **(recorded.arguments or action.spec.example)}
        try:
            await app.call(action.spec.tool.name, arguments)
        except CallFailed as failed:
            if not (action.spec.feature and failed.failure.code in REFUSED_WHEN_RECORDED):
                wrong.append(f"{name}: {failed.failure.code} {dict(failed.failure.facts)}")
        finally:
            app.close()
    assert wrong == []


@pytest.mark.anyio
async def test_no_version_and_nobody_answers_what_is_not_recorded() -> None:
    actions = {name_of(action): action for action in Registry().actions()}
    played = []
    for version in VERSIONS:
        for caller in ("alice", "root"):
            app = replaying(version, caller)
            for name in NOT_RECORDED:
                try:
                    await app.call(actions[name].spec.tool.name, example_of(actions[name]))
                    played.append(f"{name}: {version} as {caller}")
                except CallFailed:
                    continue
            app.close()
    assert played == [], "move these to RECORDED_ELSEWHERE"


def replaying(version: str, caller: str) -> App:
    settings = Settings(
        url="https://gitlab.example.com",
        token=Secret(caller),
        replay=(cassettes_of(version),),
        toolsets=("all",),
        **UNGUARDED,
    )
    return App(settings)

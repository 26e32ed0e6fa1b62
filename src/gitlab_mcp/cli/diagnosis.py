"""`gitlab-mcp doctor`: the findings, and an exit code by the worst of them."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import anyio

from gitlab_mcp.app import App
from gitlab_mcp.cli import exits
from gitlab_mcp.cli.screen import painted, safe, say, say_json, wrapped
from gitlab_mcp.doctor.checks import Check, Evidence, Mark, examine, gather, worst
from gitlab_mcp.failures.failure import Failure
from gitlab_mcp.settings import Secret, Settings, SettingsError, load

_COLOR = {Mark.OK: "green", Mark.WARN: "yellow", Mark.FAIL: "red"}


def show_diagnosis(flags: Mapping[str, Any], *, as_json: bool) -> int:
    try:
        settings = load(flags)
    except SettingsError as unusable:
        _show(_of_settings(unusable.failure), as_json=as_json, no_color=True)
        return exits.USAGE
    evidence = anyio.run(_evidence, settings)
    checks = examine(settings, evidence)
    _show(checks, as_json=as_json, no_color=settings.no_color)
    if not evidence.reached:
        return exits.UNREACHABLE
    return exits.FAILED if worst(checks) is Mark.FAIL else exits.OK


async def _evidence(settings: Settings) -> Evidence:
    from gitlab_mcp.gitlab.instance import AnswerCache, CachedLookups

    # Without a token no call is made at all; with this one GitLab says 401, and that it can be reached.
    nobody = settings.token_source()() is None and not settings.replay
    token = Secret("none") if nobody else settings.token
    # Toolsets that do not exist are a finding like others, and no reason to find nothing else.
    app = App(replace(settings, token=token, toolsets=("all",)))
    try:
        gitlab = app.gitlab()
        return await gather(settings, gitlab, CachedLookups(gitlab, AnswerCache(), tier=settings.tier))
    finally:
        app.close()


def _of_settings(failure: Failure) -> list[Check]:
    problems = failure.facts.get("problems") or [failure.facts]
    return [
        Check(each["setting"], Mark.FAIL, f"{each['source']}: not usable", each["suggested_fix"])
        for each in problems
    ]


def _show(checks: list[Check], *, as_json: bool, no_color: bool) -> None:
    if as_json:
        listed = [
            {"name": each.name, "mark": each.mark.value, "found": each.found, "fix": each.fix}
            for each in checks
        ]
        say_json({"worst": worst(checks).value, "checks": listed})
        return
    longest = max(len(each.name) for each in checks)
    for each in checks:
        mark = painted(each.mark.value.ljust(4), _COLOR[each.mark], sys.stdout, no_color=no_color)
        say(f"{mark}  {each.name.ljust(longest)}  {safe(each.found)}")
        if each.fix:
            say(wrapped(safe(each.fix), indent=" " * (longest + 8)))

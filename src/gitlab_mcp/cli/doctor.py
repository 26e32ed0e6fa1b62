"""`gitlab-mcp doctor`: prints the checks of the set-up; the exit code says how the worst of them ended."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import anyio

from gitlab_mcp.app import App
from gitlab_mcp.cli import exit_codes
from gitlab_mcp.cli.terminal import colored, printable, wrapped, write_json, write_line
from gitlab_mcp.doctor.checks import Check, Evidence, Mark, examine, gather, worst
from gitlab_mcp.failures.failure import Failure
from gitlab_mcp.settings import Secret, Settings, SettingsError, load

_COLOR = {Mark.OK: "green", Mark.WARN: "yellow", Mark.FAIL: "red"}


def show_checks(flags: Mapping[str, Any], *, as_json: bool) -> int:
    try:
        settings = load(flags)
    except SettingsError as unusable:
        _show(_checks_of_settings(unusable.failure), as_json=as_json, no_color=True)
        return exit_codes.USAGE
    evidence = anyio.run(_evidence, settings)
    checks = examine(settings, evidence)
    _show(checks, as_json=as_json, no_color=settings.no_color)
    if not evidence.reached:
        return exit_codes.UNREACHABLE
    return exit_codes.FAILED if worst(checks) is Mark.FAIL else exit_codes.OK


async def _evidence(settings: Settings) -> Evidence:
    from gitlab_mcp.gitlab.instance import AnswerCache, CachedLookups

    # Without a token no request is sent at all. This one is answered with 401, which shows that GitLab is reached.
    nobody = settings.token_source()() is None and not settings.replay
    token = Secret("none") if nobody else settings.token
    # With toolsets that do not exist, App would refuse to start; here they are a check like others.
    app = App(replace(settings, token=token, toolsets=("all",)))
    try:
        gitlab = app.gitlab()
        return await gather(settings, gitlab, CachedLookups(gitlab, AnswerCache(), tier=settings.tier))
    finally:
        app.close()


def _checks_of_settings(failure: Failure) -> list[Check]:
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
        write_json({"worst": worst(checks).value, "checks": listed})
        return
    longest = max(len(each.name) for each in checks)
    for each in checks:
        mark = colored(each.mark.value.ljust(4), _COLOR[each.mark], sys.stdout, no_color=no_color)
        write_line(f"{mark}  {each.name.ljust(longest)}  {printable(each.found)}")
        if each.fix:
            write_line(wrapped(printable(each.fix), indent=" " * (longest + 8)))

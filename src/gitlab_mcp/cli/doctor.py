"""`gitlab-mcp doctor`: prints the doctor's report; the exit code is that of the worst check."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import anyio

from gitlab_mcp.app import App
from gitlab_mcp.cli import exit_codes
from gitlab_mcp.cli.terminal import ProgressBar, colored, printable, wrapped, write_json, write_line
from gitlab_mcp.doctor import (
    Check,
    Mark,
    Report,
    check_profiles,
    diagnose,
    held_token,
    report_on_unusable_settings,
)
from gitlab_mcp.settings import Secret, Settings, SettingsError, load

_COLOR = {Mark.OK: "green", Mark.WARN: "yellow", Mark.FAIL: "red"}


def show_checks(flags: Mapping[str, Any], *, as_json: bool) -> int:
    try:
        settings = load(flags)
    except SettingsError as unusable:
        _show(report_on_unusable_settings(unusable.failure), as_json=as_json, no_color=True)
        return exit_codes.USAGE
    report = anyio.run(_diagnose, settings)
    _show(report, as_json=as_json, no_color=settings.no_color)
    if not report.gitlab_reached:
        return exit_codes.UNREACHABLE
    return exit_codes.FAILED if report.worst is Mark.FAIL else exit_codes.OK


async def _diagnose(settings: Settings) -> Report:
    if not settings.has_account and settings.profiles:
        # A call that names no profile has no GitLab to go to: there is nothing to check but the profiles.
        return Report(tuple(await _checked_profiles(settings)), gitlab_reached=True)
    held = await held_token(settings)
    # App refuses toolsets that do not exist, and a policy with mistakes; here they are checks among others.
    tried = replace(settings, toolsets=("all",), policy=None)
    if held.token is None and not settings.replay:
        # Without a token no request is made. With this one GitLab answers 401, which shows that it can be reached.
        tried = replace(tried, token=Secret("none"))
    app = App(tried)
    progress = ProgressBar(sys.stderr)
    try:
        report = await diagnose(settings, await app.gitlab(progress), held)
    finally:
        progress.clear()
        app.close()
    return replace(report, checks=(*report.checks, *await _checked_profiles(settings)))


async def _checked_profiles(settings: Settings) -> list[Check]:
    held = {name: await held_token(profile) for name, profile in settings.profiles.items()}
    return list(check_profiles(settings.profiles, held))


def _show(report: Report, *, as_json: bool, no_color: bool) -> None:
    if as_json:
        listed = [
            {"name": each.name, "mark": each.mark.value, "found": each.found, "fix": each.fix}
            for each in report.checks
        ]
        write_json({"worst": report.worst.value, "checks": listed})
        return
    longest = max(len(each.name) for each in report.checks)
    for each in report.checks:
        mark = colored(each.mark.value.ljust(4), _COLOR[each.mark], sys.stdout, no_color=no_color)
        write_line(f"{mark}  {each.name.ljust(longest)}  {printable(each.found)}")
        if each.fix:
            write_line(wrapped(printable(each.fix), indent=" " * (longest + 8)))

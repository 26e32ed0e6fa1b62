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
from gitlab_mcp.doctor import Mark, Report, diagnose, report_on_unusable_settings
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
    # Without a token no request is made. With this one GitLab answers 401, which shows that it can be reached.
    no_token = settings.token_source()() is None and not settings.replay
    token = Secret("none") if no_token else settings.token
    # App refuses toolsets that do not exist, and a policy with mistakes; here they are checks among others.
    app = App(replace(settings, token=token, toolsets=("all",), policy=None))
    progress = ProgressBar(sys.stderr)
    try:
        return await diagnose(settings, app.gitlab(progress))
    finally:
        progress.clear()
        app.close()


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

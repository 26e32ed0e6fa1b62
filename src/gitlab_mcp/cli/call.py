"""`gitlab-mcp call`: one call from the shell, through the same code as an agent's call."""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import anyio

from gitlab_mcp.actions.result import Result
from gitlab_mcp.app import App
from gitlab_mcp.callers import Consent
from gitlab_mcp.cli import exit_codes
from gitlab_mcp.cli.terminal import (
    ProgressBar,
    format_answer,
    printable,
    show_failure,
    write_json,
    write_line,
)
from gitlab_mcp.cli.usage_error import UsageError
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.observability import logs
from gitlab_mcp.settings import DEFAULT, Settings, load


def call(
    flags: Mapping[str, Any],
    tool: str,
    action: str,
    pairs: Sequence[str],
    json_text: str | None,
    *,
    as_json: bool,
    yes: bool = False,
) -> int:
    """`yes` confirms whatever would be asked."""
    settings = load(flags)
    _configure_logs(settings)
    arguments = {**_arguments_from_json(json_text), **arguments_from_pairs(pairs), "action": action}
    try:
        result = anyio.run(_call, settings, tool, arguments, yes)
    except CallFailed as failed:
        failure = _for_the_shell(failed.failure, settings)
        if not as_json:
            return show_failure(failure, no_color=settings.no_color)
        from gitlab_mcp.failures.render import render

        write_json(render(failure, settings.error_style))
        return exit_codes.for_failure(failure.code)
    _show(result, settings.error_style, as_json=as_json)
    return exit_codes.OK


async def _call(settings: Settings, tool: str, arguments: dict[str, Any], yes: bool) -> Result:
    app = App(settings)
    consent = Consent(can_ask=True)
    try:
        while True:
            progress = ProgressBar(sys.stderr)
            try:
                return await app.call(tool, arguments, progress, consent=consent)
            except CallFailed as failed:
                failure = failed.failure
            finally:
                progress.clear()
            consent = _answered(failure, consent, yes)
    finally:
        app.close()


def _answered(failure: Failure, consent: Consent, yes: bool) -> Consent:
    """What the person says to the question of a failure. CallFailed for a failure that asks nothing."""
    asked = failure.confirmation
    if asked is None or consent.declined:
        raise CallFailed(failure)
    if not yes and not (sys.stdin.isatty() and sys.stderr.isatty()):
        fix = "Run the command in a terminal and answer there, or say yes beforehand with --yes."
        raise CallFailed(failure.knowing(suggested_fix=fix))
    if not yes:
        write_line(f"{printable(asked.text)}\nGo ahead? [y/N] ", sys.stderr)
        yes = sys.stdin.readline().strip().lower() in ("y", "yes")
    if yes:
        return replace(consent, accepted=(*consent.accepted, *asked.tokens))
    return replace(consent, declined=asked.tokens)


def _for_the_shell(failure: Failure, settings: Settings) -> Failure:
    """For a person at a shell: the fix names the variable or flag in use; a problem of set-up needs no event id."""
    facts = dict(failure.facts)
    if exit_codes.for_failure(failure.code) != exit_codes.FAILED:
        facts.pop("event_id", None)
        facts.pop("docs_url", None)
    if facts.get("token_problem") == "missing":
        facts["suggested_fix"] = "Put a token into GITLAB_TOKEN, or into a file named by --token-file."
    where = settings.sources["url"]
    if where != DEFAULT and "suggested_fix" in facts:
        facts["suggested_fix"] = facts["suggested_fix"].replace("GITLAB_URL", where)
    return replace(failure, facts=facts)


def _show(result: Result, style: str, *, as_json: bool) -> None:
    if as_json:
        from gitlab_mcp.failures.render import render_success

        whole = dict(render_success(result.data, style))
        if result.text is not None:
            whole["text"] = result.text.content
        if result.image is not None:
            encoded = base64.b64encode(result.image.data).decode()
            whole["image"] = {"mime_type": result.image.mime_type, "base64": encoded}
        write_json(whole)
        return
    write_line(format_answer(result.data))
    if result.text is not None:
        write_line()
        write_line(printable(result.text.content))
    if result.image is not None:
        write_line(f"\n{result.image.mime_type}, {len(result.image.data)} bytes; --json prints them")


def _configure_logs(settings: Settings) -> None:
    """A failure is printed as the answer, so it is logged only if a log level was chosen."""
    asked = settings.sources["log_level"] != DEFAULT
    logs.configure(settings.log_level if asked else "critical", settings.log_format)


def _arguments_from_json(json_text: str | None) -> dict[str, Any]:
    if json_text is None:
        return {}
    try:
        # JSON is UTF-8, whatever the console speaks.
        arguments = json.loads(sys.stdin.buffer.read() if json_text == "-" else json_text)
    except (ValueError, RecursionError):
        arguments = None
    if not isinstance(arguments, dict):
        raise UsageError("--args is not a JSON object.", "Write --args '{\"project_id\": 42}'.")
    return arguments


def arguments_from_pairs(pairs: Sequence[str]) -> dict[str, Any]:
    arguments: dict[str, Any] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key.isidentifier():
            fix = "Write each argument as key=value, with quotes around it if it holds spaces."
            raise UsageError("An argument is not of the form key=value.", fix)
        if key not in arguments:
            arguments[key] = value
        elif isinstance(arguments[key], list):
            arguments[key].append(value)
        else:
            arguments[key] = [arguments[key], value]
    return arguments

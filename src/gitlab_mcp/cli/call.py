"""`gitlab-mcp call`: one call from the shell, the same way an agent's call goes."""

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
from gitlab_mcp.cli import exits
from gitlab_mcp.cli.screen import Progress, readable, safe, say, say_json, show_failure
from gitlab_mcp.cli.usage import UsageError
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.observability import logs
from gitlab_mcp.settings import DEFAULT, Settings, load


def call(
    flags: Mapping[str, Any],
    tool: str,
    action: str,
    pairs: Sequence[str],
    written: str | None,
    *,
    as_json: bool,
    yes: bool = False,
) -> int:
    """With `yes` every question has been answered beforehand."""
    settings = load(flags)
    _log(settings)
    arguments = {**_parsed(written), **_paired(pairs), "action": action}
    try:
        result = anyio.run(_made, settings, tool, arguments, yes)
    except CallFailed as failed:
        failure = _at_a_shell(failed.failure, settings)
        if not as_json:
            return show_failure(failure, no_color=settings.no_color)
        from gitlab_mcp.failures.render import render

        say_json(render(failure, settings.error_style))
        return exits.of(failure.code)
    _show(result, as_json=as_json)
    return exits.OK


async def _made(settings: Settings, tool: str, arguments: dict[str, Any], yes: bool) -> Result:
    app = App(settings)
    try:
        while True:
            progress = Progress(sys.stderr)
            try:
                return await app.call(tool, arguments, progress)
            except CallFailed as failed:
                question = failed.failure
            finally:
                progress.clear()
            arguments = {**arguments, "confirmation_token": _said_yes(question, yes)}
    finally:
        app.close()


def _said_yes(question: Failure, beforehand: bool) -> str:
    """The token behind a question that the person said yes to, here or beforehand; CallFailed for all else."""
    token = question.facts.get("confirmation_token")
    if token is None:
        raise CallFailed(question)
    if beforehand:
        return str(token)
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        # The token ends with this process: nobody could send it.
        fix = "Run the command in a terminal and answer there, or say yes beforehand with --yes."
        raise CallFailed(replace(question, facts={**_without_token(question), "suggested_fix": fix}))
    say(f"{question.facts.get('what_will_happen', question.message)}\nGo ahead? [y/N] ", sys.stderr)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise CallFailed(replace(question, facts=_without_token(question) | {"retryable": False}))
    return str(token)


def _without_token(question: Failure) -> dict[str, Any]:
    return {name: value for name, value in question.facts.items() if name != "confirmation_token"}


def _at_a_shell(failure: Failure, settings: Settings) -> Failure:
    """The failure for somebody whose own set-up this is, and who has no server's log to look into."""
    facts = dict(failure.facts)
    if exits.of(failure.code) != exits.FAILED:
        facts.pop("event_id", None)
        facts.pop("docs_url", None)
    if facts.get("token_problem") == "missing":
        facts["suggested_fix"] = "Put a token into GITLAB_TOKEN, or into a file named by --token-file."
    where = settings.sources["url"]
    if where != DEFAULT and "suggested_fix" in facts:
        facts["suggested_fix"] = facts["suggested_fix"].replace("GITLAB_URL", where)
    return replace(failure, facts=facts)


def _show(result: Result, *, as_json: bool) -> None:
    if as_json:
        whole = dict(result.data)
        if result.text is not None:
            whole["text"] = result.text.content
        if result.image is not None:
            encoded = base64.b64encode(result.image.data).decode()
            whole["image"] = {"mime_type": result.image.mime_type, "base64": encoded}
        say_json(whole)
        return
    say(readable(result.data))
    if result.text is not None:
        say()
        say(safe(result.text.content))
    if result.image is not None:
        say(f"\n{result.image.mime_type}, {len(result.image.data)} bytes; --json prints them")


def _log(settings: Settings) -> None:
    """A failure is shown once, as the answer; its log line only when somebody asked for logs."""
    asked = settings.sources["log_level"] != DEFAULT
    logs.configure(settings.log_level if asked else "critical", settings.log_format)


def _parsed(written: str | None) -> dict[str, Any]:
    if written is None:
        return {}
    try:
        arguments = json.loads(sys.stdin.read() if written == "-" else written)
    except (ValueError, RecursionError):
        arguments = None
    if not isinstance(arguments, dict):
        raise UsageError("--args is not a JSON object.", "Write --args '{\"project_id\": 42}'.")
    return arguments


def _paired(pairs: Sequence[str]) -> dict[str, Any]:
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

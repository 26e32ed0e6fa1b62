"""Who changed what: a line of JSON before a write is sent, and one for what came of it. They share an `id`.

A write that was refused before it was sent has only the second. A server that was killed in the middle leaves only the
first. The lines name things, never their contents.
"""

from __future__ import annotations

import errno
import json
import logging
import os
import stat
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Any, Final

import anyio.to_thread

from gitlab_mcp.actions.action import Action
from gitlab_mcp.callers import CallerKey
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.observability.outcome import Outcome

log = logging.getLogger("gitlab_mcp.audit")

Sink = Callable[[str, bool], None]
"""Writes a line. If the second is true, the line is on the disk when it returns."""

_MAX_LENGTH: Final = 200


@dataclass(frozen=True, slots=True)
class PlannedWrite:
    """A write that is allowed and not yet sent."""

    id: str
    action: Action
    caller: CallerKey
    user_id: int | None


@dataclass(frozen=True, slots=True)
class Audit:
    sink: Sink
    required: bool = False
    """Whether a write that cannot be written down is refused."""

    async def before(self, write: PlannedWrite) -> None:
        line = _line("intent", write.id, write.action, write.caller, write.user_id)
        try:
            if self.required:
                # In a thread: the disk takes milliseconds.
                await anyio.to_thread.run_sync(self.sink, json.dumps(line), True)
            else:
                self.sink(json.dumps(line), False)
        except Exception as error:
            log.exception("a line of the audit was lost: %s %s", line["tool"], line["action"])
            if self.required:
                raise CallFailed(_not_written(error)) from None

    def __call__(self, outcome: Outcome) -> None:
        """Never raises: a call that was made must not fail because its line could not be written."""
        action, caller = outcome.action, outcome.caller
        if action is None or caller is None or not action.spec.writes:
            return
        line = _line("write", outcome.write_id, action, caller, outcome.user_id)
        line |= {"outcome": outcome.conclusion, "duration_ms": round(outcome.seconds * 1000, 1)}
        if outcome.may_have_happened:
            line["may_have_happened"] = True
        try:
            self.sink(json.dumps(line), False)
        except Exception:
            log.exception("a line of the audit was lost: %s", outcome.operation)


def _line(
    event: str, id: str | None, action: Action, caller: CallerKey, user_id: int | None
) -> dict[str, Any]:
    line = {
        "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "event": event,
        "id": id,
        "who": caller.token_holder[:16],
        "user_id": user_id,
        "gitlab": caller.gitlab_url,
        "tool": action.spec.tool.name,
        "action": action.spec.name,
        "danger": str(action.danger),
        "target": _target(action),
        "request_id": caller.request_id or None,
    }
    return {name: value for name, value in line.items() if value is not None}


def _not_written(error: Exception) -> Failure:
    number = error.errno if isinstance(error, OSError) else None
    reason = os.strerror(number) if number in errno.errorcode and number else type(error).__name__
    return Failure(
        Code.STORE_UNAVAILABLE, "The audit cannot be written, so nothing was changed; nothing was sent."
    ).knowing(
        evidence=[f"writing the line failed: {reason}"],
        setting="audit_required",
        confidence="certain",
        suggested_fix="Reading works. Tell the operator: the place of --audit-log takes no lines.",
    )


def _target(action: Action) -> dict[str, Any]:
    """The ids and names in the path."""
    values = {name: getattr(action, name) for name in action.endpoint().placeholders}
    return {
        name: value if isinstance(value, int) else str(value)[:_MAX_LENGTH] for name, value in values.items()
    }


def to_file(path: Path) -> Sink:
    """A line that is not forced to the disk outlives this process, not the machine."""
    one_at_a_time = Lock()
    torn = False

    def write(line: str, durable: bool) -> None:
        nonlocal torn
        # Opened for each line, so that a rotated file is not written to any more.
        with open(path, "a", encoding="utf-8", opener=_only_for_the_owner) as file:
            with one_at_a_time:
                text = ("\n" if torn else "") + line + "\n"
                torn = True
                file.write(text)
                file.flush()
                torn = False
            if durable:
                os.fsync(file.fileno())

    return write


def _only_for_the_owner(path: str, flags: int) -> int:
    descriptor = os.open(path, flags, 0o600)
    found = os.fstat(descriptor)
    # A link that somebody else could have put there must not lead into a file of theirs; /dev/stderr is a link too.
    if Path(path).is_symlink() and stat.S_ISREG(found.st_mode) and _is_of_another_user(found):
        os.close(descriptor)
        raise PermissionError(f"{path} is a link to a file of another user")
    return descriptor


def _is_of_another_user(found: os.stat_result) -> bool:
    # Windows tells no owner, and lets only those make links who may write everywhere.
    return hasattr(os, "geteuid") and found.st_uid != os.geteuid()


def to_stdout(line: str, durable: bool) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def to_stderr(line: str, durable: bool) -> None:
    sys.stderr.write(line + "\n")
    sys.stderr.flush()

"""Who changed what: one JSON line for every write, also a refused one. It names things, never their contents."""

from __future__ import annotations

import json
import logging
import os
import stat
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from gitlab_mcp.actions.action import Action
from gitlab_mcp.observability.outcome import Outcome

log = logging.getLogger("gitlab_mcp.audit")

Sink = Callable[[str], None]

_MAX_LENGTH: Final = 200


@dataclass(frozen=True, slots=True)
class Audit:
    sink: Sink

    def __call__(self, outcome: Outcome) -> None:
        """Never raises: a call that was made must not fail because its line could not be written."""
        action, caller = outcome.action, outcome.caller
        if action is None or caller is None or not action.spec.writes:
            return
        line: dict[str, Any] = {
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "event": "write",
            "who": caller.token_holder[:16],
            "gitlab": caller.gitlab_url,
            "tool": action.spec.tool.name,
            "action": action.spec.name,
            "danger": str(action.danger),
            "target": _target(action),
            "outcome": outcome.conclusion,
            "duration_ms": round(outcome.seconds * 1000, 1),
        }
        if caller.request_id:
            line["request_id"] = caller.request_id
        try:
            self.sink(json.dumps(line))
        except Exception:
            log.exception("a line of the audit was lost: %s", outcome.operation)


def _target(action: Action) -> dict[str, Any]:
    """The ids and names in the path."""
    values = {name: getattr(action, name) for name in action.endpoint().placeholders}
    return {
        name: value if isinstance(value, int) else str(value)[:_MAX_LENGTH] for name, value in values.items()
    }


def to_file(path: Path) -> Sink:
    def write(line: str) -> None:
        # Opened for each line, so that a rotated file is not written to any more.
        with open(path, "a", encoding="utf-8", opener=_only_for_the_owner) as file:
            file.write(line + "\n")

    return write


def _only_for_the_owner(path: str, flags: int) -> int:
    descriptor = os.open(path, flags, 0o600)
    found = os.fstat(descriptor)
    # A link that somebody else could have put there must not lead into a file of theirs; /dev/stderr is a link too.
    if Path(path).is_symlink() and stat.S_ISREG(found.st_mode) and found.st_uid != os.geteuid():
        os.close(descriptor)
        raise PermissionError(f"{path} is a link to a file of another user")
    return descriptor


def to_stdout(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def to_stderr(line: str) -> None:
    sys.stderr.write(line + "\n")
    sys.stderr.flush()

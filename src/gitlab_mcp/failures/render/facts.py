"""What every dialect has in common: the facts, complete, in one order, without anything absent."""

from __future__ import annotations

from typing import Any, Final

from gitlab_mcp.failures.codes import CODES, CodeEntry
from gitlab_mcp.failures.facts import FACTS
from gitlab_mcp.failures.failure import Failure

_RANK: Final = {name: number for number, name in enumerate(FACTS)}


def code_of(failure: Failure) -> CodeEntry:
    return CODES[failure.code]


def status_of(failure: Failure) -> int:
    return int(failure.facts.get("http_status", code_of(failure).status))


def facts(failure: Failure) -> dict[str, Any]:
    """The facts in the order of FACTS; the two that follow from the code are always there."""
    code = code_of(failure)
    known = {"http_status": code.status, "retryable": code.retryable, **failure.facts}
    present = [(name, value) for name, value in known.items() if value is not None]
    return dict(sorted(present, key=lambda item: _RANK.get(item[0], len(_RANK))))

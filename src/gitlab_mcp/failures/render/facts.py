"""What every dialect has in common: the facts, complete, in one order, without anything absent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from gitlab_mcp.failures.codes import CODES, CodeEntry
from gitlab_mcp.failures.facts import FACTS
from gitlab_mcp.failures.failure import Failure

Renderer = Callable[[Failure], dict[str, Any]]

_RANK: Final = {name: number for number, name in enumerate(FACTS)}


def code_of(failure: Failure) -> CodeEntry:
    return CODES[failure.code]


def facts(failure: Failure, render: Renderer) -> dict[str, Any]:
    """The facts in the order of FACTS; the two that follow from the failure are always there.

    `render` writes the failures inside this one: those of the items of a batch.
    """
    known = {**failure.facts, "http_status": failure.status, "retryable": failure.retryable}
    if "results" in known:
        known["results"] = [_item(each, render) for each in known["results"]]
    present = [(name, value) for name, value in known.items() if value is not None]
    return dict(sorted(present, key=lambda item: _RANK.get(item[0], len(_RANK))))


def failed_items(failure: Failure) -> list[tuple[int, Failure]]:
    """Of a batch: the number and the failure of each call that failed."""
    results = failure.facts.get("results", ())
    return [(number, item["error"]) for number, item in enumerate(results) if _failed(item)]


def _item(item: Mapping[str, Any], render: Renderer) -> dict[str, Any]:
    return {"error": render(item["error"])} if _failed(item) else dict(item)


def _failed(item: Mapping[str, Any]) -> bool:
    return isinstance(item.get("error"), Failure)

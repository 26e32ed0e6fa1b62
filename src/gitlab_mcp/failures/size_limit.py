"""A failure keeps to `max_bytes` as an answer does: it loses what helps least first, and says what it lost."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from gitlab_mcp.failures.failure import FailedCall, Failure

_LEAST_HELPFUL_FIRST: Final = (
    "docs_url",
    "upgrade_url",
    "allowed_fields",
    "action_required_fields",
    "taken_as",
    "valid_actions",
    "candidates",
    "evidence",
    "alternatives",
    "example",
    "blockers",
    "gitlab_message",
    "unknown_fields",
    "did_you_mean",
    "invalid_fields",
    "what_will_happen",
)
"""The others are short, or nothing can be done without them."""
_MOST_ENTRIES: Final = 20
_LONGEST_TEXT: Final = 500
_SHORTEST_TEXT: Final = 200


def limit_size(failure: Failure, max_bytes: int, render: Callable[[Failure], Mapping[str, Any]]) -> Failure:
    """The failure as it fits into `max_bytes` when it is rendered so. The failures of a batch are limited each by
    itself, and none of them is left out."""

    def size(candidate: Failure) -> int:
        return len(json.dumps(render(candidate), ensure_ascii=False, default=str).encode())

    needed = size(failure)
    if needed <= max_bytes:
        return failure
    left_out: list[str] = []

    def without(names: list[str], longest: int) -> Failure:
        facts = {
            name: value if name == "results" else _shortened(value, longest)
            for name, value in failure.facts.items()
            if name not in names
        }
        what = ", ".join(names) or "the ends of long facts"
        how = f"max_bytes={math.ceil((needed + 500) / 1000) * 1000}"
        facts["truncated"] = [{"what": what, "omitted": len(names), "how_to_get_it": how}]
        return replace(failure, message=_cut(failure.message, longest), facts=facts)

    shorter = without(left_out, _LONGEST_TEXT)
    for name in (name for name in _LEAST_HELPFUL_FIRST if name in failure.facts):
        if size(shorter) <= max_bytes:
            return shorter
        left_out.append(name)
        shorter = without(left_out, _LONGEST_TEXT)
    if size(shorter) <= max_bytes:
        return shorter
    return replace(without(left_out, _SHORTEST_TEXT), call=FailedCall(failure.call.operation))


def _shortened(value: Any, longest: int) -> Any:
    if isinstance(value, str):
        return _cut(value, longest)
    if isinstance(value, (list, tuple)):
        return [_shortened(item, longest) for item in value[:_MOST_ENTRIES]]
    if isinstance(value, Mapping):
        return {name: _shortened(member, longest) for name, member in value.items()}
    return value


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[:longest]}…"

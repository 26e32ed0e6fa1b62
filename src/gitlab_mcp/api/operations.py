"""What GitLab's API can do, each thing once: an endpoint that is another's under a second spelling is not counted.

An operation is called by an action of a tool, by a row, or by nobody here (`left_to_others.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from gitlab_mcp.api.endpoints import known_endpoints, normalised
from gitlab_mcp.api.left_to_others import left_to_others

NO_SUCH_ROUTE: Final = (
    "only documented",
    "A page names it, and no version of GitLab that was read has such a route.",
)
_SUFFIXED: Final[Mapping[str, str]] = {
    "GET /projects/*/releases/permalink/latest/": "GET /projects/*/releases/permalink/latest",
}
"""Routes that take any further path, by its beginning."""


@dataclass(frozen=True, slots=True)
class Operation:
    endpoint: str
    """As GitLab spells it."""
    page: str
    """The page of GitLab's documentation about it, or nothing."""
    reached_by: str
    """`curated`, `data` or `excluded`."""
    group: str = ""
    """Of those that are excluded: of which kind they are, and why."""
    reason: str = ""


def operations(curated: Iterable[str]) -> Iterator[Operation]:
    """`curated`: the endpoints that actions of tools call."""
    called = {normalised(endpoint) for endpoint in curated}
    for key, row in known_endpoints().items():
        if key in second_spellings():
            continue
        page = next((each["page"] for each in row.get("docs", ())), "")
        if key in called:
            yield Operation(row["endpoint"], page, "curated")
        elif excluded := _excluded(row):
            yield Operation(row["endpoint"], page, "excluded", *excluded)
        else:
            yield Operation(row["endpoint"], page, "data")


def _excluded(row: Mapping[str, Any]) -> tuple[str, str] | None:
    return left_to_others(row["endpoint"], row) or (None if "params" in row else NO_SUCH_ROUTE)


@cache
def second_spellings() -> Mapping[str, str]:
    """By normalised endpoint, the one it is another spelling of.

    `/services/asana` is an older name of `/integrations/asana`; a page may spell an endpoint out that takes any name
    (`/integrations/asana` of `/integrations/:slug`) or write its whole path; HEAD is GET without the body.
    """
    known = known_endpoints()
    patterns: dict[str, list[tuple[re.Pattern[str], str]]] = {}
    for key, row in known.items():
        if "params" in row:
            method = key.partition(" ")[0]
            patterns.setdefault(method, []).append((_pattern(key), key))
    found: dict[str, str] = {}
    for key, row in known.items():
        method, path = key.split(" ", 1)
        if "params" in row:
            other = re.sub(r"/services(?=/|$)", "/integrations", key)
            other = f"GET {path}" if method == "HEAD" else other
            if other != key and other in known:
                found[key] = other
            continue
        spelled = key.replace(" /api/v4/", " /")
        same = next(
            (other for pattern, other in patterns.get(method, ()) if pattern.fullmatch(spelled)), None
        )
        same = same or next((other for start, other in _SUFFIXED.items() if spelled.startswith(start)), None)
        if same:
            found[key] = same
    return found


def _pattern(key: str) -> re.Pattern[str]:
    return re.compile(re.escape(key).replace(r"\*", "[^/ ]+"))

"""Endpoints as people paste them: `POST /projects/:id/badges`, a path with ids in it, or the URL of a request."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final
from urllib.parse import unquote

_METHOD: Final = re.compile(r"^\s*(?:curl\s+)?(?:-X\s+|--request\s+)?(GET|POST|PUT|PATCH|DELETE)\s+", re.I)
_PATH: Final = re.compile(
    r"(?:https?://[^/\s]+)?(?:/?api/v4)?/?([A-Za-z_][^\s?#\"']*/[^\s?#\"']*|/[^\s?#\"']+)"
)
_PLACEHOLDER: Final = re.compile(r"^(?:[{<:*].*|[0-9]+|.*%2[fF].*)$")


class Endpoints:
    """Actions by their endpoints."""

    def __init__(self) -> None:
        self._by_length: dict[int, list[tuple[str, tuple[str, ...], str]]] = {}

    def add(self, name: str, endpoints: Iterable[str]) -> None:
        for endpoint in endpoints:
            method, _, path = endpoint.partition(" ")
            segments = _segments(path)
            self._by_length.setdefault(len(segments), []).append((method, segments, name))

    def find(self, query: str) -> list[str]:
        """The actions that have the endpoint in this text, the exact one first; none where it holds no endpoint."""
        given = _METHOD.search(query)
        rest = query[given.end() :] if given else query
        # A path alone begins with a slash; with a method or an address before it, it need not.
        if not given and not rest.lstrip().startswith(("/", "http://", "https://", "api/v4")):
            return []
        found = _PATH.search(rest.strip())
        if found is None:
            return []
        segments = _segments(found[1])
        method = given[1].upper() if given else None
        ranked = sorted(
            (method is not None and method != of, -fit, number, name)
            for number, (of, known, name) in enumerate(self._by_length.get(len(segments), ()))
            if (fit := _fit(segments, known))
        )
        return list(dict.fromkeys(name for *_, name in ranked))


def _segments(path: str) -> tuple[str, ...]:
    kept = [unquote(part) if "%2" not in part.lower() else part for part in path.split("/")]
    return tuple("{}" if _PLACEHOLDER.match(part) else part for part in kept if part and part != "-")


def _fit(given: tuple[str, ...], known: tuple[str, ...]) -> int:
    """How many segments are the same word; nothing where one contradicts."""
    same = 0
    for one, other in zip(given, known, strict=True):
        if one == other:
            same += 2
        elif other == "{}":
            same += 1
        else:
            return 0
    return same

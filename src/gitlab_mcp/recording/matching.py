"""Decides whether a request is the same as a recorded one. docs/guides/record-and-replay.md tells users the rules."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlencode

from gitlab_mcp.recording.scrub import Scrubber

_DEFAULT_PAGING = frozenset({("page", "1"), ("per_page", "20")})
_LONGEST_PAGE = ("per_page", "100")
_PROJECT_OR_GROUP = re.compile(r"^/api/v4/(projects|groups)/([^/]+)(.*)$")


@dataclass(frozen=True, slots=True)
class RequestKey:
    """Two requests of one caller are the same if their keys are equal."""

    method: str
    path: str
    query: tuple[tuple[str, str], ...]
    body: str

    def __str__(self) -> str:
        """Method, path and query as people write them."""
        path = self.path.removeprefix("/api/v4")
        return f"{self.method} {path}" + (f"?{urlencode(self.query, safe='/[],:')}" if self.query else "")

    def in_short_pages(self) -> RequestKey:
        """The same request for pages of GitLab's usual length, where it asks for the longest."""
        return replace(self, query=tuple(pair for pair in self.query if pair != _LONGEST_PAGE))

    def distance(self, other: RequestKey) -> int:
        """How much they differ. Another value of a parameter counts less than another parameter."""
        segments = set(enumerate(self.path.split("/"))) ^ set(enumerate(other.path.split("/")))
        names = {name for name, _ in self.query} ^ {name for name, _ in other.query}
        values = set(self.query) ^ set(other.query)
        return len(segments) + len(names) + len(values) + (self.body != other.body)


def request_key(method: str, uri: str, body: str | None, scrubber: Scrubber) -> RequestKey:
    """Scrubs the request like a recorded one, so that what recording redacts makes no difference."""
    query = uri.partition("?")[2]
    pairs = parse_qsl(scrubber.query(query), keep_blank_values=True)
    return RequestKey(
        method=method.upper(),
        path=normalized_path(uri, scrubber),
        query=tuple(sorted(pair for pair in pairs if pair not in _DEFAULT_PAGING)),
        body=_normalized_body(scrubber.request_body(uri, body) if body else ""),
    )


def normalized_path(uri: str, scrubber: Scrubber) -> str:
    """The path from `/api` on, encoded in one way. Leaves out the host and a relative URL root."""
    path = uri.partition("?")[0]
    path = scrubber.text(path[max(path.find("/api/"), 0) :])
    return "/".join(quote(unquote(segment), safe="") for segment in path.split("/")) if "%" in path else path


def _normalized_body(text: str) -> str:
    """JSON with sorted keys. An empty body equals `{}`."""
    try:
        parsed = json.loads(text) if text else None
    except (ValueError, RecursionError):
        return text
    return json.dumps(parsed, sort_keys=True) if parsed not in (None, {}) else ""


def token_of(headers: Mapping[str, str]) -> str | None:
    bearer = headers.get("Authorization", "").removeprefix("Bearer ")
    return headers.get("PRIVATE-TOKEN") or headers.get("JOB-TOKEN") or bearer or None


@dataclass(slots=True)
class IdsAndPaths:
    """Which number and which path mean the same project or group, read from recorded answers."""

    _other: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    """From (kind, number) to paths, and from (kind, path) to numbers."""

    @classmethod
    def found_in(cls, contents: Iterable[bytes]) -> IdsAndPaths:
        found = cls()
        for content in contents:
            found._add_all_in(content)
        return found

    def alternatives(self, key: RequestKey) -> Iterator[RequestKey]:
        """The same request with the project or group given by path instead of number, or the other way round."""
        match = _PROJECT_OR_GROUP.match(key.path)
        if match:
            kind, given, rest = match.groups()
            for other in sorted(self._other.get((kind, given), ())):
                yield replace(key, path=f"/api/v4/{kind}/{other}{rest}")

    def _add_all_in(self, content: bytes) -> None:
        if b'"path_with_namespace"' in content or b'"full_path"' in content:
            try:
                self._search(json.loads(content))
            except (ValueError, RecursionError):
                return

    def _search(self, value: Any) -> None:
        if isinstance(value, list):
            for item in value:
                self._search(item)
        elif isinstance(value, dict):
            number = value.get("id")
            if isinstance(number, int) and isinstance(value.get("path_with_namespace"), str):
                self._add("projects", number, value["path_with_namespace"])
            elif isinstance(number, int) and isinstance(value.get("full_path"), str) and _is_group(value):
                self._add("groups", number, value["full_path"])
            for inner in value.values():
                if isinstance(inner, dict | list):
                    self._search(inner)

    def _add(self, kind: str, number: int, path: str) -> None:
        encoded = quote(path, safe="")
        self._other.setdefault((kind, str(number)), set()).add(encoded)
        self._other.setdefault((kind, encoded), set()).add(str(number))


def _is_group(value: dict[str, Any]) -> bool:
    # A user's namespace has the same keys as a group, but its number is not the number of a group.
    return bool(value.get("kind", "group") == "group")

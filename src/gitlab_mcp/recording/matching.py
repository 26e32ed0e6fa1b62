"""When a request is the same as a recorded one. docs/guides/record-and-replay.md tells users the rules."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlencode

from gitlab_mcp.recording.scrub import Scrubber

_DEFAULT_PAGING = frozenset({("page", "1"), ("per_page", "20")})
_NAMED = re.compile(r"^/api/v4/(projects|groups)/([^/]+)(.*)$")


@dataclass(frozen=True, slots=True)
class Question:
    """What makes two requests of one caller the same."""

    method: str
    path: str
    query: tuple[tuple[str, str], ...]
    body: str

    def __str__(self) -> str:
        """As people write it; the body is left out."""
        path = self.path.removeprefix("/api/v4")
        return f"{self.method} {path}" + (f"?{urlencode(self.query, safe='/[],:')}" if self.query else "")

    def unlike(self, other: Question) -> int:
        """How much they differ; another value of the same name counts less than another name."""
        words = set(enumerate(self.path.split("/"))) ^ set(enumerate(other.path.split("/")))
        names = {name for name, _ in self.query} ^ {name for name, _ in other.query}
        values = set(self.query) ^ set(other.query)
        return len(words) + len(names) + len(values) + (self.body != other.body)


def place(uri: str, scrubber: Scrubber) -> str:
    """The path from `/api` on, spelled in one way: the host does not count, nor a relative URL root."""
    path = uri.partition("?")[0]
    path = scrubber.text(path[max(path.find("/api/"), 0) :])
    return "/".join(quote(unquote(segment), safe="") for segment in path.split("/")) if "%" in path else path


def question(method: str, uri: str, body: str | None, scrubber: Scrubber) -> Question:
    """Scrubbed like the recorded one: what was redacted there must not tell them apart here."""
    query = uri.partition("?")[2]
    pairs = parse_qsl(scrubber.query(query), keep_blank_values=True)
    return Question(
        method=method.upper(),
        path=place(uri, scrubber),
        query=tuple(sorted(pair for pair in pairs if pair not in _DEFAULT_PAGING)),
        body=_body(scrubber.body(body) if body else ""),
    )


def _body(text: str) -> str:
    """JSON with its keys in order; nothing and `{}` are the same."""
    try:
        parsed = json.loads(text) if text else None
    except (ValueError, RecursionError):
        return text
    return json.dumps(parsed, sort_keys=True) if parsed not in (None, {}) else ""


@dataclass(slots=True)
class Names:
    """Which number and which path mean the same project or group, as far as answers have shown."""

    _other: dict[tuple[str, str], set[str]] = field(default_factory=dict)

    def learn(self, content: bytes) -> None:
        if b'"path_with_namespace"' in content or b'"full_path"' in content:
            try:
                self._learn(json.loads(content))
            except (ValueError, RecursionError):
                return

    def _learn(self, value: Any) -> None:
        if isinstance(value, list):
            for item in value:
                self._learn(item)
        elif isinstance(value, dict):
            number = value.get("id")
            if isinstance(number, int) and isinstance(value.get("path_with_namespace"), str):
                self._pair("projects", number, value["path_with_namespace"])
            elif isinstance(number, int) and isinstance(value.get("full_path"), str) and _is_group(value):
                self._pair("groups", number, value["full_path"])
            for inner in value.values():
                if isinstance(inner, dict | list):
                    self._learn(inner)

    def _pair(self, kind: str, number: int, path: str) -> None:
        encoded = quote(path, safe="")
        self._other.setdefault((kind, str(number)), set()).add(encoded)
        self._other.setdefault((kind, encoded), set()).add(str(number))

    def otherwise(self, asked: Question) -> Iterator[Question]:
        """The same question with the project or group called by its other name."""
        match = _NAMED.match(asked.path)
        if match:
            kind, name, rest = match.groups()
            for other in sorted(self._other.get((kind, name), ())):
                yield replace(asked, path=f"/api/v4/{kind}/{other}{rest}")


def _is_group(value: dict[str, Any]) -> bool:
    # A user's namespace looks like a group, and its number means something else.
    return bool(value.get("kind", "group") == "group")


def learned_from(contents: Iterable[bytes]) -> Names:
    names = Names()
    for content in contents:
        names.learn(content)
    return names

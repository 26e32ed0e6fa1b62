"""The address of GitLab, and the paths and queries that are sent to it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.gitlab.faults import ForeignHost

GRAPHQL_PATH = "/api/graphql"
"""The only path that is not below `/api/v4`."""
_REST_PREFIX = "/api/v4"
_NEEDS_ENCODING = re.compile(r"[^!-~]|[?#\\]")
_ABSOLUTE_URL = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*:)?//")
_EMPTY_OR_DOTS = Failure(
    Code.INVALID_VALUE, "A name or path in the arguments is empty, or dots alone."
).knowing(suggested_fix="Give the whole name: no empty part, and none that is . or ..")


@dataclass(frozen=True, slots=True)
class Address:
    root: str
    """The base URL without a slash at the end. A relative URL root is part of it."""
    host: str
    """The host with its port, if one is given. Error messages name it."""

    @property
    def graphql(self) -> str:
        return self.root + GRAPHQL_PATH


def parse_address(url: str) -> Address:
    """Accept a base URL as people paste it: with a slash at the end, with `/api/v4`, with a relative root."""
    url = url.strip()
    if not re.match(r"https?://", url, re.IGNORECASE) or re.search(r"[\s?#\\]", url):
        raise ValueError("the URL of GitLab must look like https://gitlab.example.com")
    parts = urlsplit(url)
    if not parts.hostname:
        raise ValueError("the URL of GitLab names no host")
    if "@" in parts.netloc:
        raise ValueError("the URL of GitLab must not carry a name or a password")
    if parts.port == 0:
        raise ValueError("the URL of GitLab has no usable port")
    path = parts.path.rstrip("/").removesuffix(_REST_PREFIX).rstrip("/")
    host = parts.netloc.lower()
    return Address(root=f"{parts.scheme.lower()}://{host}{path}", host=host)


def check_path(path: str) -> None:
    """Refuse a path that a client, a proxy or GitLab could read as a path to something else.

    Segments that mean `.` or `..` are refused even when they are encoded. Many proxies read `%2E%2E` as `..`;
    deleting a label of that name would then delete its project. Such segments come only from the caller's values.
    """
    if _ABSOLUTE_URL.match(path):
        raise ForeignHost(host=urlsplit(path).netloc)
    if not path.startswith("/"):
        raise ValueError("a path begins with a slash")
    if _NEEDS_ENCODING.search(path):
        raise ValueError("a path holds characters that are not encoded")
    if any(unquote(segment) in ("", ".", "..") for segment in path.split("/")[1:]):
        raise CallFailed(_EMPTY_OR_DOTS)


def query_pairs(query: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Encode a query the way Rails reads it: `flag=true`, `iids[]=1&iids[]=2`, `not[author]=bob`. None is left out."""
    return [pair for key, value in query.items() for pair in _pairs(str(key), value)]


def _pairs(key: str, value: Any) -> Iterator[tuple[str, str]]:
    if value is None:
        return
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _pairs(f"{key}[{name}]", inner)
    elif isinstance(value, list | tuple | set | frozenset):
        for inner in value:
            yield from _pairs(f"{key}[]", inner)
    elif isinstance(value, bool):
        yield key, "true" if value else "false"
    else:
        yield key, str(value)

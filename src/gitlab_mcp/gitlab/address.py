"""Where GitLab is, and which paths below it may be asked for."""

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
"""The one path that is not below `/api/v4`."""
_API = "/api/v4"
_NOT_IN_A_PATH = re.compile(r"[^!-~]|[?#\\]")
_ABSOLUTE = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*:)?//")
_NO_NAME = Failure(Code.INVALID_VALUE, "A name or path in the arguments is empty, or dots alone.").knowing(
    suggested_fix="Give the whole name: no empty part, and none that is . or .."
)


@dataclass(frozen=True, slots=True)
class Address:
    root: str
    """Without a slash at the end; a relative URL root is part of it."""
    host: str
    """With the port when one is given, as an error should name it."""

    @property
    def rest(self) -> str:
        return self.root + _API

    @property
    def graphql(self) -> str:
        return self.root + GRAPHQL_PATH


def parse_address(url: str) -> Address:
    """Accepts what people paste: with a slash at the end, with `/api/v4`, with a relative root."""
    given = url.strip()
    if not re.match(r"https?://", given, re.IGNORECASE) or re.search(r"[\s?#\\]", given):
        raise ValueError("the URL of GitLab must look like https://gitlab.example.com")
    parts = urlsplit(given)
    if not parts.hostname:
        raise ValueError("the URL of GitLab names no host")
    if "@" in parts.netloc:
        raise ValueError("the URL of GitLab must not carry a name or a password")
    if parts.port == 0:
        raise ValueError("the URL of GitLab has no usable port")
    path = parts.path.rstrip("/").removesuffix(_API).rstrip("/")
    host = parts.netloc.lower()
    return Address(root=f"{parts.scheme.lower()}://{host}{path}", host=host)


def check_path(path: str) -> None:
    """Let nothing through that a client, a proxy or GitLab could read as another place than it looks like.

    Segments that mean `.` or `..` are refused even when they are encoded: to many proxies `%2E%2E` is `..`,
    and then deleting a label of that name deletes its project. Only values of the caller can bring them.
    """
    if _ABSOLUTE.match(path):
        raise ForeignHost(host=urlsplit(path).netloc)
    if not path.startswith("/"):
        raise ValueError("a path begins with a slash")
    if _NOT_IN_A_PATH.search(path):
        raise ValueError("a path holds characters that are not encoded")
    if any(unquote(segment) in ("", ".", "..") for segment in path.split("/")[1:]):
        raise CallFailed(_NO_NAME)


def query_pairs(query: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Rails' spelling: `flag=true`, `iids[]=1&iids[]=2`, `not[author]=bob`. None is left out."""
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

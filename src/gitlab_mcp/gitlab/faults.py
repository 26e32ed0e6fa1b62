"""The ways in which GitLab does not give an answer one can use. Typed, so that the translator need not guess.

Not frozen, as other values are: Python itself sets attributes on exceptions on their way up.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from gitlab_mcp.actions.exchange import Request


@dataclass(eq=False)
class Refused(Exception):
    """GitLab (or something before it) answered, and neither 2xx nor 304."""

    request: Request
    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    """Names in lower case."""
    content: bytes = b""
    """The beginning of the body."""

    @property
    def is_json(self) -> bool:
        return "json" in self.headers.get("content-type", "")

    def body(self) -> Any:
        """The parsed body, or None where it is not JSON."""
        if not self.is_json:
            return None
        try:
            return json.loads(self.content)
        except ValueError:
            return None


@dataclass(eq=False)
class GraphQLRefused(Exception):
    """GraphQL answered 200 with `errors`."""

    request: Request
    errors: tuple[Mapping[str, Any], ...]


@dataclass(eq=False)
class Withheld(GraphQLRefused):
    """GraphQL answered 200 without `errors`, and null where something should be."""

    path: tuple[str, ...] = ()
    """Down to the null."""


class Why(StrEnum):
    DNS = "dns"
    REFUSED = "connection refused"
    TLS = "tls"
    CONNECT_TIMEOUT = "connect timeout"
    READ_TIMEOUT = "read timeout"
    LOST = "connection lost"
    DEADLINE = "deadline"
    PROXY = "proxy"


@dataclass(eq=False)
class Unreachable(Exception):
    """No answer. `sent` says whether the request may have reached GitLab."""

    request: Request
    why: Why
    host: str
    sent: bool
    attempts: int = 1


class Wrong(StrEnum):
    HTML = "html"
    NOT_JSON = "not json"
    CUT_OFF = "cut off"
    TOO_LARGE = "too large"
    SHAPE = "another shape"


@dataclass(eq=False)
class BadAnswer(Exception):
    """A 2xx that is not what GitLab's API sends: a login page, a proxy's page, half a document."""

    request: Request
    what: Wrong
    status: int
    limit: int | None = None


@dataclass(eq=False)
class ReplayMiss(Exception):
    """No recording answers this."""

    request: Request
    asked: str = ""
    """Method, path and query, without secrets."""
    nearest: str | None = None
    """The recorded one that is most like it."""


@dataclass(eq=False)
class Paused(Exception):
    """GitLab was not there so often that it is left alone for a while. Nothing was sent."""

    host: str
    seconds: float
    failures: int
    why: str


@dataclass(eq=False)
class ForeignHost(Exception):
    """A URL that is not below the configured GitLab. Nothing was sent."""

    host: str


@dataclass(eq=False)
class NoToken(Exception):
    """Nobody said who calls."""


def may_have_happened(fault: Refused | Unreachable | BadAnswer) -> bool:
    """Whether GitLab may have done what the request asks, although there is no answer to read."""
    match fault:
        case Unreachable():
            return fault.sent
        case BadAnswer():
            return True
        case Refused():
            # What stands before GitLab lost sight of it, or of its patience. Any other status is GitLab's own word.
            return fault.status in (502, 504)

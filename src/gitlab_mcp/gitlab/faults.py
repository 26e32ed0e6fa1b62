"""The exceptions for every way in which a request to GitLab yields no usable answer.

Their fields hold what `refusals` needs to explain them. They are not frozen, because Python sets attributes on an
exception while it is raised.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from gitlab_mcp.actions.exchange import Request
from gitlab_mcp.actions.json_text import measure, parse, without_lone_surrogates


@dataclass(eq=False)
class Refused(Exception):
    """GitLab, or a proxy before it, answered with a status that is neither 2xx nor 304."""

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
            return without_lone_surrogates(parse(self.content, deep=measure(self.content).deep))
        except ValueError:
            return None

    @property
    def limits_the_token(self) -> bool:
        """Of a 429: whether it is about all requests. The limit of one endpoint has no such headers, and is no page."""
        return self.is_web_page or any(name.startswith("ratelimit-") for name in self.headers)

    @property
    def ends_the_token(self) -> bool:
        """Of a 401: whether the token itself has expired or was revoked. GitLab answers 401 for other reasons too."""
        return self.status == 401 and 'error="invalid_token"' in self.headers.get("www-authenticate", "")

    @property
    def is_web_page(self) -> bool:
        """Whether something before GitLab's API answered: a proxy, a firewall, a login."""
        beginning = self.content[:512].lstrip().lower()
        return beginning.startswith((b"<!doctype", b"<html", b"<?xml")) or b"<html" in beginning

    @property
    def by_maintenance_mode(self) -> bool:
        """Whether GitLab itself says that it takes no writes now. A page that says so may be any proxy's."""
        return self.status == 503 and self.is_json and b"maintenance" in self.content[:4096].lower()


@dataclass(eq=False)
class GraphQLRefused(Exception):
    """GraphQL answered 200 with `errors`."""

    request: Request
    errors: tuple[Mapping[str, Any], ...]


@dataclass(eq=False)
class Withheld(GraphQLRefused):
    """GraphQL answered 200 without `errors`, but null in place of the value."""

    path: tuple[str, ...] = ()
    """The field names that lead to the null."""
    asked_by: str = ""
    """The field of the caller that names what is null, where it is known."""


class UnreachableReason(StrEnum):
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
    """There was no answer."""

    request: Request
    reason: UnreachableReason
    host: str
    sent: bool
    """Whether the request may have reached GitLab."""
    attempts: int = 1


class BadAnswerReason(StrEnum):
    HTML = "html"
    NOT_JSON = "not json"
    CUT_OFF = "cut off"
    TOO_LARGE = "too large"
    UNEXPECTED_SHAPE = "another shape"
    ENDLESS = "pages without an end"


@dataclass(eq=False)
class BadAnswer(Exception):
    """A 2xx whose body is not what GitLab's API sends: a login page, a proxy's page, half a document."""

    request: Request
    reason: BadAnswerReason
    status: int
    limit: int | None = None
    """The most bytes we read, where the answer was too large."""


@dataclass(eq=False)
class ReplayMiss(Exception):
    """No recording answers this request."""

    request: Request
    request_line: str = ""
    """Method, path and query, without secrets."""
    nearest: str | None = None
    """The recorded request that is most like it."""


@dataclass(eq=False)
class CircuitOpen(Exception):
    """GitLab failed so often that no request is sent for a while. This one was not sent."""

    host: str
    seconds: float
    """Until the next request is tried."""
    failures: int
    last_failure: str
    route: str
    """Which kind of request is not sent; empty for all."""
    request: Request


@dataclass(eq=False)
class ForeignHost(Exception):
    """The URL is not below the configured GitLab. Nothing was sent."""

    host: str


@dataclass(eq=False)
class NoToken(Exception):
    """The caller has no token, and GitLab needs one."""

    profile: str | None = None
    """The account of which none is kept, where it has a name."""


AttemptFault = Refused | Unreachable | BadAnswer
"""How one attempt at a request can fail."""
Fault = Refused | GraphQLRefused | Unreachable | BadAnswer | ReplayMiss | CircuitOpen
FAULTS = (Refused, GraphQLRefused, Unreachable, BadAnswer, ReplayMiss, CircuitOpen)


_TOO_LONG = (413, 414, 431)
"""Of a request that was not read to its end."""
_SEE_OTHER = 303
_GAVE_UP = ("timeout on ", "internal server error")
"""How GraphQL's errors begin where it stopped in the middle."""


def may_have_happened(fault: AttemptFault | GraphQLRefused) -> bool:
    """Whether GitLab may have done what the request asks, although it does not say so."""
    match fault:
        case Unreachable():
            return fault.sent
        case BadAnswer():
            return True
        case GraphQLRefused():
            texts = [error.get("message") for error in fault.errors if isinstance(error, Mapping)]
            return any(str(text).lower().startswith(_GAVE_UP) for text in texts)
        case Refused():
            if fault.status >= 500:
                return not fault.by_maintenance_mode
            if fault.status < 200 or fault.status == _SEE_OTHER:
                # Half an answer; and "done, look there".
                return True
            # GitLab's API refuses with JSON. A page may also hide its answer.
            return fault.status >= 400 and fault.status not in _TOO_LONG and fault.is_web_page

"""One attempt at one request, in a worker thread. Every way it can fail is raised as a fault."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

from urllib3.exceptions import (
    HTTPError,
    NameResolutionError,
    NewConnectionError,
    ProxyError,
    SSLError,
    TimeoutError,
)

from gitlab_mcp.actions.exchange import Answer, Request
from gitlab_mcp.callers import TokenKind
from gitlab_mcp.gitlab.answers import ResponseReader
from gitlab_mcp.gitlab.faults import ReplayMiss, Unreachable, UnreachableReason
from gitlab_mcp.gitlab.in_flight import InFlightRequest, set_current_request
from gitlab_mcp.gitlab.python_gitlab import HttpSession, send
from gitlab_mcp.gitlab.transport import Incoming, NotRecorded

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Attempt:
    http: HttpSession
    token: str | None
    token_kind: TokenKind
    request: Request
    in_flight: InFlightRequest
    max_bytes: int

    def answer(self, unless: str | None = None) -> Answer:
        """304 and no body where the ETag of the answer is `unless`."""
        return self._perform(self._reader().answer, unless)

    def stream(self, read: Callable[[Iterator[bytes], Mapping[str, str]], T]) -> T:
        reader = self._reader()
        return self._perform(lambda response: reader.stream(response, read))

    def _reader(self) -> ResponseReader:
        return ResponseReader(self.request, self.in_flight, self.max_bytes)

    def _perform(self, consume: Callable[[Incoming], T], unless: str | None = None) -> T:
        set_current_request(self.in_flight)
        try:
            return consume(send(self.http, self.token, self.token_kind, self.request, unless))
        except NotRecorded as miss:
            raise ReplayMiss(self.request, miss.request_line, miss.nearest) from None
        except HTTPError as error:
            sent = self.in_flight.sent
            raise Unreachable(self.request, reason_of(error, sent), self.http.address.host, sent) from error
        finally:
            if self.in_flight.response is not None:
                self.in_flight.response.close()


def reason_of(error: HTTPError, sent: bool) -> UnreachableReason:
    match error:
        case ProxyError():
            return UnreachableReason.PROXY
        case SSLError():
            return UnreachableReason.TLS
        case NameResolutionError():
            return UnreachableReason.DNS
        case NewConnectionError():
            return UnreachableReason.REFUSED
        case TimeoutError():
            # One in the middle of a TLS handshake is a read timeout, too.
            return UnreachableReason.READ_TIMEOUT if sent else UnreachableReason.CONNECT_TIMEOUT
        case _:
            return UnreachableReason.LOST

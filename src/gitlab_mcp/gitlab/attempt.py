"""One attempt at one request, in a worker thread. Every way it can fail is raised as a fault."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

import requests
from requests.exceptions import ConnectionError, ConnectTimeout, ProxyError, SSLError, Timeout
from urllib3.exceptions import NameResolutionError, NewConnectionError, ReadTimeoutError

from gitlab_mcp.actions.exchange import Answer, Request
from gitlab_mcp.callers import TokenKind
from gitlab_mcp.gitlab.answers import ResponseReader
from gitlab_mcp.gitlab.faults import ReplayMiss, Unreachable, UnreachableReason
from gitlab_mcp.gitlab.in_flight import InFlightRequest, set_current_request
from gitlab_mcp.gitlab.python_gitlab import HttpSession, send
from gitlab_mcp.gitlab.transport import NotRecorded

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

    def _perform(self, consume: Callable[[requests.Response], T], unless: str | None = None) -> T:
        set_current_request(self.in_flight)
        try:
            return consume(send(self.http, self.token, self.token_kind, self.request, unless))
        except NotRecorded as miss:
            raise ReplayMiss(self.request, miss.request_line, miss.nearest) from None
        except (ConnectionError, Timeout) as error:
            sent = self.in_flight.sent
            raise Unreachable(self.request, _reason(error, sent), self.http.address.host, sent) from error
        finally:
            if self.in_flight.response is not None:
                self.in_flight.response.close()


def _reason(error: requests.RequestException, sent: bool) -> UnreachableReason:
    if isinstance(error, ProxyError):
        return UnreachableReason.PROXY
    if isinstance(error, SSLError):
        return UnreachableReason.TLS
    # requests reports a timeout in the middle of a body as a plain ConnectionError, and urllib3 one in the
    # middle of a TLS handshake as a read timeout.
    if isinstance(error, Timeout) or _caused_by(error, ReadTimeoutError):
        answering = sent and not isinstance(error, ConnectTimeout)
        return UnreachableReason.READ_TIMEOUT if answering else UnreachableReason.CONNECT_TIMEOUT
    if _caused_by(error, NameResolutionError):
        return UnreachableReason.DNS
    if _caused_by(error, NewConnectionError):
        return UnreachableReason.REFUSED
    return UnreachableReason.LOST


def _caused_by(error: BaseException | None, kind: type[BaseException]) -> bool:
    while error is not None:
        if isinstance(error, kind):
            return True
        error = error.__cause__ or error.__context__
    return False

"""One attempt at one request, in a worker thread, with every way it can end as a fault."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

import requests
from requests.exceptions import ConnectionError, ConnectTimeout, ProxyError, SSLError, Timeout
from urllib3.exceptions import NameResolutionError, NewConnectionError, ReadTimeoutError

from gitlab_mcp.actions.exchange import Answer, Request
from gitlab_mcp.callers import TokenKind
from gitlab_mcp.gitlab.address import GRAPHQL_PATH
from gitlab_mcp.gitlab.answers import Reader
from gitlab_mcp.gitlab.faults import ReplayMiss, Unreachable, Why
from gitlab_mcp.gitlab.in_flight import InFlightRequest, enter
from gitlab_mcp.gitlab.python_gitlab import Dial, ask, speak_as
from gitlab_mcp.gitlab.transport import NotRecorded

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Attempt:
    dial: Dial
    token: str | None
    kind: TokenKind
    request: Request
    exchange: InFlightRequest
    largest: int

    def answer(self) -> Answer:
        return self._perform(self._reader().answer)

    def stream(self, read: Callable[[Iterator[bytes], Mapping[str, str]], T]) -> T:
        reader = self._reader()
        return self._perform(lambda response: reader.stream(response, read))

    def _reader(self) -> Reader:
        return Reader(self.request, self.exchange, self.largest)

    def _perform(self, consume: Callable[[requests.Response], T]) -> T:
        enter(self.exchange)
        address = self.dial.address
        url = address.graphql if self.request.path == GRAPHQL_PATH else self.request.path
        try:
            return consume(ask(speak_as(self.dial, self.token, self.kind), self.dial, self.request, url))
        except NotRecorded as miss:
            raise ReplayMiss(self.request, miss.asked, miss.nearest) from None
        except (ConnectionError, Timeout) as error:
            sent = self.exchange.sent
            raise Unreachable(self.request, _why(error, sent), address.host, sent) from error
        finally:
            if self.exchange.response is not None:
                self.exchange.response.close()


def _why(error: requests.RequestException, sent: bool) -> Why:
    if isinstance(error, ProxyError):
        return Why.PROXY
    if isinstance(error, SSLError):
        return Why.TLS
    # requests reports a timeout in the middle of a body as a plain ConnectionError, and urllib3 one in the
    # middle of a TLS handshake as a read timeout.
    if isinstance(error, Timeout) or _within(error, ReadTimeoutError):
        return Why.READ_TIMEOUT if sent and not isinstance(error, ConnectTimeout) else Why.CONNECT_TIMEOUT
    if _within(error, NameResolutionError):
        return Why.DNS
    if _within(error, NewConnectionError):
        return Why.REFUSED
    return Why.LOST


def _within(error: BaseException | None, kind: type[BaseException]) -> bool:
    while error is not None:
        if isinstance(error, kind):
            return True
        error = error.__cause__ or error.__context__
    return False

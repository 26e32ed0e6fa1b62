"""From a live response to an answer, reading no more of it than we are willing to hold."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import requests
from requests.exceptions import ChunkedEncodingError, ContentDecodingError, SSLError

from gitlab_mcp.actions.exchange import Answer, Request
from gitlab_mcp.gitlab.faults import BadAnswer, Refused, Wrong
from gitlab_mcp.gitlab.in_flight import InFlightRequest
from gitlab_mcp.gitlab.transport import header_names_lowered

T = TypeVar("T")

LARGEST_REFUSAL = 64 * 1024
_CHUNK = 64 * 1024
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads the answer to one request, in the worker thread."""

    request: Request
    exchange: InFlightRequest
    largest: int

    def answer(self, response: requests.Response) -> Answer:
        headers = header_names_lowered(response.headers)
        if response.status_code == 304:
            return Answer(304, headers)
        self._refuse(response, headers)
        return Answer(response.status_code, headers, self._parse(response, self._whole(response)))

    def stream(
        self, response: requests.Response, read: Callable[[Iterator[bytes], Mapping[str, str]], T]
    ) -> T:
        headers = header_names_lowered(response.headers)
        self._refuse(response, headers)
        return read(self._chunks(response), headers)

    def _refuse(self, response: requests.Response, headers: dict[str, str]) -> None:
        if not 200 <= response.status_code < 300:
            raise Refused(self.request, response.status_code, headers, self._beginning(response))

    def _beginning(self, response: requests.Response) -> bytes:
        content = bytearray()
        try:
            for chunk in self._chunks(response):
                content += chunk
                if len(content) >= LARGEST_REFUSAL:
                    break
        except (BadAnswer, requests.RequestException):
            # The status is what counts.
            pass
        return bytes(content[:LARGEST_REFUSAL])

    def _whole(self, response: requests.Response) -> bytes:
        content = bytearray()
        for chunk in self._chunks(response):
            content += chunk
            if len(content) > self.largest:
                raise self._bad(response, Wrong.TOO_LARGE, self.largest)
        return bytes(content)

    def _chunks(self, response: requests.Response) -> Iterator[bytes]:
        try:
            for chunk in response.iter_content(_CHUNK):
                self.exchange.check()
                yield chunk
        except (ChunkedEncodingError, SSLError) as error:
            raise self._bad(response, Wrong.CUT_OFF) from error
        except ContentDecodingError as error:
            raise self._bad(response, Wrong.NOT_JSON) from error

    def _parse(self, response: requests.Response, content: bytes) -> Any:
        # An error page or a log may hold any bytes; JSON with a few wrong ones is still worth reading.
        text = content.decode("utf-8-sig", errors="replace")
        if not text.strip():
            return None
        try:
            parsed = json.loads(text)
        except RecursionError:
            raise self._bad(response, Wrong.NOT_JSON) from None
        except ValueError as error:
            raise self._bad(response, _what_it_is(response, text, error)) from None
        return _without_lone_surrogates(parsed) if "\\ud" in text.lower() else parsed

    def _bad(self, response: requests.Response, what: Wrong, limit: int | None = None) -> BadAnswer:
        return BadAnswer(self.request, what, response.status_code, limit)


def _what_it_is(response: requests.Response, text: str, error: ValueError) -> Wrong:
    if "html" in response.headers.get("Content-Type", "") or text.lstrip().startswith("<"):
        return Wrong.HTML
    if isinstance(error, json.JSONDecodeError) and text.lstrip()[0] in '{["':
        body = text.rstrip()
        if error.pos >= len(body) or error.msg.startswith("Unterminated") or body[-1] not in '}]"':
            return Wrong.CUT_OFF
    return Wrong.NOT_JSON


def _without_lone_surrogates(value: Any) -> Any:
    """`"\\ud800"` is legal JSON and no legal text: it would break whoever writes it out."""
    if isinstance(value, str):
        return _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", value)
    if isinstance(value, list):
        return [_without_lone_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {_without_lone_surrogates(key): _without_lone_surrogates(item) for key, item in value.items()}
    return value

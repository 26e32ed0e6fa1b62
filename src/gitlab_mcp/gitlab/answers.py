"""Turns a live HTTP response into an Answer or a fault, and limits how many bytes of the body are read."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from urllib3.exceptions import DecodeError, HTTPError, ProtocolError, SSLError

from gitlab_mcp.actions.exchange import Answer, Request
from gitlab_mcp.actions.json_text import TooDeep, measure, parse, without_lone_surrogates
from gitlab_mcp.actions.memory import HeldAnswers, TooMuch, held_answers
from gitlab_mcp.gitlab.faults import BadAnswer, BadAnswerReason, Refused
from gitlab_mcp.gitlab.in_flight import InFlightRequest
from gitlab_mcp.gitlab.transport import Incoming, with_lowercase_names

T = TypeVar("T")

MAX_REFUSAL_BYTES = 64 * 1024
_CHUNK_BYTES = 64 * 1024
_TAKEN_AT_ONCE = 256 * 1024
_MOST_VALUES_IF_DEEP = 10_000
"""What is not too deep may be cut off, which only a parser finds out. More than that is not worth it."""


@dataclass(frozen=True, slots=True)
class ResponseReader:
    """Reads the response to one request. Runs in the worker thread."""

    request: Request
    in_flight: InFlightRequest
    max_bytes: int

    def answer(self, response: Incoming) -> Answer:
        headers = with_lowercase_names(response.headers)
        if response.status == 304:
            return Answer(304, headers)
        self._raise_if_refused(response, headers)
        with held_answers() as held:
            held.note(self.request, response.status)
            try:
                body = self._body(response, held)
            except TooMuch:
                raise self._bad_answer(response, BadAnswerReason.TOO_LARGE, self.max_bytes) from None
        return Answer(response.status, headers, body)

    def stream(self, response: Incoming, read: Callable[[Iterator[bytes], Mapping[str, str]], T]) -> T:
        headers = with_lowercase_names(response.headers)
        self._raise_if_refused(response, headers)
        with held_answers() as held:
            held.note(self.request, response.status)
            return read(self._chunks(response), headers)

    def _raise_if_refused(self, response: Incoming, headers: dict[str, str]) -> None:
        if not 200 <= response.status < 300:
            raise Refused(self.request, response.status, headers, self._read_beginning(response))

    def _read_beginning(self, response: Incoming) -> bytes:
        content = bytearray()
        try:
            for chunk in self._chunks(response):
                content += chunk
                if len(content) >= MAX_REFUSAL_BYTES:
                    break
        except (BadAnswer, HTTPError):
            # A refusal without its whole body is still a refusal: the status decides.
            pass
        return bytes(content[:MAX_REFUSAL_BYTES])

    def _body(self, response: Incoming, held: HeldAnswers) -> Any:
        """The parsed body. Its memory is taken before it is used."""
        content, taken = bytearray(), 0
        for chunk in self._chunks(response):
            content += chunk
            if len(content) > self.max_bytes:
                raise self._bad_answer(response, BadAnswerReason.TOO_LARGE, self.max_bytes)
            if len(content) > taken:
                held.take(_TAKEN_AT_ONCE, self.in_flight.raise_if_aborted)
                taken += _TAKEN_AT_ONCE
        size = measure(content)
        if size.deep and size.values > _MOST_VALUES_IF_DEEP:
            raise self._bad_answer(response, BadAnswerReason.UNEXPECTED_SHAPE)
        # What was taken for reading is one of the copies that are counted now.
        held.take(max(0, size.memory - taken), self.in_flight.raise_if_aborted)
        return self._parse(response, content, deep=size.deep)

    def _chunks(self, response: Incoming) -> Iterator[bytes]:
        try:
            for chunk in response.stream(_CHUNK_BYTES, decode_content=True):
                self.in_flight.raise_if_aborted()
                yield chunk
        except (ProtocolError, SSLError) as error:
            raise self._bad_answer(response, BadAnswerReason.CUT_OFF) from error
        except DecodeError as error:
            raise self._bad_answer(response, BadAnswerReason.NOT_JSON) from error

    def _parse(self, response: Incoming, content: bytearray, *, deep: bool) -> Any:
        # JSON with a few bytes that are not UTF-8 is still worth reading.
        text = content.decode("utf-8-sig", errors="replace")
        may_hold_surrogates = b"\\ud" in content or b"\\uD" in content
        content.clear()
        if not text.strip():
            return None
        try:
            parsed = parse(text, deep=deep)
        except TooDeep:
            raise self._bad_answer(response, BadAnswerReason.UNEXPECTED_SHAPE) from None
        except ValueError as error:
            raise self._bad_answer(response, _why_not_parsed(response, text, error)) from None
        return without_lone_surrogates(parsed) if may_hold_surrogates else parsed

    def _bad_answer(self, response: Incoming, reason: BadAnswerReason, limit: int | None = None) -> BadAnswer:
        return BadAnswer(self.request, reason, response.status, limit)


def _why_not_parsed(response: Incoming, text: str, error: ValueError) -> BadAnswerReason:
    if "html" in response.headers.get("Content-Type", "") or text.lstrip().startswith("<"):
        return BadAnswerReason.HTML
    if isinstance(error, json.JSONDecodeError) and text.lstrip()[0] in '{["':
        body = text.rstrip()
        if error.pos >= len(body) or error.msg.startswith("Unterminated") or body[-1] not in '}]"':
            return BadAnswerReason.CUT_OFF
    return BadAnswerReason.NOT_JSON

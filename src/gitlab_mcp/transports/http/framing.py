"""Refuses requests that a proxy before us may have read in another way than we do, so that nobody hides one request
inside of another; and leaves a body unread until it is wanted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import h11

MAX_HEAD_BYTES: Final = 32 * 1024
_MAX_CHUNKS: Final = 10_000
"""Of one body. Each costs us far more work than it costs the client to send."""

Event = h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]


@dataclass(frozen=True, slots=True)
class Malformed:
    """What is wrong with a request, and the status for it."""

    what: str
    status: int = 400


_UNREADABLE: Final = Malformed("it is not HTTP/1.1 as RFC 9112 describes it")
_TWO_LENGTHS: Final = Malformed("it has both Content-Length and Transfer-Encoding")
_CHUNKED_1_0: Final = Malformed("it is HTTP/1.0 and has a Transfer-Encoding")
_BARE_LINE_END: Final = Malformed("a line of its head does not end in CRLF")
_FOLDED: Final = Malformed("a header goes on in a second line")
_TARGET: Final = Malformed("what it asks for is not a path that begins with /")
_TINY_CHUNKS: Final = Malformed(f"its body comes in more than {_MAX_CHUNKS} chunks")
_CODING: Final = Malformed("its Transfer-Encoding is not chunked", 501)
LONG_HEAD: Final = Malformed(f"its head is longer than {MAX_HEAD_BYTES} bytes", 431)


class StrictConnection(h11.Connection):
    def __init__(self) -> None:
        super().__init__(h11.SERVER, MAX_HEAD_BYTES)
        self.body_wanted = True
        """While it is false, the body stays unparsed."""
        self.malformed: Malformed | None = None
        """Why the last request was refused."""
        self.method = b""
        self._chunks = 0

    @property
    def unread(self) -> bool:
        return bool(self.trailing_data[0])

    @property
    def request_received(self) -> bool:
        """Whether the whole request has come, with its body."""
        return self.their_state not in (h11.IDLE, h11.SEND_BODY, h11.ERROR)

    def next_event(self) -> Event:
        """RemoteProtocolError for a malformed request; `malformed` then says why."""
        try:
            return self._next_event()
        except h11.RemoteProtocolError as error:
            by_status = {431: LONG_HEAD, 501: _CODING}
            self.malformed = self.malformed or by_status.get(error.error_status_hint, _UNREADABLE)
            raise

    def _next_event(self) -> Event:
        if self.their_state is h11.IDLE:
            self._check_head(self.trailing_data[0])
        elif self.their_state is h11.SEND_BODY and not self.body_wanted:
            return h11.NEED_DATA
        event = super().next_event()
        if isinstance(event, h11.Request):
            self.method = event.method
            self._chunks = 0
            self._check_request(event)
        elif isinstance(event, h11.Data) and event.chunk_start:
            self._chunks += 1
            if self._chunks > _MAX_CHUNKS:
                self._refuse(_TINY_CHUNKS)
        return event

    def _check_head(self, received: bytes) -> None:
        ends = [end for blank in (b"\n\r\n", b"\n\n") if (end := received.find(blank)) >= 0]
        if not ends:
            # A head that never ends is noticed by h11.
            return
        head = received[: min(ends) + 1]
        if len(head) > MAX_HEAD_BYTES:
            self._refuse(LONG_HEAD)
        lines = head.count(b"\r\n")
        if (
            lines != head.count(b"\n")
            or lines != head.count(b"\r")
            or received.startswith(b"\n\n", min(ends))
        ):
            self._refuse(_BARE_LINE_END)
        if b"\n " in head or b"\n\t" in head:
            self._refuse(_FOLDED)

    def _check_request(self, request: h11.Request) -> None:
        if request.http_version not in (b"1.0", b"1.1"):
            self._refuse(_UNREADABLE)
        headers = dict(request.headers)
        chunked = b"transfer-encoding" in headers
        if chunked and b"content-length" in headers:
            self._refuse(_TWO_LENGTHS)
        if chunked and request.http_version < b"1.1":
            self._refuse(_CHUNKED_1_0)
        if not request.target.startswith(b"/"):
            self._refuse(_TARGET)
        self.body_wanted = not chunked and int(headers.get(b"content-length", b"0")) == 0

    def _refuse(self, malformed: Malformed) -> None:
        self.malformed = malformed
        raise h11.RemoteProtocolError(malformed.what, malformed.status)

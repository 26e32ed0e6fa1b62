"""One HTTP connection: how long it waits for its client, when it is closed, and how without losing an answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import h11
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import STATUS_PHRASES, H11Protocol

from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import Failure
from gitlab_mcp.transports.http.admission import Admission
from gitlab_mcp.transports.http.cancel_on_disconnect import Client
from gitlab_mcp.transports.http.client_address import counted_as
from gitlab_mcp.transports.http.framing import LONG_HEAD, MAX_HEAD_BYTES, Malformed, StrictConnection
from gitlab_mcp.transports.http.rejection import Rejected

_LATE_REQUEST_SECONDS: Final = 0.2
"""Seconds in which a request that the client was sending when we stopped can still arrive."""
_LINGER_SECONDS: Final = 5.0
_LINGER_BYTES: Final = 64 * 1024 * 1024
"""What a client may still send after its answer. It is thrown away."""
_READ_AT_ONCE: Final = 64 * 1024
"""Bytes. What is read before anybody looked at the request is bounded by it."""
_SENT_AT_ONCE: Final = 64 * 1024
HEALTH_PATHS: Final = ("/healthz", "/readyz")


@dataclass(frozen=True, slots=True)
class ConnectionRules:
    """What all connections of a server share."""

    client_timeout: float
    """Seconds to send the head of a request, to send its body, and to take the next part of an answer."""
    admission: Admission
    refusal: Callable[[Rejected, Headers], Response]
    """Records a refusal, and gives the answer to it."""


class Connection(H11Protocol):
    def __init__(self, rules: ConnectionRules, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.conn: StrictConnection = StrictConnection()
        self.peer = ""
        self._rules = rules
        self._served_app = self.app
        self.app = self._serve
        self._no_place: Rejected | None = None
        self._timed: str | None = None
        """What the timer is for: `head` or `body`."""
        self._timer: asyncio.TimerHandle | None = None
        self._write_timer: asyncio.TimerHandle | None = None
        self._linger_timer: asyncio.TimerHandle | None = None
        self._still_read = 0
        self._idle = True
        """Whether nothing of the next request has come."""
        self._served: Client | None = None
        """Whose request is being worked on."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        transport.max_size = _READ_AT_ONCE  # type: ignore[attr-defined]
        super().connection_made(_ClosedGently(transport, self))  # type: ignore[arg-type]
        host = self.client[0] if self.client else ""
        self.peer = counted_as(host)
        self._no_place = self._rules.admission.admit(self, host)
        self._start_timer("head")
        self._rules.admission.waits(self)

    def data_received(self, data: bytes) -> None:
        if self._linger_timer is not None:
            self._still_read += len(data)
            if self._still_read > _LINGER_BYTES:
                self.transport.abort()
            return
        self._idle = False
        waits = self._body_waits
        super().data_received(data)
        # Not before the first of it: most bodies come with their head, and are wanted at once.
        if waits and self._body_waits:
            self.flow.pause_reading()
        self._note_state()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._note_state()

    def connection_lost(self, exc: Exception | None) -> None:
        self._rules.admission.forget(self)
        self._hang_up()
        self._stop_timer()
        for timer in (self._write_timer, self._linger_timer):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        super().pause_writing()
        # `close` would wait until the client has taken the rest.
        self._write_timer = self.loop.call_later(self._rules.client_timeout, self.transport.abort)

    def resume_writing(self) -> None:
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None
        super().resume_writing()

    def timeout_keep_alive_handler(self) -> None:
        if self.transport.get_write_buffer_size():
            self.transport.abort()
        super().timeout_keep_alive_handler()

    def shutdown(self) -> None:
        if self.cycle is None or self.cycle.response_complete:
            # The next request may be in the socket already. Closing now would lose it.
            self.loop.call_later(_LATE_REQUEST_SECONDS, self._shutdown_unless_closing)
        else:
            super().shutdown()

    def send_400_response(self, msg: str) -> None:
        """Called by uvicorn for every request that h11 does not accept."""
        self._refuse(_malformed(self.conn.malformed))

    def give_up(self, rejected: Rejected) -> None:
        """Called when the place is needed for another connection."""
        if not self._idle and not self.lingers:
            self._answer(rejected)
        self.transport.close_now()  # type: ignore[attr-defined]

    def closed_gently(self, transport: asyncio.Transport) -> None:
        """To close a connection with unread data is to reset it, and the client might not get to read the answer. So
        we end our side first, and read for a while."""
        if self._linger_timer is not None or transport.is_closing():
            return
        if self._idle or self.conn.request_received or transport.get_extra_info("ssl_object"):
            transport.close()
            return
        self._stop_timer()
        self._linger_timer = self.loop.call_later(
            min(_LINGER_SECONDS, self._rules.client_timeout), transport.abort
        )
        self._rules.admission.waits(self)
        transport.write_eof()
        transport.resume_reading()

    @property
    def lingers(self) -> bool:
        return self._linger_timer is not None

    @property
    def _body_waits(self) -> bool:
        """Whether the body of a request comes that nobody has asked for yet."""
        return not self.conn.body_wanted and self.conn.their_state is h11.SEND_BODY

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """What uvicorn calls for each request."""
        headers = Headers(scope=scope)
        transport: _ClosedGently = self.transport  # type: ignore[assignment]

        async def receive_body() -> Message:
            self._want_body()
            return await receive()

        async def send_and_close_if_needed(message: Message) -> None:
            if message["type"] != "http.response.start":
                await send(message)
                transport.release()
                return
            answer = MutableHeaders(raw=message.setdefault("headers", []))
            if not self._has_whole_request(headers):
                answer["Connection"] = "close"
            if "content-length" in answer:
                transport.hold()
            await send(message)

        try:
            if self._no_place is not None and scope["path"] not in HEALTH_PATHS:
                raise self._no_place
            host = self.client[0] if self.client else ""
            with self._rules.admission.request_from(self, host, headers) as address:
                self._served = Client()
                scope["state"].update(client_address=address, client=self._served)
                await self._served_app(scope, receive_body, send_and_close_if_needed)
        except Rejected as rejected:
            response = self._rules.refusal(rejected, headers)
            response.headers["Connection"] = "close"
            await response(scope, receive_body, send_and_close_if_needed)

    def _hang_up(self) -> None:
        if self._served is not None:
            self._served.hang_up()

    def _want_body(self) -> None:
        if not self.conn.body_wanted and self._linger_timer is None:
            self.conn.body_wanted = True
            self.handle_events()
            self._note_state()

    def _has_whole_request(self, headers: Headers) -> bool:
        """Where a body that nobody wanted has come already, it is taken, so that the connection can be kept."""
        come = len(self.conn.trailing_data[0])
        if not self.conn.body_wanted and int(headers.get("content-length", come + 1)) <= come:
            self._want_body()
        return self.conn.request_received

    def _note_state(self) -> None:
        """Start or stop the timer, and tell who waits for whom."""
        if self._linger_timer is not None or self.transport.is_closing():
            return
        state = self.conn.their_state
        if state is h11.IDLE:
            self._idle = not self.conn.unread
        in_body = state is h11.SEND_BODY and self.conn.body_wanted
        if in_body:
            self._start_timer("body")
        elif state is h11.IDLE and not self._idle:
            self._start_timer("head")
        else:
            self._stop_timer()
        if in_body or state is h11.IDLE:
            self._rules.admission.waits(self)
        else:
            self._rules.admission.works(self)

    def _start_timer(self, what: str) -> None:
        if self._timed != what:
            self._stop_timer()
            self._timed = what
            self._timer = self.loop.call_later(self._rules.client_timeout, self._too_late)

    def _stop_timer(self) -> None:
        self._timed = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _too_late(self) -> None:
        if self._idle:
            self.transport.close()
        else:
            self._refuse(_too_slow(self._rules.client_timeout))

    def _refuse(self, rejected: Rejected) -> None:
        if self._answer(rejected):
            self.transport.close()
        else:
            # An answer is under way, and what comes after it would be taken for a part of it.
            self.transport.abort()

    def _answer(self, rejected: Rejected) -> bool:
        """Answer in place of the application. False where it is too late for that."""
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
            self._hang_up()
        response = self._rules.refusal(rejected, Headers(raw=[]))
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            return False
        headers = [*response.raw_headers, (b"connection", b"close")]
        body = b"" if self.conn.method == b"HEAD" else bytes(response.body)
        for event in (
            h11.Response(
                status_code=rejected.status, headers=headers, reason=STATUS_PHRASES[rejected.status]
            ),
            h11.Data(data=body),
            h11.EndOfMessage(),
        ):
            self.transport.write(self.conn.send(event) or b"")
        return True

    def _shutdown_unless_closing(self) -> None:
        if not self.transport.is_closing():
            super().shutdown()

    def _unsupported_upgrade_warning(self) -> None:
        """Nothing here can be upgraded, and a client that asks for it is answered as if it had not."""


class _ClosedGently:
    """The transport as uvicorn sees it."""

    def __init__(self, transport: asyncio.Transport, connection: Connection) -> None:
        self._transport = transport
        self._connection = connection
        self._held: bytes | None = None

    def write(self, data: bytes) -> None:
        if self._held is None:
            self._transport.write(data)
        elif len(self._held) + len(data) <= _SENT_AT_ONCE:
            self._held += data
        else:
            self.release()
            self._transport.write(data)

    def hold(self) -> None:
        """The head of an answer waits for its body, so that both leave in one packet."""
        self._held = b""

    def release(self) -> None:
        if self._held is not None:
            self._transport.write(self._held)
            self._held = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def is_closing(self) -> bool:
        return self._connection.lingers or self._transport.is_closing()

    def close(self) -> None:
        self.release()
        self._connection.closed_gently(self._transport)

    def close_now(self) -> None:
        self._transport.close()


def _malformed(why: Malformed | None) -> Rejected:
    assert why is not None
    if why is LONG_HEAD:
        failure = Failure(Code.PAYLOAD_TOO_LARGE, "The head of the request is longer than this server takes.")
        failure = failure.knowing(
            limit=MAX_HEAD_BYTES,
            limit_type="head_size",
            unit="bytes",
            suggested_fix=f"Send at most {MAX_HEAD_BYTES} bytes of headers.",
        )
    else:
        failure = Failure(Code.INVALID_ENCODING, f"The request is refused: {why.what}. Nothing was done.")
        failure = failure.knowing(
            location="request",
            confidence="certain",
            suggested_fix="Send plain HTTP/1.1 with one Content-Length, or with Transfer-Encoding: chunked.",
        )
    return Rejected(failure, why.status)


def _too_slow(seconds: float) -> Rejected:
    failure = Failure(Code.NETWORK_ERROR, "The request did not arrive in time.").knowing(
        limit=seconds, unit="seconds", suggested_fix="Send the request again, without pauses in it."
    )
    return Rejected(failure, 408)

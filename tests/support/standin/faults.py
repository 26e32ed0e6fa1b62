"""What can go wrong between a client and GitLab."""

from __future__ import annotations

import itertools
import threading
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from tests.support.standin.exchange import Reply

MEGABYTE = 1_000_000


class Connection(Protocol):
    """The connection on which one request came in."""

    def answer(self) -> Reply:
        """Carry the request out and return the reply to it, without sending it."""
        ...

    def send(self, reply: Reply) -> None: ...

    def stream(self, status: int, headers: Mapping[str, str], chunks: Iterator[bytes]) -> None:
        """Send a chunked, synthetic reply."""
        ...

    def write(self, data: bytes) -> None: ...

    def drop(self, *, reset: bool = False) -> None: ...

    def wait(self, seconds: float | None = None) -> None:
        """Until the time is over, the client disconnects, or the stand-in stops."""
        ...


class Fault(Protocol):
    def play(self, connection: Connection) -> None: ...


@dataclass(frozen=True, slots=True)
class Drop:
    """The connection breaks before the request is read. Nothing is carried out."""

    reset: bool = False

    def play(self, connection: Connection) -> None:
        connection.drop(reset=self.reset)


@dataclass(frozen=True, slots=True)
class LoseAnswer:
    """The request is carried out, and the connection breaks before the answer is sent."""

    reset: bool = False

    def play(self, connection: Connection) -> None:
        connection.answer()
        connection.drop(reset=self.reset)


@dataclass(frozen=True, slots=True)
class Delay:
    seconds: float

    def play(self, connection: Connection) -> None:
        connection.wait(self.seconds)
        connection.send(connection.answer())


@dataclass(frozen=True, slots=True)
class Together:
    """No answer before so many requests wait for one."""

    all_here: threading.Barrier

    @classmethod
    def of(cls, requests: int) -> Together:
        return cls(threading.Barrier(requests, timeout=15))

    def play(self, connection: Connection) -> None:
        self.all_here.wait()
        connection.send(connection.answer())


@dataclass(frozen=True, slots=True)
class Held:
    """No answer before it is let go."""

    released: threading.Event = field(default_factory=threading.Event)

    def let_go(self) -> None:
        self.released.set()

    def play(self, connection: Connection) -> None:
        self.released.wait(15)
        connection.send(connection.answer())


@dataclass(frozen=True, slots=True)
class Silence:
    """The request is read and, if `done`, carried out. It is never answered."""

    done: bool = False

    def play(self, connection: Connection) -> None:
        if self.done:
            connection.answer()
        connection.wait()
        connection.drop()


@dataclass(frozen=True, slots=True)
class ReplyWith:
    """This reply. The request is not carried out."""

    reply: Reply

    def play(self, connection: Connection) -> None:
        connection.send(self.reply)


@dataclass(frozen=True, slots=True)
class CutShort:
    """Half of the answer. If `promised`, all of its length was announced and the connection breaks; otherwise
    it is well-formed HTTP around broken JSON."""

    promised: bool = False

    def play(self, connection: Connection) -> None:
        reply = connection.answer()
        half = reply.with_body(reply.body[: len(reply.body) // 2])
        if self.promised:
            connection.send(
                Reply(half.status, half.body, {**half.headers, "Content-Length": str(len(reply.body))})
            )
            connection.drop()
        else:
            connection.send(half)


@dataclass(frozen=True, slots=True)
class Stall:
    """Half of the answer. The rest is never sent, and the connection stays open."""

    def play(self, connection: Connection) -> None:
        reply = connection.answer()
        connection.send(
            Reply(
                reply.status,
                reply.body[: len(reply.body) // 2],
                {**reply.headers, "Content-Length": str(len(reply.body))},
            )
        )
        connection.wait()
        connection.drop()


@dataclass(frozen=True, slots=True)
class NotUtf8:
    """The answer in UTF-16, announced as UTF-8."""

    def play(self, connection: Connection) -> None:
        reply = connection.answer()
        connection.send(reply.with_body(reply.body.decode().encode("utf-16")))


@dataclass(frozen=True, slots=True)
class GzipBomb:
    """A few kilobytes that decompress to many megabytes of JSON."""

    megabytes: int = 1000

    def play(self, connection: Connection) -> None:
        headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
        connection.stream(200, headers, self._compressed())

    def _compressed(self) -> Iterator[bytes]:
        compressor = zlib.compressobj(9, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
        yield compressor.compress(b'["')
        for _ in range(self.megabytes):
            yield compressor.compress(b"0" * MEGABYTE)
        yield compressor.compress(b'"]') + compressor.flush()


@dataclass(frozen=True, slots=True)
class LogOf:
    """A job log of about this size, made as it is sent. One line in a thousand is an error."""

    megabytes: int

    def play(self, connection: Connection) -> None:
        connection.stream(
            200, {"Content-Type": "text/plain"}, itertools.islice(self._blocks(), self.megabytes)
        )

    def _blocks(self) -> Iterator[bytes]:
        plain = b"\x1b[0Kstep %08d: nothing to see here, all is well so far\r\n"
        per_block = MEGABYTE // len(plain % 0)
        for block in itertools.count():
            lines = [plain % (block * per_block + number) for number in range(per_block)]
            lines[::1000] = [b"ERROR: something broke in block %d\n" % block] * len(lines[::1000])
            yield b"".join(lines)


@dataclass(frozen=True, slots=True)
class EndlessHeaders:
    """Not HTTP at all: a header line without an end."""

    def play(self, connection: Connection) -> None:
        connection.write(b"HTTP/1.1 200 OK\r\nX-Endless: " + b"a" * 200_000)
        connection.drop()


def server_error(status: int = 500) -> ReplyWith:
    names = {500: "500 Internal Server Error", 502: "502 Bad Gateway", 504: "504 Gateway Timeout"}
    return ReplyWith(Reply.of(status, {"message": names.get(status, f"{status} Server Error")}))


def maintenance() -> ReplyWith:
    return ReplyWith(Reply.of(503, "GitLab is under maintenance.", {"Content-Type": "text/html"}))


def rate_limited(retry_after: str | None = None, **headers: Any) -> ReplyWith:
    """The body as recorded; GitLab 17.2 sent no header with it, newer ones and proxies do."""
    fields = {name.replace("_", "-"): str(value) for name, value in headers.items()}
    if retry_after is not None:
        fields["Retry-After"] = retry_after
    message = {"error": "This endpoint has been requested too many times. Try again later."}
    return ReplyWith(Reply.of(429, {"message": message}, fields))


def login_page() -> ReplyWith:
    return ReplyWith(
        _page(200, "Sign in", '<form action="/users/sign_in"><input name="user[password]"></form>')
    )


def forbidden_page() -> ReplyWith:
    return ReplyWith(
        _page(403, "Just a moment...", "<p>Checking your browser before accessing this site.</p>")
    )


def redirect(to: str, status: int = 302) -> ReplyWith:
    return ReplyWith(Reply.of(status, None, {"Location": to}))


def _page(status: int, title: str, inside: str) -> Reply:
    page = f"<!DOCTYPE html><html><head><title>{title}</title></head><body>{inside}</body></html>"
    return Reply.of(status, page, {"Content-Type": "text/html; charset=utf-8"})

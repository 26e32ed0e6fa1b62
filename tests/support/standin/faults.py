"""What can go wrong between a client and GitLab. Each fault plays itself on the line it is given."""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from tests.support.standin.exchange import Reply

MEGABYTE = 1_000_000


class Line(Protocol):
    """The connection on which one request came in."""

    def answer(self) -> Reply:
        """What would be said without the fault. Whatever the request asks for is done."""
        ...

    def send(self, reply: Reply) -> None: ...

    def stream(self, status: int, headers: Mapping[str, str], chunks: Iterator[bytes]) -> None:
        """Chunked, and synthetic."""
        ...

    def write(self, data: bytes) -> None: ...

    def drop(self, *, reset: bool = False) -> None: ...

    def wait(self, seconds: float | None = None) -> None:
        """Until the time is over, the client hangs up, or the stand-in stops."""
        ...


class Fault(Protocol):
    def play(self, line: Line) -> None: ...


@dataclass(frozen=True, slots=True)
class Drop:
    """The connection breaks before the request is read: nothing is done."""

    reset: bool = False

    def play(self, line: Line) -> None:
        line.drop(reset=self.reset)


@dataclass(frozen=True, slots=True)
class LoseAnswer:
    """GitLab does what was asked, and the connection breaks before it says so."""

    reset: bool = False

    def play(self, line: Line) -> None:
        line.answer()
        line.drop(reset=self.reset)


@dataclass(frozen=True, slots=True)
class Delay:
    seconds: float

    def play(self, line: Line) -> None:
        line.wait(self.seconds)
        line.send(line.answer())


@dataclass(frozen=True, slots=True)
class Silence:
    """The request is read (and, if `done`, carried out), and nothing ever comes back."""

    done: bool = False

    def play(self, line: Line) -> None:
        if self.done:
            line.answer()
        line.wait()
        line.drop()


@dataclass(frozen=True, slots=True)
class Say:
    """This reply, and nothing is done."""

    reply: Reply

    def play(self, line: Line) -> None:
        line.send(self.reply)


@dataclass(frozen=True, slots=True)
class CutShort:
    """Half of the answer. If `promised`, all of its length was announced and the connection breaks; otherwise
    it is well-formed HTTP around broken JSON."""

    promised: bool = False

    def play(self, line: Line) -> None:
        reply = line.answer()
        half = reply.saying(reply.body[: len(reply.body) // 2])
        if self.promised:
            line.send(Reply(half.status, half.body, {**half.headers, "Content-Length": str(len(reply.body))}))
            line.drop()
        else:
            line.send(half)


@dataclass(frozen=True, slots=True)
class Stall:
    """Half of the answer, and then nothing."""

    def play(self, line: Line) -> None:
        reply = line.answer()
        line.send(
            Reply(
                reply.status,
                reply.body[: len(reply.body) // 2],
                {**reply.headers, "Content-Length": str(len(reply.body))},
            )
        )
        line.wait()
        line.drop()


@dataclass(frozen=True, slots=True)
class NotUtf8:
    """The answer in UTF-16, announced as UTF-8."""

    def play(self, line: Line) -> None:
        reply = line.answer()
        line.send(reply.saying(reply.body.decode().encode("utf-16")))


@dataclass(frozen=True, slots=True)
class GzipBomb:
    """A few kilobytes that unpack to many megabytes of JSON."""

    megabytes: int = 1000

    def play(self, line: Line) -> None:
        headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
        line.stream(200, headers, self._packed())

    def _packed(self) -> Iterator[bytes]:
        packer = zlib.compressobj(9, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
        yield packer.compress(b'["')
        for _ in range(self.megabytes):
            yield packer.compress(b"0" * MEGABYTE)
        yield packer.compress(b'"]') + packer.flush()


@dataclass(frozen=True, slots=True)
class LogOf:
    """A job log of about this size, made as it is sent. One line in a thousand is an error."""

    megabytes: int

    def play(self, line: Line) -> None:
        line.stream(200, {"Content-Type": "text/plain"}, itertools.islice(self._blocks(), self.megabytes))

    def _blocks(self) -> Iterator[bytes]:
        quiet = b"\x1b[0Kstep %08d: nothing to see here, all is well so far\r\n"
        per_block = MEGABYTE // len(quiet % 0)
        for block in itertools.count():
            lines = [quiet % (block * per_block + number) for number in range(per_block)]
            lines[::1000] = [b"ERROR: something broke in block %d\n" % block] * len(lines[::1000])
            yield b"".join(lines)


@dataclass(frozen=True, slots=True)
class EndlessHeaders:
    """Not HTTP at all: a header line without an end."""

    def play(self, line: Line) -> None:
        line.write(b"HTTP/1.1 200 OK\r\nX-Endless: " + b"a" * 200_000)
        line.drop()


def server_error(status: int = 500) -> Say:
    names = {500: "500 Internal Server Error", 502: "502 Bad Gateway", 504: "504 Gateway Timeout"}
    return Say(Reply.of(status, {"message": names.get(status, f"{status} Server Error")}))


def maintenance() -> Say:
    return Say(Reply.of(503, "GitLab is under maintenance.", {"Content-Type": "text/html"}))


def rate_limited(retry_after: str | None = None, **headers: Any) -> Say:
    """The body as recorded; GitLab 17.2 sent no header with it, newer ones and proxies do."""
    said = {name.replace("_", "-"): str(value) for name, value in headers.items()}
    if retry_after is not None:
        said["Retry-After"] = retry_after
    message = {"error": "This endpoint has been requested too many times. Try again later."}
    return Say(Reply.of(429, {"message": message}, said))


def login_page() -> Say:
    return Say(_page(200, "Sign in", '<form action="/users/sign_in"><input name="user[password]"></form>'))


def forbidden_page() -> Say:
    return Say(_page(403, "Just a moment...", "<p>Checking your browser before accessing this site.</p>"))


def redirect(to: str, status: int = 302) -> Say:
    return Say(Reply.of(status, None, {"Location": to}))


def _page(status: int, title: str, inside: str) -> Reply:
    page = f"<!DOCTYPE html><html><head><title>{title}</title></head><body>{inside}</body></html>"
    return Reply.of(status, page, {"Content-Type": "text/html; charset=utf-8"})

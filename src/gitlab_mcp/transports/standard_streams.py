"""Standard input and output for the protocol alone: whatever else reads or prints meanwhile does not touch them."""

from __future__ import annotations

import os
import select
import sys
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable

_AT_ONCE_READ: Final = 64 * 1024
_AT_ONCE: Final = getattr(select, "PIPE_BUF", 512)
"""As much as a pipe that can take anything takes without waiting."""


class StandardStreams:
    """Inside of `with`, what others read is empty and what they print goes to standard error."""

    lines: Lines
    """What the client writes."""

    def __enter__(self) -> StandardStreams:
        self._in, self._out = os.dup(0), os.dup(1)
        if sys.platform == "win32":
            import msvcrt

            # Else it writes two characters at the end of a line.
            msvcrt.setmode(self._out, os.O_BINARY)
        _point(0, lambda: os.open(os.devnull, os.O_RDONLY))
        _point(1, lambda: os.dup(2))
        # Never closed: a thread may still wait for a line.
        self.lines = Lines(self._in)
        return self

    def __exit__(self, *_: Any) -> None:
        os.dup2(self._in, 0)
        os.dup2(self._out, 1)

    def write(self, line: bytes | memoryview) -> None:
        """Waits until the client has taken all of it."""
        rest = memoryview(line)
        while rest:
            rest = rest[os.write(self._out, rest) :]

    def write_at_once(self, line: bytes) -> memoryview:
        """Write what the client takes without waiting, and return the rest. On Windows nobody can tell, so nothing is
        written."""
        rest = memoryview(line)
        while rest and self._takes_more():
            rest = rest[os.write(self._out, rest[:_AT_ONCE]) :]
        return rest

    def _takes_more(self) -> bool:
        if sys.platform == "win32":
            return False
        return bool(select.select([], [self._out], [], 0)[1])


class Lines:
    """The lines of a file. One can wait for the next without reading it."""

    def __init__(self, file: int) -> None:
        self._file = file
        self._read = bytearray()
        self._searched = 0
        """The bytes of it in which no line ends."""

    def __iter__(self) -> Lines:
        return self

    def __next__(self) -> bytes:
        while (end := self._read.find(b"\n", self._searched)) < 0:
            self._searched = len(self._read)
            more = os.read(self._file, _AT_ONCE_READ)
            if not more:
                end = len(self._read)
                break
            self._read += more
        line = bytes(self._read[: end + 1])
        del self._read[: end + 1]
        self._searched = 0
        if not line:
            raise StopIteration
        return line

    def come_before(self, other: int) -> bool:
        """Waits until there is something to read here, or in the other file. On Windows nobody can tell, so it is
        always here."""
        if sys.platform == "win32" or b"\n" in self._read:
            return True
        return self._file in select.select([self._file, other], [], [])[0]


def _point(stream: int, elsewhere: Callable[[], int]) -> None:
    try:
        other = elsewhere()
    except OSError:
        # Standard error is closed.
        other = os.open(os.devnull, os.O_RDWR)
    os.dup2(other, stream)
    os.close(other)

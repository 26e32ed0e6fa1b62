"""A limit of time far above what is needed and far below what unbounded work would take."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def in_seconds(most: float = 10.0) -> Iterator[None]:
    """Fails what runs longer, also in the middle of a regular expression."""

    def too_long(*_: Any) -> None:
        raise AssertionError(f"not done within {most} seconds")

    before = signal.signal(signal.SIGALRM, too_long)
    signal.setitimer(signal.ITIMER_REAL, most)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)

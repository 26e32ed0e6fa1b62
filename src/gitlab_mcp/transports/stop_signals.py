"""The signals that ask a server to stop, on every system."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Any, Final

STOP_SIGNALS: Final = tuple(
    getattr(signal, name) for name in ("SIGTERM", "SIGINT", "SIGBREAK") if hasattr(signal, name)
)
"""SIGBREAK is Windows' own: Ctrl-Break, and what a parent there can send."""


class StopSignals:
    """Inside of `with`, `told` is called in the running event loop for each of them."""

    def __init__(self, told: Callable[[], object]) -> None:
        self._told = told
        self._before: dict[int, Any] = {}

    def __enter__(self) -> StopSignals:
        import asyncio

        loop = asyncio.get_running_loop()
        for each in STOP_SIGNALS:
            try:
                loop.add_signal_handler(each, self._told)
            except NotImplementedError:
                # On Windows. Its loop is woken by every signal for which Python has a handler.
                self._before[each] = signal.signal(each, lambda *_: loop.call_soon_threadsafe(self._told))
        return self

    def __exit__(self, *_: object) -> None:
        import asyncio

        for each in STOP_SIGNALS:
            if each in self._before:
                signal.signal(each, self._before[each])
            else:
                asyncio.get_running_loop().remove_signal_handler(each)

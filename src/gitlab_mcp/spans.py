"""The parts of a call that take time, named where they happen. Nobody listens unless the operator wants traces."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from contextvars import ContextVar
from typing import Final, Protocol

Attributes = Mapping[str, str | int | float | bool]


class Span(Protocol):
    """One part while it lasts. An exception that leaves it marks it as failed."""

    def note(self, attributes: Attributes) -> None:
        """Add what was found out meanwhile."""


Spans = Callable[[str, Attributes], AbstractContextManager[Span]]
"""Begins a part of the call at hand. No attribute holds what a caller or GitLab chose."""

CLIENT_TRACE: ContextVar[Mapping[str, str] | None] = ContextVar("client_trace", default=None)
"""`traceparent` and `tracestate` as the client sent them with this message: its trace goes on here."""


def trace_headers(carrier: Mapping[str, object]) -> Mapping[str, str] | None:
    """What of headers, or of a message's `_meta`, says which trace it belongs to."""
    parent, state = carrier.get("traceparent"), carrier.get("tracestate")
    if not isinstance(parent, str):
        return None
    return {"traceparent": parent, **({"tracestate": state} if isinstance(state, str) else {})}


class _Unheard:
    """A span that nobody listens to."""

    __slots__ = ()

    def __enter__(self) -> _Unheard:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def note(self, attributes: Attributes) -> None:
        return None


_UNHEARD: Final = _Unheard()


def unheard(name: str, attributes: Attributes) -> AbstractContextManager[Span]:
    return _UNHEARD

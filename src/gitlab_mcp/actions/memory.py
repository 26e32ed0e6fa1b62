"""How much memory the answers of GitLab may take that all calls under way hold together.

A call that would take more than is left waits, before it has read what it would hold. The oldest call that holds
something does not wait, so that there is always one that goes on: what is held is at most `TOTAL` and `PER_CALL`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Condition
from typing import Final

from gitlab_mcp.actions.exchange import Request

TOTAL: Final = 32 * 1024 * 1024
PER_CALL: Final = 48 * 1024 * 1024
_SECONDS_BETWEEN_LOOKS: Final = 0.1
"""A call that nobody waits for any more must not wait on."""


class TooMuch(Exception):
    """One call would hold more than `PER_CALL`."""


class Budget:
    def __init__(self, total: int = TOTAL, per_call: int = PER_CALL) -> None:
        self.total = total
        self.per_call = per_call
        self._held: dict[HeldAnswers, int] = {}
        """In the order in which the calls began to hold something."""
        self._changed = Condition()

    @property
    def in_use(self) -> int:
        return sum(self._held.values())

    def take(self, held: HeldAnswers, bytes: int, still_wanted: Callable[[], None]) -> None:
        """Blocks the thread. `still_wanted` raises where the call was given up."""
        with self._changed:
            if self._held.get(held, 0) + bytes > self.per_call:
                raise TooMuch
            while self.in_use + bytes > self.total and next(iter(self._held), held) is not held:
                still_wanted()
                self._changed.wait(_SECONDS_BETWEEN_LOOKS)
            self._held[held] = self._held.get(held, 0) + bytes

    def give_back(self, held: HeldAnswers, bytes: int | None = None) -> None:
        """All of it, where no number is given."""
        with self._changed:
            left = 0 if bytes is None else self._held.get(held, 0) - bytes
            if left > 0:
                self._held[held] = left
            else:
                self._held.pop(held, None)
            self._changed.notify_all()


class HeldAnswers:
    """The answers of GitLab that one call holds."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self.taken = 0
        """All that was ever taken: how much there is to work through."""
        self.last_answer: tuple[Request, int] | None = None
        """What was asked for, and the status."""
        self.last_write: tuple[Request, int] | None = None

    def take(self, bytes: int, still_wanted: Callable[[], None] = lambda: None) -> None:
        self._budget.take(self, bytes, still_wanted)
        self.taken += bytes

    def note(self, request: Request, status: int) -> None:
        self.last_answer = (request, status)
        if not request.reads:
            self.last_write = self.last_answer

    def give_back(self, bytes: int | None = None) -> None:
        self._budget.give_back(self, bytes)


_BUDGET: Final = Budget()
_current: ContextVar[HeldAnswers | None] = ContextVar("memory_of_call", default=None)


@contextmanager
def held_by_call(budget: Budget = _BUDGET) -> Iterator[HeldAnswers]:
    """What is read inside is held until the end of it."""
    held = HeldAnswers(budget)
    before = _current.set(held)
    try:
        yield held
    finally:
        _current.reset(before)
        held.give_back()


@contextmanager
def held_answers() -> Iterator[HeldAnswers]:
    """Those of the call that is under way; outside of one, some for as long as they are used."""
    held = _current.get()
    if held is not None:
        yield held
        return
    with held_by_call() as own:
        yield own

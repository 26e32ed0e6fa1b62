"""How dangerous an action is: by itself, and by the values it is given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final


class Danger(StrEnum):
    """From the least to the most."""

    READ = "read"
    REVERSIBLE = "reversible"
    """Can be undone by another action: create, update, close, comment."""
    DESTRUCTIVE = "destructive"
    """Something is gone afterwards, within one object: delete a branch, erase a job. Or somebody vouches for something:
    approve, report a check as passed."""
    DANGEROUS = "dangerous"
    """Reaches far: delete a project, give somebody rights, change a protected thing."""

    @property
    def rank(self) -> int:
        return _RANKS[self]


_RANKS: Final = {danger: rank for rank, danger in enumerate(Danger)}


def equals(value: Any) -> Callable[[Any], bool]:
    return lambda given: bool(given == value)


def is_another(present: Any, wanted: Any) -> bool:
    return bool(present != wanted)


@dataclass(frozen=True, slots=True)
class Risk:
    """Marks a field that makes a write more dangerous with some values."""

    danger: Danger
    values: str
    """Which values, in a word or two."""
    because: str
    """What the person is told: the end of a sentence that begins with the field and its value."""
    when: Callable[[Any], bool]
    changes: Callable[[Any, Any], bool] = is_another
    """Whether the value the thing has now makes a difference to the one that is wanted. Where it does not, nobody is
    asked."""

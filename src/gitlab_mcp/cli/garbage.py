"""When Python looks for garbage that refers to itself. All other garbage is gone at once."""

from __future__ import annotations

import gc
from typing import Final

_USUAL: Final = gc.get_threshold()
_SELDOM: Final = 100_000


def collect_seldom() -> None:
    """A start makes much and throws little away, and would be looked through again and again."""
    gc.set_threshold(_SELDOM)


def keep_what_is_there() -> None:
    """It stays until the end. Looking through it takes tens of milliseconds, of some call or of the exit."""
    gc.freeze()


def collect_as_usual() -> None:
    keep_what_is_there()
    gc.set_threshold(*_USUAL)

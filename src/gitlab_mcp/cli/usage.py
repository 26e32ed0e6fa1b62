"""A mistake on the command line, and what was most likely meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class UsageError(Exception):
    """Shown as it is, with what to write instead. What was written is repeated only where it is nearly a word of
    ours: all else may be a secret."""

    def __init__(self, wrong: str, fix: str) -> None:
        super().__init__(wrong)
        self.wrong = wrong
        self.fix = fix


def no_such(what: str, word: str, known: Iterable[str], otherwise: str) -> UsageError:
    """`otherwise` is the way out where nothing comes near."""
    near = _nearest(word, list(known))
    if near is None:
        return UsageError(f"There is no such {what}.", otherwise)
    return UsageError(f"There is no {what} {word}.", f"Did you mean {near}?")


def _nearest(word: str, known: list[str]) -> str | None:
    bare = word.lstrip("-").lower()
    named = {name.lstrip("-").lower(): name for name in known}
    close = get_close_matches(bare, named, n=1, cutoff=0.7)
    begun = [name for name in named if bare and name.startswith(bare)]
    if close or len(begun) == 1:
        return named[(close or begun)[0]]
    return None

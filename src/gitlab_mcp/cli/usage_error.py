"""A mistake on the command line, with what was most likely meant."""

from __future__ import annotations

from collections.abc import Iterable


class UsageError(Exception):
    """What is wrong and what to write instead. It repeats a word of the user only where that is close to one of ours:
    any other may be a secret."""

    def __init__(self, wrong: str, fix: str) -> None:
        super().__init__(wrong)
        self.wrong = wrong
        self.fix = fix


def no_such(what: str, word: str, known: Iterable[str], otherwise: str) -> UsageError:
    """`otherwise` is the advice where no known word is close."""
    near = _nearest(word, list(known))
    if near is None:
        return UsageError(f"There is no such {what}.", otherwise)
    return UsageError(f"There is no {what} {word}.", f"Did you mean {near}?")


def _nearest(word: str, known: list[str]) -> str | None:
    bare = word.lstrip("-").lower()
    named = {name.lstrip("-").lower(): name for name in known}
    from difflib import get_close_matches

    close = get_close_matches(bare, named, n=1, cutoff=0.7)
    begun = [name for name in named if bare and name.startswith(bare)]
    if close or len(begun) == 1:
        return named[(close or begun)[0]]
    return None

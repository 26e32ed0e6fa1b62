"""A mistake on the command line."""

from __future__ import annotations


class UsageError(Exception):
    """Shown as it is, with what to write instead; never with what was written, which may be a secret."""

    def __init__(self, wrong: str, fix: str) -> None:
        super().__init__(wrong)
        self.wrong = wrong
        self.fix = fix

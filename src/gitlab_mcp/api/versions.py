"""Versions of GitLab, compared."""

from __future__ import annotations

import re
from typing import Final

READ: Final = ("17.2", "19.3")
"""The versions whose routes were read, from old to new. Of those between two nobody knows what only one of them has."""


def version_number(version: str | None) -> tuple[int, ...]:
    """`17.2.0-pre` as (17, 2); empty where there is none."""
    return tuple(int(part) for part in re.findall(r"\d+", version)[:2]) if version else ()


def is_in(version: str, since: str | None = None, until: str | None = None) -> bool | None:
    """Whether a version has what is there since one that was read, or until one; None where it is between two."""
    number = version_number(version)
    if since and number < version_number(since):
        before = [each for each in map(version_number, READ) if each < version_number(since)]
        return False if before and number <= before[-1] else None
    if until and number > version_number(until):
        after = [each for each in map(version_number, READ) if each > version_number(until)]
        return False if after and number >= after[0] else None
    return True

"""Versions of GitLab, compared."""

from __future__ import annotations

import re
from typing import Final

READ: Final = ("17.2", "19.3")
"""The versions whose routes were read, from old to new. Of those between two nobody knows what only one of them has."""


def version_number(version: str | None) -> tuple[int, ...]:
    """`17.2.0-pre` as (17, 2); empty where there is none."""
    return tuple(int(part) for part in re.findall(r"\d+", version)[:2]) if version else ()

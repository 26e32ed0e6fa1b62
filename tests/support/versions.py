"""The GitLab versions that were recorded, and where their cassettes are."""

from __future__ import annotations

from pathlib import Path

VERSIONS = ("17.2", "19.3")
OLDEST, NEWEST = VERSIONS

ALL_CASSETTES = Path(__file__).parent.parent.parent / "cassettes"


def cassettes_of(version: str) -> Path:
    """`acme/shop`, the project that was read in depth, is in those of 17.2 alone."""
    return ALL_CASSETTES / version

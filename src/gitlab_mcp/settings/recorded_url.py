"""The GitLab that recordings were made of: while they are replayed, it is the default of `url`."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from pathlib import Path

from gitlab_mcp.recording.cassette import SeveralVersions, load_cassettes
from gitlab_mcp.settings import parsers


def recorded_url(cassettes: Iterable[Path]) -> str | None:
    """None where the recordings hold no request; ValueError where a file is no recording, SeveralVersions where a
    directory holds several."""
    try:
        exchanges = chain.from_iterable(map(load_cassettes, cassettes))
        uri = next((each.uri for each in exchanges if "/api/" in each.uri), None)
    except SeveralVersions:
        raise
    except Exception as unlike:
        # Any other file can fail in any way.
        raise ValueError from unlike
    return None if uri is None else parsers.gitlab_url(uri.partition("/api/")[0])

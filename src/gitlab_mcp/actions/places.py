"""How a rule names a place: `acme`, `acme/website`, `42` (a project), `group:7`, each with its GitLab in front where
there are several: `https://gitlab.example.com/acme`, or `gitlab.example.com/acme`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final
from urllib.parse import unquote

_GITLAB: Final = r"https?://[\w.-]+(?::\d+)?/"
_HOST_AND_PORT: Final = r"[\w.-]+:\d+/"
_NAME: Final = r"(?!\.{1,2}(?:/|$))[\w.-]+"
_PLACE: Final = re.compile(rf"(?:{_GITLAB}|{_HOST_AND_PORT})?(?:{_NAME}/)*(?:group:\d+|{_NAME})")


def parse_places(text: str) -> tuple[str, ...]:
    """From places with commas between. ValueError where one is none, and where there are none: no place at all would
    be taken for every place."""
    words = (unquote(each).strip().strip("/").lower() for each in text.split(","))
    found = tuple(dict.fromkeys(word for word in words if word))
    if not found or not all(_PLACE.fullmatch(place) for place in found):
        raise ValueError
    return found


def place_on(place: str, gitlabs: Iterable[str]) -> tuple[str | None, str]:
    """The GitLab of these that a place names, and the place there; None where it names none.

    A group may be called like a host, so only the hosts of these GitLabs are taken for one.
    """
    for gitlab in sorted(gitlabs, key=len, reverse=True):
        address = gitlab.casefold().rstrip("/")
        for prefix in (f"{address}/", f"{address.partition('://')[2]}/"):
            if place.startswith(prefix):
                return gitlab, place.removeprefix(prefix)
    return None, place


def is_elsewhere(place: str, gitlabs: Iterable[str]) -> bool:
    """Whether a place names a GitLab that is none of these."""
    named, rest = place_on(place, gitlabs)
    return named is None and ("://" in rest or ":" in rest.partition("/")[0].replace("group:", ""))

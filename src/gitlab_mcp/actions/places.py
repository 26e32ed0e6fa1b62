"""How a rule names a place: `acme`, `acme/website`, `42` (a project), `group:7`."""

from __future__ import annotations

import re

_PLACE = re.compile(r"group:\d+|[\w.-]+(/[\w.-]+)*")


def parse_places(text: str) -> tuple[str, ...]:
    """From places with commas between. ValueError where one is none."""
    words = (each.strip().strip("/").lower() for each in text.split(","))
    found = tuple(dict.fromkeys(word for word in words if word))
    if not all(_PLACE.fullmatch(place) for place in found):
        raise ValueError
    return found

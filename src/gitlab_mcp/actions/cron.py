"""Times that come back, as cron says them: minute, hour, day of the month, month, day of the week."""

from __future__ import annotations

import re
from typing import Annotated, Final

from pydantic import AfterValidator, Field

from gitlab_mcp.actions.fields import Expects, NonEmpty

_RANGES: Final = ((0, 59), (0, 24), (1, 31), (1, 12), (0, 7))
_NUMBERS: Final = re.compile(r"(?:\*|(\d{1,4})(?:-(\d{1,4}))?)(?:/(\d{1,4}))?")
_CHARACTERS: Final = re.compile(r"[0-9A-Za-z*,/#%+-]+")


def _cron(value: str) -> str:
    """GitLab reads more than numbers (names of days, L, #, %): only what is wrong everywhere is refused here."""
    fields = value.split()
    if len(fields) != len(_RANGES) or not all(map(_CHARACTERS.fullmatch, fields)):
        raise ValueError("five fields are expected")
    for field, (least, most) in zip(fields, _RANGES, strict=True):
        for part in field.split(","):
            numbers = _NUMBERS.fullmatch(part)
            if not part or (part.isdecimal() and numbers is None):
                raise ValueError("a number is out of range")
            if numbers is None:
                continue
            first, last, step = (int(each) if each else None for each in numbers.groups())
            if any(each is not None and not least <= each <= most for each in (first, last)) or step == 0:
                raise ValueError("a number is out of range")
    return " ".join(fields)


Cron = Annotated[
    str,
    Field(max_length=200, description="Like 0 3 * * 1-5"),
    AfterValidator(_cron),
    Expects("five cron fields like 0 3 * * 1-5: minute, hour, day, month, weekday"),
]
TimeZone = Annotated[NonEmpty, Field(max_length=100), Expects("a time zone like Europe/Berlin")]

"""The vocabulary of fields: what a name means, in every tool alike.

A field is an annotated type. Its description is the sentence an agent reads; leave it out where the name
says it all. Marks beside it: `Sent` when GitLab calls it something else, `Csv` when GitLab wants commas,
`Needs` when the field alone is paid, `AlsoCalled` when people know it by another name here.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_core import PydanticCustomError

BIGGEST_ID = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Sent:
    """The name GitLab uses, where ours is another."""

    name: str


@dataclass(frozen=True, slots=True)
class Csv:
    """A list that GitLab wants as one string with commas."""


@dataclass(frozen=True, slots=True)
class Needs:
    """The feature of tier_features.yaml that this field alone needs."""

    feature: str


class AlsoCalled:
    """What else people call this field in this action, beside what `other_names.FIELDS` says of its name."""

    def __init__(self, *names: str) -> None:
        self.names = names


@dataclass(frozen=True, slots=True)
class Expects:
    """How an error names what would be right, where the type alone does not say it."""

    what: str


def _no_bool(value: Any) -> Any:
    # pydantic reads True as 1; an agent that sends true for a number has mixed something up.
    if isinstance(value, bool):
        raise PydanticCustomError("not_a_number", "a number is expected")
    return value


def _number(value: Any) -> Any:
    """For a choice of numbers, which pydantic compares without reading text as a number."""
    return int(value) if isinstance(value, str) and value.strip().isdecimal() else value


def _from_json(value: Any) -> Any:
    """Models often send arrays and objects as JSON text."""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def _listed(value: Any) -> Any:
    """A list from a list, from JSON text, from one value, or from words with commas between."""
    value = _from_json(value)
    if isinstance(value, str):
        return [word.strip() for word in value.split(",") if word.strip()]
    if isinstance(value, int) and not isinstance(value, bool):
        return [value]
    return value


def _single(value: Any) -> Any:
    """A list of strings from a list, from JSON text, or from one string that may itself hold commas."""
    value = _from_json(value)
    return [value] if isinstance(value, str) else value


def _a_date(value: str) -> str:
    if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", value):
        raise ValueError("a date as YYYY-MM-DD is expected")
    date.fromisoformat(value)
    return value


def _a_date_or_empty(value: str) -> str:
    return _a_date(value) if value else value


def _not_past(value: str) -> str:
    if date.fromisoformat(value) < datetime.now(UTC).date():
        raise ValueError("a date that is not past is expected")
    return value


def _a_time(value: str) -> str:
    datetime.fromisoformat(value)
    return value


def _no_sign(value: Any) -> Any:
    """People and models write #12, !12 and &12."""
    return value.strip().lstrip("#!&") if isinstance(value, str) else value


def broken_rule(what_would_be_right: str, field: str) -> PydanticCustomError:
    """For rules between fields: raise it in a model validator, naming the field to change."""
    return PydanticCustomError("broken_rule", "{right}", {"right": what_would_be_right, "field": field})


FromJson = BeforeValidator(_from_json)
"""Beside the type of an array of objects: it may come as JSON text."""
Listed = BeforeValidator(_listed)
"""Beside the type of an array of words: it may come as one word, or with commas between."""
Integer = Annotated[int, BeforeValidator(_no_bool), Expects("number")]
Id = Annotated[Integer, Field(ge=1, le=BIGGEST_ID), Expects("number")]
Flag = Annotated[bool, Expects("true or false")]
Line = Annotated[str, Field(min_length=1)]
"""A string that must not be empty."""
Strings = Annotated[list[str], BeforeValidator(_single), Expects("array of strings")]
Words = Annotated[list[Line], BeforeValidator(_listed), Expects("array of strings")]
Ids = Annotated[list[Id], BeforeValidator(_listed), Expects("array of numbers")]
Date = Annotated[str, AfterValidator(_a_date), Expects("date as YYYY-MM-DD")]
FutureDate = Annotated[Date, AfterValidator(_not_past), Expects("date as YYYY-MM-DD, not in the past")]
Time = Annotated[str, AfterValidator(_a_time), Expects("time as 2026-01-31T12:00:00Z")]
DateOrEmpty = Annotated[
    str, AfterValidator(_a_date_or_empty), Expects("date as YYYY-MM-DD, or empty to remove it")
]
Duration = Annotated[
    str,
    Field(pattern=r"^-?\s*(\d+(\.\d+)?\s*(mo|w|d|h|m|s)\s*)+$", description="Like 1w 2d 3h30m"),
]
PathOrId = Annotated[str, Field(min_length=1, max_length=1024), Expects("path or number")]

ProjectId = PathOrId
GroupId = PathOrId
Iid = Annotated[Id, BeforeValidator(_no_sign)]
IssueIid = Iid
MergeRequestIid = Iid
PipelineId = Id
JobId = Id
UserId = Id
UserIds = Annotated[
    list[Annotated[Integer, Field(ge=0, le=BIGGEST_ID)]],
    BeforeValidator(_listed),
    Expects("array of numbers"),
]
"""Whom something is given to; GitLab reads 0 as nobody."""
UserOrNone = Annotated[str, Field(pattern=r"^(\d{1,19}|None|Any)$", description="Number, None or Any")]
MilestoneId = Id
MilestoneOrZero = Annotated[Integer, Field(ge=0, le=BIGGEST_ID, description="0: none")]
LabelId = Annotated[Line, Field(description="Name or number of the label")]
DiscussionId = Annotated[str, Field(pattern=r"^[0-9a-f]{40}$"), Expects("40 hex digits, the id of a thread")]
Title = Annotated[str, Field(min_length=1, max_length=255)]
Visibility = Literal["private", "internal", "public"]
Ref = Annotated[Line, Field(description="Branch, tag or commit")]
CommitOrRef = Annotated[Line, Field(description="Commit, branch or tag")]
Branch = Line
TagName = Annotated[Line, Field(max_length=255)]
SemanticVersion = Annotated[
    str,
    Field(pattern=r"^v?\d+\.\d+\.\d+([-+.]?[0-9A-Za-z.+-]+)?$"),
    Expects("semantic version like 1.2.0"),
]
Sha = Annotated[str, Field(min_length=1, max_length=64)]
FilePath = Annotated[Line, Field(description="Path in the repository")]
Labels = Annotated[Words, Csv()]
Search = Line
Page = Annotated[Integer, Field(ge=1, le=BIGGEST_ID)]
PerPage = Annotated[Integer, Field(ge=1, le=100)]
Sort = Literal["asc", "desc"]
Numbered = BeforeValidator(_number)
"""Beside a choice of numbers: it may come as text."""
AccessLevel = Annotated[Literal[10, 20, 30, 40, 50], Numbered]
WebUrl = Annotated[str, Field(pattern=r"^https?://\S+$", max_length=2048), Expects("http or https URL")]
CiStatus = Literal[
    "created",
    "waiting_for_resource",
    "preparing",
    "waiting_for_callback",
    "pending",
    "running",
    "success",
    "failed",
    "canceling",
    "canceled",
    "skipped",
    "manual",
    "scheduled",
]

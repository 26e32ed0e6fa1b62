"""The vocabulary of fields: what a name means, in every tool alike.

A field is an annotated type. Its description is the sentence an agent reads; leave it out where the name says it all.
Marks beside it: `SentAs` when GitLab calls it something else, `SentAsNumber` when it wants a number for each word,
`Csv` when GitLab wants commas, `Needs` when the field alone is paid, `NeededEverywhere` when leaving it out is,
`Only` when some versions of GitLab lack it, `AlsoCalled` when people know it by another name here, `Names` when a
name is taken where GitLab wants a number.

`NamesPlace`, `Anywhere`, `Within` and `ReachesNothing` say what a field can reach. `actions.reach` derives it where the
type says it; tests/contracts fails for a field of which nobody says it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Annotated, Any, Final, Literal, get_args

from pydantic import AfterValidator, BeforeValidator, Field, ValidatorFunctionWrapHandler, WrapValidator
from pydantic_core import PydanticCustomError, PydanticKnownError

from gitlab_mcp.actions.danger import Danger, Risk, equals
from gitlab_mcp.actions.json_text import parse

BIGGEST_ID = 2**63 - 1
ME = "me"
"""The caller, wherever a person is named."""


USERNAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")


@dataclass(frozen=True, slots=True)
class SentAs:
    """The name GitLab uses, where ours is another."""

    name: str


@dataclass(frozen=True, slots=True, eq=False)
class SentAsNumber:
    """A choice of words for which GitLab wants numbers."""

    numbers: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class NotSent:
    """The field is for this server: GitLab is not told it."""


@dataclass(frozen=True, slots=True)
class Csv:
    """A list that GitLab wants as one string with commas."""


@dataclass(frozen=True, slots=True)
class Needs:
    """The feature of tier_features.yaml that this field alone needs."""

    feature: str


@dataclass(frozen=True, slots=True)
class NeededEverywhere:
    """The feature that a call needs which names no place, where each place alone does without."""

    feature: str


@dataclass(frozen=True, slots=True)
class Only:
    """Only some versions of GitLab know this field; the others take it and do nothing. See `api.versions`."""

    since: str | None = None
    until: str | None = None


class AlsoCalled:
    """What else people call this field in this action, beside what `other_names.FIELDS` says of its name."""

    def __init__(self, *names: str) -> None:
        self.names = names


@dataclass(frozen=True, slots=True)
class Names:
    """What the words in this field name. They are looked up before anything is sent: see `workflows.name_lookup`.

    `user`, `milestone` and `group` become numbers; of a `username` only `me` is replaced.
    """

    kind: Literal["user", "username", "milestone", "group"]
    constants: tuple[str, ...] = ()
    """Words that GitLab itself understands."""
    takes_usernames: bool = False
    """GitLab finds a user by the username too: only what is none is looked up."""

    def is_to_look_up(self, value: Any) -> bool:
        if not isinstance(value, str) or value in self.constants:
            return False
        if self.takes_usernames and value != ME and USERNAME.fullmatch(value):
            return False
        return value == ME if self.kind == "username" else True


@dataclass(frozen=True, slots=True)
class NamesPlace:
    """The field names a project, a group, or a namespace (a group or a person)."""

    kind: Literal["project", "group", "namespace"]
    inside: str | None = None
    """A pattern whose first group is the place, where the field holds more, and may name none."""
    own_if_absent: bool = False
    """Without the field GitLab takes the caller's own namespace."""


@dataclass(frozen=True, slots=True)
class Anywhere:
    """The field holds a number that GitLab looks for in the whole instance."""

    what: str
    found_at: str | None = None
    """A path that shows the thing with its `project`, `{id}` in it; None where GitLab has no such path."""


@dataclass(frozen=True, slots=True)
class Within:
    """GitLab looks for it only in the place that the call names, or above it."""


@dataclass(frozen=True, slots=True)
class ReachesNothing:
    """The field cannot lead a call to another place."""


@dataclass(frozen=True, slots=True, eq=False)
class Members:
    """What the members of an object can reach of which the fields are not declared."""

    reach: Mapping[str, NamesPlace | Within | ReachesNothing]


@dataclass(frozen=True, slots=True)
class KeptBack:
    """Marks a field whose value may be a secret, whatever it is called: a question to the person does not say it."""


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
            return parse(value)
        except ValueError:
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


def _not_past_or_empty(value: str) -> str:
    return _not_past(value) if value else value


def _a_time(value: str) -> str:
    datetime.fromisoformat(value)
    return value


_LONGEST_NAME = 255


def _name_or_number(signs: str, least: int = 1) -> WrapValidator:
    """A number as a number, also where it came as text; anything else as a name, without the sign in front of it."""

    def validated(value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
        if isinstance(value, bool):
            raise PydanticCustomError("not_a_number", "a name or a number is expected")
        if isinstance(value, str):
            value = value.strip()
            if not re.fullmatch(r"-?[0-9]+", value):
                return _a_name(value.lstrip(signs).strip('"'))
            value = int(value[:20])
        elif not isinstance(value, int):
            raise PydanticKnownError("string_type")
        if value < least:
            raise PydanticKnownError("greater_than_equal", {"ge": least})
        if value > BIGGEST_ID:
            raise PydanticKnownError("less_than_equal", {"le": BIGGEST_ID})
        return value

    return WrapValidator(validated)


def _a_name(value: str) -> str:
    if not value.strip():
        raise PydanticKnownError("string_too_short", {"min_length": 1})
    if len(value) > _LONGEST_NAME:
        raise PydanticKnownError("string_too_long", {"max_length": _LONGEST_NAME})
    return value


def _without_at(value: Any) -> Any:
    """People and models write @alice."""
    return value.strip().removeprefix("@") if isinstance(value, str) else value


def _none_or_any(value: Any) -> Any:
    return value.capitalize() if isinstance(value, str) and value.lower() in ("none", "any") else value


def _no_sign(value: Any) -> Any:
    """People and models write #12, !12 and &12."""
    return value.strip().lstrip("#!&") if isinstance(value, str) else value


def broken_rule(what_would_be_right: str, field: str) -> PydanticCustomError:
    """For rules between fields: raise it in a model validator, naming the field to change."""
    return PydanticCustomError("broken_rule", "{right}", {"right": what_would_be_right, "field": field})


_LONGEST_REGEX = 511
"""GitLab keeps no longer one."""
_WRONG_EVERYWHERE = (
    "unterminated",
    "unbalanced",
    "missing",
    "nothing to repeat",
    "multiple repeat",
    "min repeat greater",
    "bad character range",
)


def _a_regex(value: str) -> str:
    """GitLab uses RE2 and answers 500 to a pattern that it cannot compile. Only what is wrong in RE2 and in Python
    alike is refused here; the pattern is never run."""
    try:
        re.compile(value)
    except re.error as problem:
        if problem.msg.startswith(_WRONG_EVERYWHERE):
            raise ValueError("a regular expression is expected") from None
    except (OverflowError, RecursionError):
        # A repetition beyond all numbers, or groups inside of groups without end.
        raise ValueError("a regular expression is expected") from None
    return value


Regex = Annotated[
    str,
    Field(max_length=_LONGEST_REGEX),
    AfterValidator(_a_regex),
    Expects("a regular expression (RE2)"),
]
FromJson = BeforeValidator(_from_json)
"""Beside the type of an array of objects: it may come as JSON text."""
Listed = BeforeValidator(_listed)
"""Beside the type of an array of words: it may come as one word, or with commas between."""
Integer = Annotated[int, BeforeValidator(_no_bool), Expects("a number")]
Id = Annotated[Integer, Field(ge=1, le=BIGGEST_ID), Expects("a number")]
Flag = Annotated[bool, Expects("true or false")]
NonEmpty = Annotated[str, Field(min_length=1)]
"""A string that must not be empty."""
Strings = Annotated[list[str], BeforeValidator(_single), Expects("an array of strings")]
Words = Annotated[list[NonEmpty], BeforeValidator(_listed), Expects("an array of strings")]
Ids = Annotated[list[Id], BeforeValidator(_listed), Expects("an array of numbers")]
Date = Annotated[str, AfterValidator(_a_date), Expects("a date as YYYY-MM-DD")]
FutureDate = Annotated[Date, AfterValidator(_not_past), Expects("a date as YYYY-MM-DD, not in the past")]
Time = Annotated[str, AfterValidator(_a_time), Expects("a time as 2026-01-31T12:00:00Z")]
DateOrEmpty = Annotated[
    str, AfterValidator(_a_date_or_empty), Expects("a date as YYYY-MM-DD, or empty to remove it")
]
FutureDateOrEmpty = Annotated[
    DateOrEmpty,
    AfterValidator(_not_past_or_empty),
    Expects("a date as YYYY-MM-DD, not in the past, or empty to remove it"),
]
Duration = Annotated[
    str,
    Field(pattern=r"^-?\s*(\d+(\.\d+)?\s*(mo|w|d|h|m|s)\s*)+$", description="Like 1w 2d 3h"),
]
PathOrId = Annotated[str, Field(min_length=1, max_length=1024), Expects("a path or number")]

ProjectId = Annotated[PathOrId, NamesPlace("project")]
ProjectNumber = Annotated[Id, NamesPlace("project")]
GroupId = Annotated[PathOrId, NamesPlace("group")]
Iid = Annotated[Id, BeforeValidator(_no_sign), Within()]
Iids = Annotated[Ids, Within()]
IssueIid = Iid
MergeRequestIid = Iid
PipelineId = Annotated[Id, Within()]
JobId = Annotated[Id, Within()]
VulnerabilityId = Annotated[Id, Anywhere("vulnerability", found_at="/vulnerabilities/{id}")]
ExportId = Annotated[Id, Anywhere("export")]
UserId = Annotated[str | int, _name_or_number("@"), Names("user"), Expects("a username or number")]
UserInPath = Annotated[
    str | int,
    _name_or_number("@"),
    Names("user", takes_usernames=True),
    Expects("a username or number"),
]
"""Of a route that takes both."""
People = Annotated[
    list[UserId], BeforeValidator(_listed), Names("user"), Expects("an array of usernames or numbers")
]
UserIds = Annotated[
    list[Annotated[str | int, _name_or_number("@", least=0)]],
    BeforeValidator(_listed),
    Names("user"),
    Expects("an array of usernames or numbers"),
    Field(description="Usernames or numbers"),
]
"""Whom something is given to; GitLab reads 0 as nobody."""
UserOrNone = Annotated[
    str | int,
    _name_or_number("@", least=0),
    BeforeValidator(_none_or_any),
    Names("user", constants=("None", "Any")),
    Field(description="Username, None or Any"),
]
Username = Annotated[NonEmpty, BeforeValidator(_without_at), Field(max_length=255), Names("username")]
"""`me` is the caller."""
Usernames = Annotated[
    list[Username], BeforeValidator(_listed), Names("username"), Expects("an array of strings")
]
OtherGroup = Annotated[
    str | int,
    _name_or_number(""),
    Names("group"),
    Expects("a path or number"),
    Field(description="Path or number"),
]
"""A group beside the one that the call is about; GitLab takes only its number."""
GroupIds = Annotated[
    list[Annotated[str | int, _name_or_number("")]],
    BeforeValidator(_listed),
    Names("group"),
    Expects("an array of paths or numbers"),
]
MilestoneId = Annotated[str | int, _name_or_number("%"), Names("milestone"), Expects("a title or number")]
MilestoneOrZero = Annotated[
    str | int,
    _name_or_number("%", least=0),
    Names("milestone"),
    Expects("a title or number"),
    Field(description="Title or number; 0: none"),
]
LabelId = Annotated[NonEmpty, Field(description="Name or number of the label"), Within()]
DiscussionId = Annotated[
    str, Field(pattern=r"^[0-9a-f]{40}$"), Expects("40 hex digits, the id of a thread"), Within()
]
Email = Annotated[
    str,
    Field(pattern=r"^[^@\s,/]+@[^@\s,/]+$", max_length=254),
    Expects("an e-mail address"),
    ReachesNothing(),
]
Title = Annotated[str, Field(min_length=1, max_length=255)]
Visibility = Literal["private", "internal", "public"]
_WIDTHS: Final = get_args(Visibility)


def _is_wider(present: Any, wanted: Any) -> bool:
    return present not in _WIDTHS or _WIDTHS.index(wanted) > _WIDTHS.index(present)


NewVisibility = Annotated[
    Visibility,
    Risk(Danger.DESTRUCTIVE, "public", "anybody can read what is put there", equals("public")),
]
"""Of something that is made."""
ChangedVisibility = Annotated[
    Visibility,
    Risk(
        Danger.DESTRUCTIVE,
        "internal",
        "everybody with an account can then read it",
        equals("internal"),
        _is_wider,
    ),
    Risk(Danger.DANGEROUS, "public", "anybody can then read it", equals("public"), _is_wider),
]
"""Of something that is there, with all that it holds."""
NoLongerConfidential = Annotated[
    Flag,
    Risk(
        Danger.DESTRUCTIVE,
        "false",
        "everybody who can see the project or group can then read it",
        equals(False),
    ),
]
Ref = NonEmpty
"""Branch, tag or commit."""
CommitOrRef = Annotated[NonEmpty, Field(description="Commit, branch or tag")]
Branch = NonEmpty
TagName = Annotated[NonEmpty, Field(max_length=255)]
SemanticVersion = Annotated[
    str,
    Field(pattern=r"^v?\d+\.\d+\.\d+([-+.]?[0-9A-Za-z.+-]+)?$"),
    Expects("a semantic version like 1.2.0"),
]
Sha = Annotated[str, Field(min_length=1, max_length=64)]
HeadSha = Annotated[Sha, Field(description="Only if this is the head")]
FULL_SHA: Final = re.compile("[0-9a-f]{40}(?:[0-9a-f]{24})?")
FilePath = NonEmpty
"""In the repository."""
Labels = Annotated[Words, Csv()]
Search = NonEmpty
SearchIn = Annotated[
    Literal["title", "description"],
    SentAs("in"),
]
Page = Annotated[Integer, Field(ge=1, le=BIGGEST_ID)]
PerPage = Annotated[Integer, Field(ge=1, le=100)]
Sort = Literal["asc", "desc"]
Numbered = BeforeValidator(_number)
"""Beside a choice of numbers: it may come as text."""
ROLES: Final[Mapping[str, int]] = {
    "guest": 10,
    "planner": 15,
    "reporter": 20,
    "security_manager": 25,
    "developer": 30,
    "maintainer": 40,
    "owner": 50,
}
"""Planner and security manager exist only in newer versions of GitLab."""
_ROLES_BY_NUMBER: Final = {str(number): name for name, number in ROLES.items()}


def _role_word(value: Any) -> Any:
    return re.sub(r"[\s-]+", "_", value.strip().lower()) if isinstance(value, str) else value


def _role_name(value: Any) -> Any:
    """`Developer`, 30 and "30" are developer."""
    word = _role_word(value)
    return value if isinstance(value, bool) else _ROLES_BY_NUMBER.get(str(word), word)


def _level_of(levels: Mapping[str, int]) -> Callable[[Any], Any]:
    """30, "30" and developer are 30."""

    def level(value: Any) -> Any:
        word = _role_word(value)
        return levels.get(word, _number(value)) if isinstance(word, str) else value

    return level


AccessLevel = Annotated[Literal[10, 15, 20, 25, 30, 40, 50], BeforeValidator(_level_of(ROLES))]
"""By GitLab's numbers; the names of `ROLES` are taken, too."""
PROTECTION_LEVELS: Final[Mapping[str, int]] = {
    "no_access": 0,
    "nobody": 0,
    "developer": 30,
    "maintainer": 40,
    "admin": 60,
}
PROTECTION_LEVELS_SAID: Final = "0 (no_access), 30 (developer), 40 (maintainer), 60 (admin)"
protection_level: Final = _level_of(PROTECTION_LEVELS)
ProtectionLevel = Annotated[
    Literal[0, 30, 40, 60],
    BeforeValidator(protection_level),
    Expects(f"one of {PROTECTION_LEVELS_SAID}"),
]
"""Who may do something on a protected thing."""
RoleName = Annotated[
    Literal["guest", "planner", "reporter", "security_manager", "developer", "maintainer", "owner"],
    BeforeValidator(_role_name),
    SentAsNumber(ROLES),
]
"""By name; GitLab's numbers are taken, too."""


def any_spelling(*values: str) -> BeforeValidator:
    """`MergeRequest` is also `merge_request`, and `key_result` also `Key Result`: capitals and gaps do not count."""
    by_letters = {_letters(value): value for value in values}
    return BeforeValidator(
        lambda value: by_letters.get(_letters(value), value) if isinstance(value, str) else value
    )


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text)).casefold()


def role_name(level: Any) -> Any:
    """The name for a number of GitLab's; what has none stays as it is."""
    return _ROLES_BY_NUMBER.get(str(level), level)


EventAction = Annotated[
    Literal[
        "created",
        "updated",
        "closed",
        "reopened",
        "pushed",
        "commented",
        "merged",
        "joined",
        "left",
        "destroyed",
        "expired",
        "approved",
    ],
    SentAs("action"),
]
EventTarget = Literal[
    "issue", "milestone", "merge_request", "note", "project", "snippet", "user", "wiki", "design"
]
WebUrl = Annotated[str, Field(pattern=r"^https?://\S+$", max_length=2048), Expects("an http or https URL")]
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

"""What is known of a setting beside its value: its flag, its variables, its key in the file, its help.

`setting`, `switch`, `choice`, `seconds`, `whole_number` and `readable_file` declare a field of `Settings`. To mypy they
are the default of the field, and what the parser gives must fit the field too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypedDict, TypeVar, Unpack

from gitlab_mcp.settings import parsers

Group = Literal[
    "Where settings come from",
    "GitLab",
    "Network",
    "What agents may do",
    "Logs",
    "Serving over HTTP",
    "Answers",
    "Record and replay",
]
Default = TypeVar("Default")
Value = TypeVar("Value")


class Common(TypedDict):
    group: Group
    """Its heading in the guide and in `gitlab-mcp help settings`."""
    help: str
    environment: tuple[str, ...]
    """Our name first, then the names other programs use."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    name: str
    default: Any
    group: Group
    help: str
    environment: tuple[str, ...]
    expects: str
    """Follows "Set GITLAB_URL to …"."""
    parse: Callable[[Any], Any]
    """From text, or from a value of the settings file; ValueError when it is neither."""
    accepts: Callable[[Any], bool]
    """Whether a parsed value can be used; a relative path has been completed by then."""
    choices: tuple[str, ...]
    metavar: str
    secret: bool
    in_file: bool
    """Whether the settings file may hold it."""
    repeatable: bool
    """Whether the flag may be given several times."""
    is_limit: bool
    """Whether it takes away from what agents may do. Empty, it would take away nothing, so it stops the start; a
    variable that is left blank, too."""

    @property
    def flag(self) -> str | None:
        """A secret has none: everybody on the machine can read a command line."""
        return None if self.secret else "--" + self.name.replace("_", "-")

    @property
    def switch(self) -> bool:
        """Whether the flag stands alone, without a value."""
        return isinstance(self.default, bool)

    @property
    def placeholder(self) -> str:
        """What stands for the value where the flag is explained."""
        return "|".join(self.choices) or self.metavar or self.name.rpartition("_")[2].upper()

    @property
    def written_default(self) -> str | None:
        """As a person would give it."""
        if self.default is None or self.default == ():
            return None
        if isinstance(self.default, bool):
            return str(self.default).lower()
        if isinstance(self.default, tuple):
            return ",".join(self.default)
        return f"{self.default:g}" if isinstance(self.default, float) else str(self.default)


def setting(
    default: Default,
    *,
    expects: str,
    parse: Callable[[Any], Value],
    accepts: Callable[[Value], bool] = lambda value: True,
    choices: tuple[str, ...] = (),
    metavar: str = "",
    secret: bool = False,
    in_file: bool = True,
    repeatable: bool = False,
    is_limit: bool = False,
    **common: Unpack[Common],
) -> Default | Value:
    metadata = {
        "expects": expects,
        "parse": parse,
        "accepts": accepts,
        "choices": choices,
        "metavar": metavar,
        "secret": secret,
        "in_file": in_file,
        "repeatable": repeatable,
        "is_limit": is_limit,
        **common,
    }
    return field(default=default, metadata=metadata)


def switch(
    default: bool,
    *,
    parse: Callable[[Any], bool] = parsers.boolean,
    in_file: bool = True,
    **common: Unpack[Common],
) -> bool:
    return setting(default, expects="true or false", parse=parse, in_file=in_file, **common)


def choice(default: Default, choices: tuple[str, ...], **common: Unpack[Common]) -> Default | str:
    return setting(
        default,
        expects="one of " + ", ".join(choices),
        parse=parsers.word,
        accepts=lambda value: value in choices,
        choices=choices,
        **common,
    )


def seconds(default: float, **common: Unpack[Common]) -> float:
    return setting(
        default,
        expects="a number of seconds above 0",
        parse=parsers.number,
        accepts=lambda number: 0 < number <= 3600,
        metavar="SECONDS",
        **common,
    )


def whole_number(
    default: int, *, lowest: int, highest: int, metavar: str = "", **common: Unpack[Common]
) -> int:
    return setting(
        default,
        expects=f"a whole number from {lowest} to {highest}",
        parse=parsers.whole_number,
        accepts=lambda number: lowest <= number <= highest,
        metavar=metavar,
        **common,
    )


def readable_file(
    what: str = "file", *, in_file: bool = True, is_limit: bool = False, **common: Unpack[Common]
) -> Path | None:
    return setting(
        None,
        expects=f"a readable {what}",
        parse=parsers.path,
        accepts=parsers.is_readable_file,
        metavar="FILE",
        in_file=in_file,
        is_limit=is_limit,
        **common,
    )

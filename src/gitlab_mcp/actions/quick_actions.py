"""Quick actions: lines such as `/merge` in a text, which GitLab carries out in place of showing them.

Text that an agent passes on may hold such lines of somebody else. So they are sent as text, unless the call says
`quick_actions: true`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Final

from pydantic import AfterValidator, ValidationInfo

from gitlab_mcp.actions.fields import NonEmpty

WANTED: Final = "quick_actions"

# GitLab deletes carriage returns before it looks, and compares without regard to case, so that any word is taken for
# a command; a path such as /usr/bin is none. Blanks in front do not help a command in 17.2, but may in another version.
_COMMAND: Final = re.compile(r"^([^\S\n]*)/(?=[\w-]+(?:\s|$))", re.MULTILINE)
_CARRIED_OUT: Final = re.compile(r"^/[a-z_]+\b.*$", re.MULTILINE)
_ESCAPED: Final = re.compile(r"^[^\S\n]*\\/[\w-]+(?:\s|$)", re.MULTILINE)


# `/move other/project`, `/relate other/project#5`, `/epic other&5`, or an address.
_ANOTHER_PLACE: Final = re.compile(r"^[^\S\n]*/[\w-]+[^\S\n]+[^\n]*(?:/|\w[#!&])", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class TakesQuickActions:
    """Marks a field whose text GitLab searches for quick actions."""


def as_text(text: str) -> str:
    """The same text for a reader, and no command for GitLab: Markdown shows `\\/merge` as `/merge`."""
    without = text.replace("\r", "")
    escaped = _COMMAND.sub(r"\1\\/", without)
    return text if escaped == without else escaped


def was_escaped(text: str) -> bool:
    return _ESCAPED.search(text) is not None


def commands_in(text: str) -> list[str]:
    """The lines that GitLab may carry out."""
    return [line.strip() for line in text.replace("\r", "").split("\n") if _COMMAND.match(line)]


def names_another_place(text: str) -> bool:
    """Whether a quick action in the text names a project or group, or a thing of one."""
    return _ANOTHER_PLACE.search(text.replace("\r", "")) is not None


def without_commands(text: str) -> str:
    """What is left to be shown of a text when GitLab has carried its quick actions out."""
    return _CARRIED_OUT.sub("", text).strip()


def _unless_wanted(text: str, info: ValidationInfo) -> str:
    return text if info.context and info.context.get(WANTED) else as_text(text)


DescriptionText = Annotated[str, AfterValidator(_unless_wanted), TakesQuickActions()]
"""A description, which may be empty."""
CommentText = Annotated[NonEmpty, AfterValidator(_unless_wanted), TakesQuickActions()]
"""A comment, which may not."""

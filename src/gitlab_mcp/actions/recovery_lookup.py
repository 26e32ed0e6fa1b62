"""How to find out whether a write happened when its answer was lost.

Declared beside the action: `recover_with=RecoveryLookup("browse_branches get", "project_id branch", points_at="ref")`.
This server makes that read itself. Where what it finds proves nothing, the agent is told to make it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gitlab_mcp.actions.action import Action

ME = "@me"
"""In `where`: stands for the caller's username."""


@dataclass(frozen=True, slots=True)
class LostWrite:
    """A write without an answer: what was sent, when by GitLab's clock, and by whom."""

    action: Any
    sent: Mapping[str, Any]
    since: datetime
    user_id: int | None

    def made(self, found: Mapping[str, Any]) -> bool:
        """Whether it was made by this caller, and not before the write was sent."""
        return self.user_id is not None and _maker(found) == self.user_id and self.is_new(found)

    def is_new(self, found: Mapping[str, Any]) -> bool:
        try:
            return datetime.fromisoformat(found["created_at"]) >= self.since
        except (KeyError, TypeError, ValueError):
            return False

    def says(self, name: str, found: object) -> bool:
        """Whether the text that was sent is what is there. GitLab carries quick actions out and drops them."""
        return _said(self.sent.get(name)) == _said(found)

    def has(self, found: Mapping[str, Any], *names: str) -> bool:
        """Whether it has what was sent under these names, as far as anything was."""
        return all(_alike(self.sent[name], found.get(name)) for name in names if name in self.sent)


Proof = Callable[[LostWrite, Mapping[str, Any]], bool]


@dataclass(frozen=True, slots=True)
class RecoveryLookup:
    read: str
    """The action that reads it: `browse_branches get`."""
    give: str = ""
    """Its arguments, from the fields of the write that were given: `project_id label_id=name`."""
    where: Mapping[str, Any] = field(default_factory=dict)
    """Its other arguments."""
    proof: Proof | None = None
    """What makes the thing found the one that was asked for. None: only whoever reads it can tell."""
    inside: str = ""
    """The member of the answer that holds the things to look at."""
    answer: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None
    """The answer to the write, from what was found, where a list shows it otherwise."""
    points_at: str | None = None
    """The field with the ref whose commit the thing must be at."""
    gone: bool = False
    """That there is no such thing is proof."""
    every_page: bool = False
    """The list begins with the oldest."""
    because: str = ""
    """Where a write that may not be repeated has no proof: why."""
    then: str = ""
    """What to do where the read shows that it happened; the agent is told."""

    @property
    def proves(self) -> bool:
        return self.proof is not None or self.points_at is not None or self.gone

    def arguments(self, action: Action) -> dict[str, Any]:
        """What an agent gives the read. Of two words for one argument the later wins, if it was given."""
        given = action.given()
        arguments = {name: value for name, value in self.where.items() if value != ME}
        for word in self.give.split():
            name, _, source = word.partition("=")
            if (source or name) in given:
                arguments[name] = given[source or name]
        return arguments


def lost_token(read: str, give: str) -> RecoveryLookup:
    """For what makes a token, which GitLab shows once."""
    return RecoveryLookup(
        read,
        give,
        because="only the lost answer had the token",
        then="If it did, nobody has the token: revoke what was made, and create another.",
    )


def made(*keys: str) -> Proof:
    """It is this caller's, is not older than the write, and has what was sent under these names."""
    return lambda write, found: write.made(found) and write.has(found, *keys)


def new(*keys: str) -> Proof:
    """The same for things that do not name who made them."""
    return lambda write, found: write.is_new(found) and write.has(found, *keys)


def said(name: str) -> Proof:
    """This caller has written it since, in the words that were sent under this name."""
    return lambda write, found: write.made(found) and write.says(name, found.get(name))


def begun_with(name: str) -> Proof:
    """It is a thread that this caller has begun since, in the words that were sent under this name."""
    return lambda write, found: not found["individual_note"] and said(name)(write, found["notes"][0])


def has(*keys: str) -> Proof:
    """It has what was sent under these names, as far as anything was."""
    return lambda write, found: write.has(found, *keys)


def as_asked(write: LostWrite, found: Mapping[str, Any]) -> bool:
    """For things that have a name and no date: there is one, and all that it shows is as it was sent."""
    shown = [name for name in write.sent if name in found]
    return bool(shown) and write.has(found, *shown)


def _alike(sent: Any, shown: Any) -> bool:
    if isinstance(sent, list) and isinstance(shown, list):
        return sorted(map(str, sent)) == sorted(map(str, shown))
    ours, theirs = (str(value).replace("\r\n", "\n").strip() for value in (sent, shown))
    # GitLab writes colours in capitals.
    return ours == theirs or (ours.startswith("#") and ours.casefold() == theirs.casefold())


def _maker(found: Mapping[str, Any]) -> Any:
    for name in ("author", "user"):
        if isinstance(found.get(name), Mapping):
            return found[name].get("id")
    return found.get("creator_id")


def _said(text: object) -> str:
    lines = str(text or "").replace("\r\n", "\n").split("\n")
    return "\n".join(line for line in lines if not (line[:1] == "/" and line[1:2].isalpha())).strip()

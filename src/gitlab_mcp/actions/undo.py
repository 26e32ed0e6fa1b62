"""The call that takes a write back, declared beside the write.

    undo=Undo("delete", "project_id group_id", "label_id=id")

It is told only where it is certain that the call brings back what was there before. So an update says by which member
of GitLab's answer one sees that it changed something: closing an issue that is closed is no change, and reopening it
would be one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from gitlab_mcp.actions.action import Action

Turn = Callable[[Any], Any]
"""From a value of the write to the one that takes it back; None where there is none."""


@dataclass(frozen=True, slots=True)
class Undo:
    call: str
    """The action: `delete`, or of another tool `manage_todo mark_done`."""
    give: str = ""
    """Its arguments, from the fields of the write that were given: `project_id new_branch=branch`."""
    answered: str = ""
    """Those that are in the answer: `label_id=id note_id=notes.0.id`. Without any of them there is no undo."""
    each: str = ""
    """The one that is in the answer as a list: `discussion_id=resolved`. There is a call for each, all in one batch."""
    turned: Mapping[str, Turn] = field(default_factory=dict)
    """Fields of the write whose value is turned round."""
    changed_at: str = ""
    """Of an update: the member of the answer that is as young as the call where something changed. Then the call must
    have changed nothing but what is turned round."""
    without: str = ""
    """Fields of the write with which it does something else, too."""

    def names(self, action: type[Action]) -> tuple[str, str]:
        """The tool and the action that takes this one back."""
        tool, _, name = self.call.rpartition(" ")
        return tool or action.spec.tool.name, name

    def calls(self, action: Action, answer: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The arguments of each call. None where the write, as it was made, cannot be taken back."""
        arguments = self._arguments(action, answer)
        if arguments is None or not self.each:
            return [arguments] if arguments is not None else []
        [(name, path)] = _pairs(self.each)
        found = _at(answer, path)
        return [{**arguments, name: each} for each in found] if isinstance(found, list) else []

    def _arguments(self, action: Action, answer: Mapping[str, Any]) -> dict[str, Any] | None:
        given = action.given()
        if given.keys() & set(self.without.split()):
            return None
        from_caller = dict(_pairs(self.give))
        if self.changed_at and given.keys() - {*from_caller.values(), *self.turned, *_CONDITIONS}:
            return None
        arguments = {name: given[source] for name, source in from_caller.items() if source in given}
        turned = {name: turn(given[name]) for name, turn in self.turned.items() if name in given}
        answered = {name: _at(answer, path) for name, path in _pairs(self.answered)}
        if (self.turned and not turned) or None in [*turned.values(), *answered.values()]:
            return None
        return {**arguments, **turned, **answered}

    def taken_from(self, name: str) -> str:
        """The member of the answer that an argument is taken from; empty for those of the caller."""
        return dict(_pairs(f"{self.answered} {self.each}")).get(name, "").rpartition(".")[2]


_CONDITIONS: Final = ("expected_updated_at",)


def between(one: Any, other: Any) -> Turn:
    """Of two values each is taken back by the other."""
    return lambda value: {one: other, other: one}.get(value)


CLOSED_AND_REOPENED: Final[Mapping[str, Turn]] = {"state_event": between("close", "reopen")}


def _pairs(words: str) -> Iterator[tuple[str, str]]:
    for word in words.split():
        name, _, source = word.partition("=")
        yield name, source or name


def _at(value: Any, path: str) -> Any:
    for step in path.split("."):
        if isinstance(value, Mapping):
            value = value.get(step)
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            return None
    return value

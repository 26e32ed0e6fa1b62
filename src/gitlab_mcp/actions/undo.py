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


@dataclass(frozen=True, slots=True)
class Former:
    field: str
    """Of the call that puts it back."""
    of: Callable[[Mapping[str, Any]], Any]
    """From the thing as it was to the value; None where there is none."""


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
    former: Mapping[str, Former] = field(default_factory=dict)
    """Of an update that has read the thing before: by each field of the write that can be put back, with what."""
    changed_at: str = ""
    """Of an update: the member of the answer that is as young as the call where something changed. Then the call must
    have changed nothing but what is turned round."""
    without: str = ""
    """Fields of the write with which it does something else, too."""

    def names(self, action: type[Action]) -> tuple[str, str]:
        """The tool and the action that takes this one back."""
        tool, _, name = self.call.rpartition(" ")
        return tool or action.spec.tool.name, name

    def calls(
        self, action: Action, answer: Mapping[str, Any], before: Mapping[str, Any] | None = None
    ) -> list[dict[str, Any]]:
        """The arguments of each call; none where the write, as it was made, cannot be taken back. `before` is the thing
        as it was, where that is known."""
        if before is not None and self.former:
            arguments = self._put_back(action, before, answer)
        else:
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

    def _put_back(
        self, action: Action, before: Mapping[str, Any], answer: Mapping[str, Any]
    ) -> dict[str, Any] | None:
        """With the condition that nobody has changed it since: an undo overwrites nothing either."""
        given, own = action.given(), dict(_pairs(self.give))
        changed = given.keys() - {*own.values(), *_CONDITIONS}
        if not changed or changed - self.former.keys():
            return None
        found = {self.former[name].field: self.former[name].of(before) for name in sorted(changed)}
        if None in found.values():
            return None
        named = {name: given[source] for name, source in own.items() if source in given}
        return {**named, **found, "expected_updated_at": answer[self.changed_at]}

    def taken_from(self, name: str) -> str:
        """The member of the answer that an argument is taken from; empty for those of the caller."""
        return dict(_pairs(f"{self.answered} {self.each}")).get(name, "").rpartition(".")[2]


_CONDITIONS: Final = ("expected_updated_at",)


def between(one: Any, other: Any) -> Turn:
    """Of two values each is taken back by the other."""
    return lambda value: {one: other, other: one}.get(value)


def _same(name: str, absent: Any = None) -> Former:
    return Former(name, lambda was: absent if was.get(name) is None else was[name])


def _ids(name: str, member: str) -> Former:
    return Former(name, lambda was: [each["id"] for each in was.get(member) or ()])


def _named(labels: Any) -> list[str]:
    return [each["name"] if isinstance(each, Mapping) else str(each) for each in labels or ()]


_STATES: Final = {"opened": "reopen", "active": "activate", "closed": "close"}
_LABELS: Final = Former("labels", lambda was: _named(was.get("labels")))
FORMER: Final[Mapping[str, Former]] = {
    "title": _same("title"),
    "draft": _same("title"),
    "description": _same("description", ""),
    "body": _same("body"),
    "labels": _LABELS,
    "add_labels": _LABELS,
    "remove_labels": _LABELS,
    "assignee_ids": _ids("assignee_ids", "assignees"),
    "reviewer_ids": _ids("reviewer_ids", "reviewers"),
    "milestone_id": Former("milestone_id", lambda was: (was.get("milestone") or {}).get("id") or 0),
    "due_date": _same("due_date", ""),
    "start_date": _same("start_date", ""),
    "weight": _same("weight"),
    "confidential": _same("confidential", absent=False),
    "discussion_locked": _same("discussion_locked", absent=False),
    "squash": _same("squash", absent=False),
    "target_branch": _same("target_branch"),
    "remove_source_branch": Former(
        "remove_source_branch", lambda was: bool(was.get("force_remove_source_branch"))
    ),
    "state_event": Former("state_event", lambda was: _STATES.get(was.get("state", ""))),
}
"""What issues, merge requests, epics, milestones and notes show of themselves."""

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

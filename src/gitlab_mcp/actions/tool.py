"""A tool is a named set of actions on one GitLab noun."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, TypeVar

from gitlab_mcp.actions.action import Action, Danger, Endpoints, Rewrite, Role, Spec
from gitlab_mcp.actions.action_facts import Differs
from gitlab_mcp.actions.other_names import Instead
from gitlab_mcp.actions.recovery_lookup import RecoveryLookup
from gitlab_mcp.actions.shape import shapes
from gitlab_mcp.actions.toolsets import DISCOVER
from gitlab_mcp.actions.undo import Undo

A = TypeVar("A", bound=type[Action])

BEFORE_THE_FIRST_RELEASE: Final = "2027-11-30"
"""Until when the names work that actions had before anything was released."""


class Tool:
    def __init__(
        self,
        name: str,
        about: str,
        *,
        toolset: str = "core",
        also: tuple[str, ...] = (),
        instead: Mapping[str, Instead | str] | None = None,
        makes_calls: Literal["none", "that read", "of any kind"] = "none",
        of_rows: bool = False,
    ) -> None:
        """`also`: other words for what the tool is about. `instead`: other names of its actions, and names of what
        other tools do, each with the call that is meant. Neither is listed.

        `makes_calls`: of other tools. Its own action only reads: what a call does is asked of that call.
        `of_rows`: a noun of rows, which is never listed itself."""
        self.name = name
        self.of_rows = of_rows
        self.about = about
        self.toolset = toolset
        self.also = also
        self.makes_calls = makes_calls
        self.instead = {
            word: Instead(meant) if isinstance(meant, str) else meant
            for words, meant in (instead or {}).items()
            for word in words.split()
        }
        self.actions: dict[str, type[Action]] = {}

    @property
    def is_single(self) -> bool:
        """What finds and makes other calls has one action each, and its calls do not name it."""
        return self.toolset == DISCOVER

    @property
    def reads(self) -> bool:
        return all(not action.spec.writes for action in self.actions.values())

    def action(
        self,
        name: str,
        endpoints: Endpoints,
        *,
        example: Mapping[str, Any],
        danger: Danger | None = None,
        shows: str = "",
        docs: str | Differs[str] | None = None,
        feature: str | Differs[str | None] | None = None,
        switch: str | Differs[str | None] | None = None,
        role: Role | Differs[Role | None] | None = None,
        repeatable: bool | None = None,
        recover_with: RecoveryLookup | None = None,
        undo: Undo | None = None,
        not_taken: Mapping[str, str] | None = None,
        rewrites: Mapping[str, Rewrite] | None = None,
        lists: bool | None = None,
        moved_from: str = "",
        moved_until: str = BEFORE_THE_FIRST_RELEASE,
        has_line: bool = False,
        seldom_given: str = "",
        facts: Mapping[str, Any] | None = None,
    ) -> Callable[[A], A]:
        """Declare a class to be an action. A tool that writes must say how dangerous each action is.

        `repeatable`: sending it again after a lost answer does no harm. Reads are; a PUT or DELETE is
        unless it acts (merge, play, retry); a POST is not. What may not be sent again says in `recover_with` where
        to look instead.
        `undo`: the call that takes it back, for the answer.

        `not_taken`: fields people expect here that carry an intent it cannot fulfil, each with what is offered.
        `rewrites`: fields people expect here whose intent other fields carry.
        `lists`: the answer is a list under `items`. What takes a `page` is one, unless it is said here.

        `moved_from`: the tools of `core` it was an action of, with commas between; with its name there, where that was
        another. Whoever calls it so gets it, and patterns of actions mean it under each of its names, until the date
        of `moved_until`.
        `has_line`: its name does not say what it does, so the listing has the first sentence of its docstring.
        `seldom_given`: fields that the listing only names, without a schema.

        `facts`: those of a row, which `action_facts.json` does not hold.

        `docs`, `feature`, `switch`, `role`: looked up by the endpoints (`api.derivation`). Said here only where
        nothing is known of them, or where the action `Differs`.
        """
        if danger is None:
            if not self.name.startswith(("browse_", "search")):
                raise TypeError(f"{self.name} {name}: say danger=, nothing that writes has a default")
            danger = Danger.READ
        if repeatable is None:
            repeatable = all(endpoint.method != "POST" for endpoint in endpoints) or danger is Danger.READ

        own_facts = {"docs": docs, "feature": feature, "switch": switch, "role": role}

        def declare(cls: A) -> A:
            cls.spec = Spec(
                tool=self,
                name=name,
                endpoints=endpoints,
                danger=danger,
                example=example,
                shows=shows,
                own_facts={name: value for name, value in own_facts.items() if value is not None},
                repeatable=repeatable,
                recover_with=recover_with,
                undo=undo,
                lists="page" in shapes(cls) if lists is None else lists,
                not_taken=not_taken or {},
                rewrites=rewrites or {},
                moved_from=tuple(_tool_and_action(each, name) for each in moved_from.split(",") if each),
                moved_until=moved_until,
                has_line=has_line,
                seldom_given=tuple(seldom_given.split()),
                facts=facts,
            )
            if name in self.actions:
                raise TypeError(f"{self.name} has two actions called {name}")
            self.actions[name] = cls
            return cls

        return declare


def _tool_and_action(before: str, name: str) -> tuple[str, str]:
    tool, _, action = before.strip().partition(" ")
    return tool, action or name

"""One call that succeeded, as the checks look at it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gitlab_mcp.actions.action import Action
from gitlab_mcp.actions.ask import Ask
from gitlab_mcp.actions.exchange import Answer
from gitlab_mcp.actions.result import Result
from gitlab_mcp.actions.shape import sent_fields, sent_name
from gitlab_mcp.tiers.effective_tier import EffectiveTier, effective_tier_at
from gitlab_mcp.tiers.requirements import Requirement


@dataclass(frozen=True, slots=True)
class Success:
    action: Action
    outcome: Answer | Result
    requirements: tuple[Requirement, ...]
    ask: Ask

    @property
    def writes(self) -> bool:
        return self.action.spec.writes

    @property
    def given(self) -> Mapping[str, Any]:
        return self.action.given()

    @property
    def method(self) -> str:
        return self.action.endpoint().method

    @property
    def path(self) -> str:
        """Of the endpoint, with its placeholders."""
        return self.action.endpoint().path

    @property
    def body(self) -> Any:
        """GitLab's own answer; None where the action made a result of it, and so has looked at it itself."""
        return self.outcome.body if isinstance(self.outcome, Answer) else None

    @property
    def is_empty_list(self) -> bool:
        """An empty first page."""
        if self.writes or self.given.get("page", 1) != 1:
            return False
        if isinstance(self.outcome, Answer):
            return self.outcome.body in ([], None)
        return "items" in self.outcome.data and not self.outcome.data["items"]

    @property
    def holds_nothing(self) -> bool:
        """An object whose every list is empty, such as approval rules of a merge request that has none."""
        if self.writes or not isinstance(self.body, Mapping):
            return False
        lists = [value for value in self.body.values() if isinstance(value, list)]
        return bool(lists) and not any(lists)

    @property
    def sent(self) -> list[tuple[str, str, Any]]:
        """The fields that are not in the path: our name, GitLab's name, the value."""
        given, placeholders = self.given, self.action.endpoint().placeholders
        kind = type(self.action)
        return [
            (name, sent_name(kind, name), given[name])
            for name in sent_fields(kind)
            if name in given and name not in placeholders
        ]

    async def effective_tier(self) -> EffectiveTier:
        project, group = self.given.get("project_id"), self.given.get("group_id")
        return await effective_tier_at(
            self.ask, str(project) if project else None, str(group) if group else None
        )

"""One refusal with all that is known of it: what the causes are weighed on."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import unquote

from gitlab_mcp.actions.action import Action, Role
from gitlab_mcp.actions.ask import Ask, InstanceFacts, TokenFacts, role_in
from gitlab_mcp.api.switches import switch_of
from gitlab_mcp.gitlab.faults import Refused
from gitlab_mcp.refusals.bodies import Said
from gitlab_mcp.tiers.effective_tier import EffectiveTier
from gitlab_mcp.tiers.feature_map import SILENT, Behaviour, rank
from gitlab_mcp.tiers.requirements import Requirement

_PLACE = re.compile(r"^/(?P<kind>projects|groups)/(?P<id>[^/?]+)")
_MERGE_REQUEST = re.compile(r"^/projects/(?P<project>[^/]+)/merge_requests/(?P<iid>\d+)(?:/|$)")


@dataclass(frozen=True, slots=True)
class Case:
    refused: Refused
    said: Said
    action: Action | None
    requirements: tuple[Requirement, ...] = ()
    token: TokenFacts | None = None
    instance: InstanceFacts = field(default_factory=InstanceFacts)
    project: Mapping[str, Any] | None = None
    group: Mapping[str, Any] | None = None
    role: int | None = None
    """The caller's access level in the project or group; 0 for none, None for unknown."""

    @property
    def writes(self) -> bool:
        return not self.refused.request.reads

    @property
    def given(self) -> Mapping[str, Any]:
        return self.action.given() if self.action else {}

    @property
    def switch(self) -> str | None:
        declared = self.action.spec.switch if self.action else None
        return declared or switch_of(self.refused.request.path)

    @property
    def role_needed(self) -> Role | None:
        return self.action.spec.role if self.action else None

    @property
    def role_suffices(self) -> bool | None:
        needed = self.role_needed
        if needed is None:
            return None
        if self.token and self.token.admin:
            return True
        if needed is Role.ADMIN:
            return False if self.token and self.token.admin is False else None
        return None if self.role is None else self.role >= needed

    @property
    def effective_tier(self) -> EffectiveTier:
        return EffectiveTier(self.instance, self.project, self.group)

    @property
    def tier(self) -> tuple[str, str] | None:
        """The tier at hand and how it is known."""
        return self.effective_tier.known

    def lacking(self) -> Requirement | None:
        """The first feature the call needs and the tier at hand is known not to have."""
        tier = self.tier
        if tier is None:
            return None
        return next((paid for paid in self.requirements if self._above(paid, tier[0])), None)

    def maybe_lacking(self) -> Requirement | None:
        """The first feature the call needs while nobody knows the tier."""
        if self.tier is not None:
            return None
        return next(
            (paid for paid in self.requirements if self._above(paid, self.effective_tier.least)), None
        )

    def without(self, paid: Requirement) -> Behaviour | None:
        """What this GitLab is known to do when it lacks the feature."""
        return self.effective_tier.without(paid.feature)

    def _above(self, paid: Requirement, tier: str) -> bool:
        known = self.without(paid)
        # A field that is taken and dropped, or works all the same, is no reason for a refusal.
        silent = known is not None and known.effect in (("works",) if paid.field is None else SILENT)
        return not silent and rank(paid.feature.tier_in(self.instance.version)) > rank(tier)

    @property
    def placeholders(self) -> tuple[str, ...]:
        """The fields of the path, below the project or group."""
        if self.action is None:
            return ()
        found = self.action.endpoint().placeholders
        return tuple(name for name in found if name not in ("project_id", "group_id"))


async def gather(case: Case, ask: Ask) -> Case:
    """Ask what separates the causes: who calls, where, and what the project or group says."""
    token = await ask.token()
    instance = await ask.instance() if case.requirements or case.said.no_such_route else InstanceFacts()
    project = group = role = None
    if token is None or token.alive:
        project_id, group_id = _place(case)
        if project_id:
            project = await ask.project(project_id)
            role = role_in(project) if project else None
        elif group_id:
            role = await ask.group_role(group_id)
            if case.requirements and instance.is_gitlab_com:
                # There the instance does not settle it: each top-level group has a tier of its own.
                group = await ask.group(group_id)
    return replace(case, token=token, instance=instance, project=project, group=group, role=role)


def merge_request_of(path: str) -> tuple[str, str] | None:
    match = _MERGE_REQUEST.match(path)
    return (unquote(match["project"]), match["iid"]) if match else None


def _place(case: Case) -> tuple[str | None, str | None]:
    """The project or the group the call is about: from the path, or for GraphQL from the fields."""
    place = _PLACE.match(case.refused.request.path)
    if place is None:
        project, group = case.given.get("project_id"), case.given.get("group_id")
        return (str(project) if project else None), (str(group) if group else None)
    id = unquote(place["id"])
    if place["kind"] == "groups":
        return None, id
    # `/projects/import` is a route, not a project: a project is a number or has a slash in its path.
    return (id if id.isdigit() or "/" in id else None), None

"""One refusal with all that is known about it: the request, the body, the caller, the project or group."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any
from urllib.parse import unquote

from gitlab_mcp.actions.action import Action, Endpoint, Role
from gitlab_mcp.actions.ask import Ask, InstanceFacts, TokenFacts, role_in
from gitlab_mcp.actions.token_needs import TokenNeeds
from gitlab_mcp.api.switches import switch_of
from gitlab_mcp.gitlab.concurrently import concurrently
from gitlab_mcp.gitlab.faults import Refused
from gitlab_mcp.refusals.body import RefusalBody
from gitlab_mcp.tiers.effective_tier import EffectiveTier, KnownTier
from gitlab_mcp.tiers.feature_map import SILENT_EFFECTS, Effect, Expected
from gitlab_mcp.tiers.requirements import Requirement

_PROJECT_OR_GROUP = re.compile(r"^/(?:security/)?(?P<kind>projects|groups)/(?P<id>[^/?]+)")
_MERGE_REQUEST = re.compile(r"^/projects/(?P<project>[^/]+)/merge_requests/(?P<iid>\d+)(?:/|$)")


@dataclass(frozen=True, slots=True)
class Case:
    refused: Refused
    body: RefusalBody
    action: Action | None
    requirements: tuple[Requirement, ...] = ()
    token: TokenFacts | None = None
    instance: InstanceFacts = field(default_factory=InstanceFacts)
    project: Mapping[str, Any] | None = None
    group: Mapping[str, Any] | None = None
    role: int | None = None
    """The caller's access level in the project or group; 0 for none, None for unknown."""
    custom_role: Mapping[str, Any] | None = None
    """The caller's custom role there, which adds single permissions to that level."""

    @property
    def writes(self) -> bool:
        return not self.refused.request.reads

    @property
    def is_merge(self) -> bool:
        return self.refused.request.path.endswith("/merge")

    @property
    def given(self) -> Mapping[str, Any]:
        return self.action.given() if self.action else {}

    @property
    def switch(self) -> str | None:
        declared = self.action.spec.switch if self.action else None
        return declared or switch_of(self.refused.request.path)

    @property
    def token_needs(self) -> TokenNeeds | None:
        """What the endpoint that refused asks of fine-grained tokens and of those of jobs; None for unknown."""
        request = self.refused.request
        return self.action.spec.token_needs.get(f"{request.method} {request.route}") if self.action else None

    @property
    def role_needed(self) -> Role | None:
        return self.action.spec.role_at(self._refusing) if self.action else None

    @property
    def custom_permission(self) -> str | None:
        """What a custom role adds to be let in here, where the tier has custom roles."""
        if self.action is None or self.tier is None or self.tier.name != "Ultimate":
            return None
        return self.action.spec.custom_permission_at(self._refusing)

    @property
    def _refusing(self) -> Endpoint:
        return Endpoint(self.refused.request.method, self.refused.request.route)

    @property
    def role_suffices(self) -> bool | None:
        """None for unknown."""
        needed = self.role_needed
        if needed is None:
            return None
        if self.token and self.token.admin:
            return True
        if needed is Role.ADMIN:
            return False if self.token and self.token.admin is False else None
        if self.role is None or self.action is None:
            return None
        return self.action.spec.lets_in(self.role, self._refusing) or self.custom_role_adds_it

    @property
    def custom_role_adds_it(self) -> bool | None:
        """Whether the caller's custom role adds what is needed. None where GitLab does not show it."""
        if self.custom_role is None:
            return False
        adds = self.custom_role.get(self.custom_permission or "")
        return adds if isinstance(adds, bool) else None

    @property
    def effective_tier(self) -> EffectiveTier:
        return EffectiveTier(self.instance, self.project, self.group)

    @property
    def tier(self) -> KnownTier | None:
        return self.effective_tier.known

    def requirement_above_tier(self) -> Requirement | None:
        """The first feature the call needs and this GitLab is known not to have."""
        return self._first_lacking(True)

    def requirement_possibly_above_tier(self) -> Requirement | None:
        """The first feature the call may lack, where the tier or the version is unknown."""
        return self._first_lacking(None)

    def expected_without(self, requirement: Requirement) -> Expected:
        """What this GitLab does when it lacks the feature."""
        return self.effective_tier.expected_without(requirement.feature)

    def _first_lacking(self, lacking: bool | None) -> Requirement | None:
        return next((each for each in self.requirements if self._is_reason(each, lacking)), None)

    def _is_reason(self, requirement: Requirement, lacking: bool | None) -> bool:
        # A field that GitLab accepts without its feature is no reason for a refusal.
        accepted: tuple[Effect, ...] = ("works",) if requirement.field is None else SILENT_EFFECTS
        if self.expected_without(requirement).is_surely(*accepted):
            return False
        return self.effective_tier.lacks(requirement.feature) is lacking

    @property
    def path_fields(self) -> tuple[str, ...]:
        """The fields in the path of the endpoint, below the project or group."""
        if self.action is None:
            return ()
        found = self.action.endpoint().placeholders
        return tuple(name for name in found if name not in ("project_id", "group_id"))


async def with_context(case: Case, ask: Ask, *, who: bool = True) -> Case:
    """The same case with what tells its causes apart: the token, the instance, the project or group, the role.

    Without `who` nothing is asked about the token unless its role is low, which only matters for who is no
    administrator.
    """
    project_id, group_id = _project_or_group(case)
    # Who is refused with 401 is most often nobody, and may see no place.
    is_known = case.refused.status != 401
    token, instance, project = await _together(
        ask.token if who else None,
        ask.instance if case.requirements or case.body.no_such_route else None,
        partial(ask.project, project_id) if project_id and is_known else None,
    )
    instance = instance or InstanceFacts()
    group = role = None
    if token is not None and not token.alive:
        project = None
    elif project_id:
        project = project if is_known else await ask.project(project_id)
        role = role_in(project) if project else None
        if token is None and role is not None and role <= Role.GUEST:
            token = await ask.token()
    elif group_id:
        # A group may be archived; and on GitLab.com each top-level group has a tier of its own.
        needs_group = case.writes or (case.requirements and instance.is_gitlab_com)
        role, group = await _together(
            partial(ask.group_role, group_id), partial(ask.group, group_id) if needs_group else None
        )
    known = replace(case, token=token, instance=instance, project=project, group=group, role=role)
    if known.role_suffices is False and known.custom_permission:
        place = ("project", str(project["id"])) if project else ("group", str(group_id))
        return replace(known, custom_role=await ask.custom_role(*place))
    return known


async def _together(*questions: Callable[[], Awaitable[Any]] | None) -> list[Any]:
    """The answers, in order; None where nothing was to be asked."""
    asked = iter(await concurrently([question for question in questions if question]))
    return [next(asked) if question else None for question in questions]


def merge_request_of(path: str) -> tuple[str, str] | None:
    match = _MERGE_REQUEST.match(path)
    return (unquote(match["project"]), match["iid"]) if match else None


def _project_or_group(case: Case) -> tuple[str | None, str | None]:
    """The id of the project or of the group: from the path, or for GraphQL from the fields."""
    match = _PROJECT_OR_GROUP.match(case.refused.request.path)
    if match is None:
        project, group = case.given.get("project_id"), case.given.get("group_id")
        return (str(project) if project else None), (str(group) if group else None)
    id = unquote(match["id"])
    if match["kind"] == "groups":
        return None, id
    # `/projects/import` is a route, not a project: a project is a number or has a slash in its path.
    return (id if id.isdigit() or "/" in id else None), None

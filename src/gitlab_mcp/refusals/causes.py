"""The causes that a refusal without a reason can have.

Each cause is a function: it looks at the case and returns a finding, or None where it is ruled out. The lists at the
end say which causes each signature can have.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from gitlab_mcp.actions.action import ROLE_NAMES, Role
from gitlab_mcp.api.switches import WHERE, Switch, instance_runs_no_registry, switched_off
from gitlab_mcp.failures import allowed_words
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.refusals.by_route import meaning_at_route
from gitlab_mcp.refusals.case import Case
from gitlab_mcp.refusals.findings import Confidence, Finding, strongest
from gitlab_mcp.tiers.effective_tier import KnownTier
from gitlab_mcp.tiers.requirements import Requirement

Cause = Callable[[Case], Finding | None]

_INSIDE_A_PROJECT: Final = re.compile(r"/projects/[^/]+/(?!restore$)")

UPGRADE_URL: Final = "https://about.gitlab.com/pricing/"


def tier_too_low(case: Case) -> Finding | None:
    if requirement := case.requirement_above_tier():
        return tier_finding(case, requirement, _confidence_in_tier(case, requirement), case.tier)
    if requirement := case.requirement_possibly_above_tier():
        # The tier or the version is unknown. A role that suffices makes the tier the likelier cause.
        confidence = Confidence.LIKELY if case.role_suffices else Confidence.POSSIBLE
        return tier_finding(case, requirement, confidence, None)
    return None


def _confidence_in_tier(case: Case, requirement: Requirement) -> Confidence:
    expected = case.expected_without(requirement)
    if expected.is_surely("refused"):
        return Confidence.CERTAIN
    # GitLab usually accepts the call and does nothing, so this refusal may have another cause. It counts more than
    # a switch: no switch makes the feature work.
    useless = requirement.field is None and not expected.may_be("works")
    return Confidence.LIKELY if useless and _is_switched_off(case) else Confidence.POSSIBLE


def tier_finding(
    case: Case, requirement: Requirement, confidence: Confidence, current: KnownTier | None
) -> Finding:
    feature, field = requirement.feature, requirement.field
    tier = feature.paid_tier_in(case.instance.version)
    subject = feature.name if field is None else f"{feature.name} ({field})"
    need = "need" if feature.is_plural and field is None else "needs"
    here = f"; {case.effective_tier.whose} is on {current.name}" if current else ""
    evidence = [f"GitLab answered {case.refused.status} to a request that needs {feature.name}"]
    if current:
        evidence.append(current.evidence)
    alternatives = feature.alternatives_on(current.name if current else None, case.given)
    if feature.otherwise:
        fix = f"{feature.otherwise} Or ask for an upgrade to {tier}."
    elif field:
        fix = f"Leave {field} out, or upgrade to {tier}."
    elif alternatives:
        fix = f"Do it another way, or ask for an upgrade to {tier}."
    else:
        fix = f"Ask for an upgrade to {tier}."
    return Finding(
        Code.TIER_RESTRICTED,
        confidence,
        f"{subject} {need} GitLab {feature.available_on(case.instance.version)}{here}.",
        tuple(evidence),
        fix,
        {
            "feature_name": feature.name,
            "tier_required": tier,
            **({"current_tier": current.name} if current else {}),
            **({"edition": case.instance.edition} if case.instance.edition else {}),
            **({"alternatives": alternatives} if alternatives else {}),
            "upgrade_url": UPGRADE_URL,
        },
    )


def not_in_this_edition(case: Case) -> Finding | None:
    """A free feature that only the Enterprise Edition has."""
    if case.instance.edition != "CE" or not case.requirements:
        return None
    feature = case.requirements[0].feature
    return Finding(
        Code.FEATURE_UNAVAILABLE,
        Confidence.LIKELY,
        f"{feature.name}: only the Enterprise Edition of GitLab has it, and this is the Community Edition.",
        ("this is the Community Edition", "it has no such address"),
        "Ask an administrator for the Enterprise Edition; it needs no licence for this.",
        {"feature_name": feature.name, "edition": "CE"},
    )


def add_on_missing(case: Case) -> Finding | None:
    """The tier is high enough, but the feature also needs an add-on such as Duo Pro."""
    feature = next((each.feature for each in case.requirements if each.feature.add_on), None)
    if feature is None or case.requirement_above_tier() or case.requirement_possibly_above_tier():
        return None
    return Finding(
        Code.FEATURE_UNAVAILABLE,
        Confidence.LIKELY,
        f"{feature.name} needs {feature.add_on} beside the tier, with a seat for this user.",
        (f"the tier has {feature.name}, and GitLab refused it",),
        f"Ask an owner or administrator for {feature.add_on}.",
        {"feature_name": feature.name},
    )


_WORKS_ALL_THE_SAME: Final = re.compile(
    r"/projects/[^/]+(/(restore|unarchive|archive|transfer|share|hooks|members|invitations|access_requests)(/.*)?)?"
)
"""What can be changed in a project that is archived or marked for deletion: its settings, hooks and members."""


def works_in_closed_projects(path: str) -> bool:
    return _WORKS_ALL_THE_SAME.fullmatch(path) is not None


def project_read_only(case: Case) -> Finding | None:
    """Archived, itself or by its group, or marked for deletion."""
    path = case.refused.request.path
    if not (case.writes and case.project) or works_in_closed_projects(path):
        return None
    inside = _INSIDE_A_PROJECT.match(path)
    if inside and (on := marked_for_deletion(case.project)):
        return Finding(
            Code.CONFLICT,
            # Hooks and members of such a project can still be changed.
            Confidence.LIKELY,
            "The project is marked for deletion: nothing in it can be changed.",
            (f"the project says marked_for_deletion_on: {on}",),
            "To keep the project, restore it first: manage_project restore.",
            {"state": "marked for deletion"},
        )
    if not case.project.get("archived"):
        return None
    return Finding(
        Code.CONFLICT,
        Confidence.CERTAIN,
        "The project is archived: nothing in it can be changed.",
        ("the project says archived",),
        "Ask an owner to unarchive the project (manage_project unarchive), or the group where that is archived.",
        {"state": "archived"},
    )


def group_closed(case: Case) -> Finding | None:
    """An archived group, or one that is marked for deletion. Never certain: which writes to the group itself either
    refuses was not measured."""
    group = case.group or {}
    if not case.writes or _OPENS_A_GROUP.fullmatch(case.refused.request.path):
        return None
    if group.get("archived"):
        return Finding(
            Code.CONFLICT,
            Confidence.LIKELY,
            "The group is archived, and GitLab refused to change it.",
            ("the group says archived",),
            "Ask an owner to unarchive the group.",
            {"state": "archived"},
            (Code.PERMISSION_DENIED,),
        )
    if on := marked_for_deletion(group):
        return Finding(
            Code.CONFLICT,
            Confidence.POSSIBLE,
            "The group is marked for deletion, and GitLab refused to change it.",
            (f"the group says marked_for_deletion_on: {on}",),
            "To keep the group, ask an owner to restore it.",
            {"state": "marked for deletion"},
            (Code.PERMISSION_DENIED,),
        )
    return None


_OPENS_A_GROUP: Final = re.compile(r"/groups/[^/]+/(restore|unarchive)")


def namespace_closed(group: Mapping[str, Any] | None) -> Finding | None:
    """A group that takes no new projects."""
    for key, state in (("archived", "archived"), ("marked_for_deletion_on", "marked for deletion")):
        if group and group.get(key):
            return Finding(
                Code.CONFLICT,
                Confidence.CERTAIN,
                f"The group is {state}: no project can be made or moved there.",
                (f"the group says {key}",),
                "Choose another group, or ask an owner of this one to open it again.",
                {"state": state},
            )
    return None


def marked_for_deletion(place: Mapping[str, Any]) -> str | None:
    """The day that GitLab names."""
    return allowed_words.day(place.get("marked_for_deletion_on"))


def feature_switched_off(case: Case) -> Finding | None:
    found = _switched_off_finding(_is_switched_off(case))
    # Switching it on does not help alone where the tier lacks it too.
    return replace(found, confidence=Confidence.LIKELY) if found and case.requirement_above_tier() else found


def _is_switched_off(case: Case) -> tuple[Switch, ...]:
    return switched_off(case.switch, case.project) if case.switch and case.project is not None else ()


def _switched_off_finding(off: tuple[Switch, ...]) -> Finding | None:
    if not off:
        return None
    titles = " and ".join(found.title for found in off)
    return Finding(
        Code.FEATURE_UNAVAILABLE,
        Confidence.CERTAIN,
        f"{titles} {'are' if len(off) > 1 or titles.endswith('s') else 'is'} switched off in this project.",
        tuple(f"the project says {found.key}: disabled" for found in off),
        f"Ask a maintainer to switch it on: {WHERE}.",
        {"switch": ", ".join(found.key for found in off), "switch_on_at": WHERE, "feature_name": titles},
    )


def registry_off(case: Case) -> Finding | None:
    if case.switch != "container_registry" or case.project is None:
        return None
    if not instance_runs_no_registry(case.project):
        return None
    return Finding(
        Code.FEATURE_UNAVAILABLE,
        Confidence.LIKELY,
        "This instance runs no container registry.",
        ("the project shows no image prefix",),
        "Ask an administrator to switch the container registry on.",
        {"switch": "container registry of the instance"},
    )


def repository_off(case: Case) -> Finding | None:
    if case.body.missing_name != "Repository" or case.project is None:
        return None
    return _switched_off_finding(switched_off("repository", case.project))


def role_too_low(case: Case) -> Finding | None:
    """Certain where the role is known, likely where it is not."""
    needed = case.role_needed
    if needed is None or case.role_suffices:
        return None
    held = ROLE_NAMES.get(case.role) if case.role is not None and needed is not Role.ADMIN else None
    name = "an administrator" if needed is Role.ADMIN else f"the role {ROLE_NAMES[int(needed)]}"
    facts = {"role_required": ROLE_NAMES[int(needed)], **({"role_held": held} if held else {})}
    if case.custom_permission:
        return _beside_custom_roles(case, held, name, facts)
    if case.role_suffices is False:
        evidence = f"this user is {held} here" if held else "this user is no administrator"
        return Finding(
            Code.PERMISSION_DENIED,
            Confidence.CERTAIN,
            f"This needs {name}{f', and this user is {held} here' if held else ''}.",
            (evidence,),
            f"Ask an owner or maintainer for {name}, or to do it."
            if needed is not Role.ADMIN
            else "Ask an administrator to do it.",
            facts,
        )
    return Finding(
        Code.PERMISSION_DENIED,
        Confidence.LIKELY,
        f"GitLab does not let this user do that; it takes {name}.",
        (),
        f"Check that this user has {name}.",
        facts,
    )


def _beside_custom_roles(case: Case, held: str | None, name: str, facts: Mapping[str, Any]) -> Finding:
    """On Ultimate a custom role can add just what is missing."""
    permission = case.custom_permission
    own = case.custom_role["id"] if case.custom_role else None
    with_role = f"{held} here, with the custom role {own}" if own else f"{held or 'not that'} here"
    return Finding(
        Code.PERMISSION_DENIED,
        Confidence.CERTAIN if case.role_suffices is False else Confidence.LIKELY,
        f"This needs {name} or a custom role that adds {permission}, and this user is {with_role}.",
        (f"this user is {with_role}",) if held else (),
        f"Ask an owner or maintainer for {name} or for a custom role that adds {permission}, or to do it.",
        {**facts, "custom_permission": permission, **({"custom_role_held": own} if own else {})},
    )


def hidden_from_guests(case: Case) -> Finding | None:
    """In a private project a guest gets a 404 for merge requests and code, which only a reporter may see."""
    private = case.project is not None and case.project.get("visibility") == "private"
    if not private or case.role is None or case.role > Role.GUEST or (case.token and case.token.admin):
        return None
    if case.switch not in ("merge_requests", "repository"):
        return None
    held = ROLE_NAMES[case.role]
    return Finding(
        Code.PERMISSION_DENIED,
        Confidence.LIKELY,
        f"In a private project this needs the role Reporter to be seen, and this user is {held} here.",
        (f"this user is {held} here", "the project is private"),
        "Ask an owner or maintainer for the role Reporter.",
        {"role_required": "Reporter", "role_held": held},
        (Code.NOT_FOUND,),
    )


def known_at_route(case: Case) -> Finding | None:
    """What this endpoint is known to mean by such a refusal: see `by_route.py`."""
    request, status = case.refused.request, case.refused.status
    meaning = meaning_at_route(request.method, request.path, status)
    if meaning is None or case.role_suffices is False:
        return None
    is_admin = bool(case.token and case.token.admin)
    if case.role is not None and not meaning.role <= case.role < meaning.until and not is_admin:
        return None
    if meaning.until is not Role.ADMIN and (case.role is None or is_admin):
        return None
    return Finding(
        meaning.code,
        Confidence.LIKELY,
        meaning.message,
        (f"GitLab answered {status} without a reason, and the role suffices",)
        if case.role_suffices
        else (f"GitLab answered {status} without a reason",),
        meaning.fix,
        {"state": meaning.state} if meaning.code in (Code.CONFLICT, Code.NOT_FOUND) else {},
        (Code.PERMISSION_DENIED,) if status in (401, 403) else (),
    )


def not_permitted(case: Case) -> Finding:
    """What is left when no cause is found: a rule for one branch or object, or a state."""
    return Finding(
        Code.PERMISSION_DENIED,
        Confidence.POSSIBLE,
        "GitLab does not let this user do that here.",
        (f"GitLab answered {case.refused.status} without a reason",),
        "Check whether a protected branch or environment, somebody else's object, or its present state is in the way.",
        {},
        (Code.CONFLICT,) if case.writes else (),
    )


def most_likely(case: Case, causes: tuple[Cause, ...], otherwise: Finding) -> Finding:
    """The strongest of the causes that hold. `otherwise` competes where none of them is likely."""
    found = [finding for cause in causes if (finding := cause(case)) is not None]
    is_explained = any(finding.confidence > Confidence.POSSIBLE for finding in found)
    return strongest(found if is_explained else [*found, otherwise])


CAUSES_OF_401: Final[tuple[Cause, ...]] = (
    tier_too_low, add_on_missing, project_read_only, role_too_low, group_closed, known_at_route,
)  # fmt: skip
CAUSES_OF_403: Final[tuple[Cause, ...]] = (
    tier_too_low, add_on_missing, project_read_only, feature_switched_off, role_too_low, group_closed,
    known_at_route,
)  # fmt: skip
CAUSES_OF_404_ROUTE: Final[tuple[Cause, ...]] = (tier_too_low, not_in_this_edition)
CAUSES_OF_404_UNEXPLAINED: Final[tuple[Cause, ...]] = (
    tier_too_low, add_on_missing, feature_switched_off, known_at_route,
)  # fmt: skip
CAUSES_OF_404_RECORD: Final[tuple[Cause, ...]] = (
    tier_too_low, feature_switched_off, registry_off, hidden_from_guests, repository_off,
)  # fmt: skip
CAUSES_OF_OTHER_STATUSES: Final[tuple[Cause, ...]] = (tier_too_low, known_at_route)
CAUSES_OF_HIDDEN_IN_GRAPHQL: Final[tuple[Cause, ...]] = (
    tier_too_low, project_read_only, feature_switched_off, role_too_low, group_closed,
)  # fmt: skip

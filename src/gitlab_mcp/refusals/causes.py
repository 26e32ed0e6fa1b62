"""The causes a refusal without a reason can have: each looks at the case and says what speaks for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from gitlab_mcp.actions.action import ROLE_NAMES, Role
from gitlab_mcp.api.switches import WHERE, Switch, switched_off
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.refusals.by_route import state_behind
from gitlab_mcp.refusals.case import Case
from gitlab_mcp.refusals.findings import Finding, Proof, settle
from gitlab_mcp.tiers.requirements import Requirement

Cause = Callable[[Case], Finding | None]

UPGRADE_URL: Final = "https://about.gitlab.com/pricing/"


def tier(case: Case) -> Finding | None:
    if paid := case.lacking():
        # An edition that usually takes the call and does nothing may refuse this one for another reason.
        usual = case.without(paid)
        refuses = usual is None or usual.effect == "refused"
        return tier_finding(case, paid, Proof.CERTAIN if refuses else Proof.POSSIBLE, case.tier)
    if paid := case.maybe_lacking():
        # Nobody knows the tier: with the role in order the licence is what is left.
        proof = Proof.LIKELY if case.role_suffices else Proof.POSSIBLE
        return tier_finding(case, paid, proof, None)
    return None


def tier_finding(case: Case, paid: Requirement, proof: Proof, known: tuple[str, str] | None) -> Finding:
    feature = paid.feature
    tier = feature.tier_in(case.instance.version)
    what = feature.name if paid.field is None else f"{feature.name} ({paid.field})"
    need = "need" if feature.plural and paid.field is None else "needs"
    here = f"; this GitLab is on {known[0]}" if known else ""
    evidence = [f"GitLab answered {case.refused.status} to a request that needs {feature.name}"]
    if known:
        evidence.append(known[1])
    leave_out = f"Leave {paid.field} out, or upgrade to {tier}." if paid.field else ""
    alternatives = feature.instead(known[0] if known else None, case.given)
    instead = f"Use one of the alternatives, or ask for an upgrade to {tier}."
    return Finding(
        Code.TIER_RESTRICTED,
        proof,
        f"{what} {need} GitLab {feature.needs(case.instance.version)}{here}.",
        tuple(evidence),
        leave_out or (instead if alternatives else f"Ask for an upgrade to {tier}."),
        {
            "feature_name": feature.name,
            "tier_required": tier,
            **({"current_tier": known[0]} if known else {}),
            **({"edition": case.instance.edition} if case.instance.edition else {}),
            **({"alternatives": alternatives} if alternatives else {}),
            "upgrade_url": UPGRADE_URL,
        },
    )


def edition(case: Case) -> Finding | None:
    """A feature that costs nothing, and still exists in one edition only."""
    if case.instance.edition != "CE" or not case.requirements:
        return None
    feature = case.requirements[0].feature
    return Finding(
        Code.FEATURE_UNAVAILABLE,
        Proof.LIKELY,
        f"{feature.name}: only the Enterprise Edition of GitLab has it, and this is the Community Edition.",
        ("this is the Community Edition", "it has no such address"),
        "Ask an administrator for the Enterprise Edition; it needs no licence for this.",
        {"feature_name": feature.name, "edition": "CE"},
    )


def add_on(case: Case) -> Finding | None:
    """The tier is high enough, and what is sold beside it may still be missing."""
    feature = next((paid.feature for paid in case.requirements if paid.feature.add_on), None)
    if feature is None or case.lacking() or case.maybe_lacking():
        return None
    return Finding(
        Code.FEATURE_UNAVAILABLE,
        Proof.LIKELY,
        f"{feature.name} needs {feature.add_on} beside the tier, with a seat for this user.",
        (f"the tier has {feature.name}, and GitLab refused it",),
        f"Ask an owner or administrator for {feature.add_on}.",
        {"feature_name": feature.name},
    )


def archived(case: Case) -> Finding | None:
    if not (case.writes and case.project and case.project.get("archived")):
        return None
    return Finding(
        Code.CONFLICT,
        Proof.CERTAIN,
        "The project is archived: nothing in it can be changed.",
        ("the project says archived",),
        "Ask an owner to unarchive the project: manage_project unarchive.",
        {"state": "archived"},
    )


def switch(case: Case) -> Finding | None:
    if case.switch is None or case.project is None:
        return None
    return switched(switched_off(case.switch, case.project))


def switched(off: tuple[Switch, ...]) -> Finding | None:
    if not off:
        return None
    titles = " and ".join(found.title for found in off)
    return Finding(
        Code.FEATURE_UNAVAILABLE,
        Proof.CERTAIN,
        f"{titles} {'are' if len(off) > 1 or titles.endswith('s') else 'is'} switched off in this project.",
        tuple(f"the project says {found.key}: disabled" for found in off),
        f"Ask a maintainer to switch it on: {WHERE}.",
        {"switch": ", ".join(found.key for found in off), "switch_on_at": WHERE, "feature_name": titles},
    )


def registry_off(case: Case) -> Finding | None:
    # A project shows its image prefix only where the instance runs a registry.
    if case.switch != "container_registry" or case.project is None:
        return None
    if "container_registry_image_prefix" in case.project:
        return None
    return Finding(
        Code.FEATURE_UNAVAILABLE,
        Proof.LIKELY,
        "This instance runs no container registry.",
        ("the project shows no image prefix",),
        "Ask an administrator to switch the container registry on.",
        {"switch": "container registry of the instance"},
    )


def repository_off(case: Case) -> Finding | None:
    if case.said.thing != "Repository" or case.project is None:
        return None
    return switched(switched_off("repository", case.project))


def role(case: Case) -> Finding | None:
    """The role is too low, or nobody knows. Where it suffices, this is no cause."""
    needed = case.role_needed
    if needed is None or case.role_suffices:
        return None
    held = ROLE_NAMES.get(case.role) if case.role is not None and needed is not Role.ADMIN else None
    name = "an administrator" if needed is Role.ADMIN else f"the role {ROLE_NAMES[int(needed)]}"
    facts = {"role_required": ROLE_NAMES[int(needed)], **({"role_held": held} if held else {})}
    if case.role_suffices is False:
        evidence = f"this user is {held} here" if held else "this user is no administrator"
        return Finding(
            Code.PERMISSION_DENIED,
            Proof.CERTAIN,
            f"This needs {name}{f', and this user is {held} here' if held else ''}.",
            (evidence,),
            f"Ask an owner or maintainer for {name}, or to do it."
            if needed is not Role.ADMIN
            else "Ask an administrator to do it.",
            facts,
        )
    return Finding(
        Code.PERMISSION_DENIED,
        Proof.LIKELY,
        f"GitLab does not let this user do that; it takes {name}.",
        (),
        f"Check that this user has {name}.",
        facts,
    )


def hidden_from_guests(case: Case) -> Finding | None:
    """In a private project a guest gets a 404 for merge requests and code, which only a reporter may see."""
    private = case.project is not None and case.project.get("visibility") == "private"
    if not private or case.role is None or case.role > Role.GUEST:
        return None
    if case.switch not in ("merge_requests", "repository"):
        return None
    held = ROLE_NAMES[case.role]
    return Finding(
        Code.PERMISSION_DENIED,
        Proof.LIKELY,
        f"In a private project this needs the role Reporter to be seen, and this user is {held} here.",
        (f"this user is {held} here", "the project is private"),
        "Ask an owner or maintainer for the role Reporter.",
        {"role_required": "Reporter", "role_held": held},
        (Code.NOT_FOUND,),
    )


def state(case: Case) -> Finding | None:
    known = state_behind(case.refused.request.method, case.refused.request.path, case.refused.status)
    if known is None or case.role_suffices is False:
        return None
    is_admin = bool(case.token and case.token.admin)
    if case.role is not None and case.role < known.role and not is_admin:
        return None
    return Finding(
        known.code,
        Proof.LIKELY,
        known.message,
        (f"GitLab answered {case.refused.status} without a reason, and the role suffices",)
        if case.role_suffices
        else (f"GitLab answered {case.refused.status} without a reason",),
        known.fix,
        {"state": known.state} if known.code == Code.CONFLICT else {},
        (Code.PERMISSION_DENIED,) if case.refused.status in (401, 403) else (),
    )


def not_permitted(case: Case) -> Finding:
    """What is left when the role seems to suffice: a finer rule, or a state nobody told us of."""
    return Finding(
        Code.PERMISSION_DENIED,
        Proof.POSSIBLE,
        "GitLab does not let this user do that here.",
        (f"GitLab answered {case.refused.status} without a reason",),
        "Check whether a protected branch or environment, somebody else's object, or its present state is in the way.",
        {},
        (Code.CONFLICT,) if case.writes else (),
    )


def weigh(case: Case, causes: tuple[Cause, ...], *otherwise: Finding) -> Finding:
    found = [finding for cause in causes if (finding := cause(case)) is not None]
    convincing = any(finding.proof > Proof.POSSIBLE for finding in found)
    return settle(found if convincing else [*found, *otherwise])


FORBIDDEN: Final[tuple[Cause, ...]] = (tier, add_on, archived, switch, role, state)
UNAUTHORIZED: Final[tuple[Cause, ...]] = (tier, add_on, archived, role, state)
NO_RECORD: Final[tuple[Cause, ...]] = (tier, switch, registry_off, hidden_from_guests)
NO_REASON: Final[tuple[Cause, ...]] = (tier, add_on, switch, state)

"""Refusals that come as a 200: GraphQL puts its errors beside its data."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from gitlab_mcp.actions.action import Action
from gitlab_mcp.actions.ask import Ask
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import Failure
from gitlab_mcp.gitlab.faults import GraphQLRefused, Refused, Withheld
from gitlab_mcp.refusals import causes
from gitlab_mcp.refusals.bodies import Said, clean
from gitlab_mcp.refusals.by_sentence import named, rejected
from gitlab_mcp.refusals.case import Case, gather
from gitlab_mcp.refusals.findings import Finding, Proof, as_failure
from gitlab_mcp.refusals.not_found import missing_record
from gitlab_mcp.refusals.signatures import recognise
from gitlab_mcp.refusals.token_problems import unknown_token
from gitlab_mcp.tiers.feature_map import TierMap
from gitlab_mcp.tiers.requirements import requirements_of

_HIDDEN: Final = re.compile(r"does not exist or you don't have permission", re.IGNORECASE)
_NOT_IN_SCHEMA: Final = {"undefinedField", "undefinedType", "argumentNotAccepted"}


async def translate(
    problem: GraphQLRefused, action: Action | None, ask: Ask, tiers: Callable[[], TierMap]
) -> Failure:
    texts = tuple(clean(str(error.get("message", ""))) for error in problem.errors[:20])
    said = Said(texts=texts, message=clean("; ".join(texts)))
    case = Case(Refused(problem.request, 200), said, action, requirements_of(action, tiers))
    if isinstance(problem, Withheld):
        finding = await _withheld(case, problem.path, ask)
    else:
        finding = await _find(case, problem.errors, ask)
    return as_failure(finding).knowing(gitlab_message=said.message or None)


async def _find(case: Case, errors: tuple[Mapping[str, Any], ...], ask: Ask) -> Finding:
    extensions = [error["extensions"] for error in errors if isinstance(error.get("extensions"), Mapping)]
    # A document of ours that GitLab does not understand is older or newer than GitLab; the caller's own is wrong.
    ours = case.action is not None and "query" not in case.given
    if ours and {str(each.get("code", "")) for each in extensions} & _NOT_IN_SCHEMA:
        case = await gather(case, ask)
        return causes.weigh(case, (causes.tier,), not_in_schema(case))
    if any(_HIDDEN.search(text) for text in case.said.texts):
        return await _hidden(case, ask)
    signature = (
        None if {str(each.get("code", "")) for each in extensions} - {""} else recognise(case.said.texts)
    )
    if signature is None or signature.code == Code.REJECTED:
        return rejected(case, signature)
    return named(case, signature)


async def _withheld(case: Case, path: tuple[str, ...], ask: Ask) -> Finding:
    case = await gather(case, ask)
    # Below a place that could be read: an edition that lacks a feature answers null there, and no word.
    if len(path) > 1 and (paid := case.lacking()):
        return causes.tier_finding(case, paid, Proof.CERTAIN, case.tier)
    return await _hidden(case, ask)


async def _hidden(case: Case, ask: Ask) -> Finding:
    """Licence, role and absence look the same."""
    case = await gather(case, ask)
    if case.token is not None and not case.token.alive:
        return unknown_token(case)
    hidden = missing_record(case, None)
    return causes.weigh(case, (causes.tier, causes.archived, causes.switch, causes.role), hidden)


def not_in_schema(case: Case) -> Finding:
    return Finding(
        Code.FEATURE_UNAVAILABLE,
        Proof.LIKELY,
        "This GitLab's GraphQL has no such field: another edition or an older version.",
        (f"this GitLab is {case.instance.version}",) if case.instance.version else (),
        "Use a GitLab that has it, or another action.",
        {"version": case.instance.version, "edition": case.instance.edition},
    )

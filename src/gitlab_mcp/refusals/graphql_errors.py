"""Refusals that come as a 200: GraphQL puts its errors beside its data."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from gitlab_mcp.actions.action import Action
from gitlab_mcp.actions.ask import Ask
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import Failure
from gitlab_mcp.gitlab.faults import GraphQLRefused, Refused, Withheld
from gitlab_mcp.refusals import causes
from gitlab_mcp.refusals.alternatives import offer
from gitlab_mcp.refusals.body import RefusalBody, one_line
from gitlab_mcp.refusals.case import Case, with_context
from gitlab_mcp.refusals.findings import Confidence, Finding, as_failure
from gitlab_mcp.refusals.fine_grained import hidden_from_fine_grained
from gitlab_mcp.refusals.known_sentences import recognise
from gitlab_mcp.refusals.missing import name_missing
from gitlab_mcp.refusals.not_found import missing_record
from gitlab_mcp.refusals.sentence_findings import as_sentence_says, rejected
from gitlab_mcp.refusals.token_problems import token_not_accepted
from gitlab_mcp.tiers.feature_map import TierMap
from gitlab_mcp.tiers.requirements import requirements_of_call

_HIDDEN: Final = re.compile(r"does not exist or you don't have permission", re.IGNORECASE)
_NO_SUCH_WIDGET: Final = re.compile(
    r"widget keys are not supported by|field is not defined on workitem", re.IGNORECASE
)
_NOT_IN_SCHEMA: Final = {"undefinedField", "undefinedType", "argumentNotAccepted"}


async def explain_graphql_errors(
    problem: GraphQLRefused, action: Action | None, ask: Ask, tiers: Callable[[], TierMap]
) -> Failure:
    sentences = tuple(one_line(str(error.get("message", ""))) for error in problem.errors[:20])
    body = RefusalBody(sentences, message=one_line("; ".join(sentences)))
    case = Case(Refused(problem.request, 200), body, action, requirements_of_call(action, tiers))
    if isinstance(problem, Withheld):
        finding = _as_asked(await _withheld(case, problem.path, ask), problem.asked_by)
    else:
        finding = await _decide(case, problem.errors, ask)
    if finding.code == Code.NOT_FOUND:
        finding = await name_missing(finding, case, ask)
    return as_failure(offer(finding, case)).knowing(gitlab_message=body.message or None)


async def _decide(case: Case, errors: tuple[Mapping[str, Any], ...], ask: Ask) -> Finding:
    extensions = [error["extensions"] for error in errors if isinstance(error.get("extensions"), Mapping)]
    codes = {str(each.get("code", "")) for each in extensions} - {""}
    # A document of this server that GitLab does not understand is older or newer than GitLab; a caller's own is wrong.
    ours = case.action is not None and "query" not in case.given
    if ours and codes & _NOT_IN_SCHEMA:
        case = await with_context(case, ask)
        return causes.most_likely(case, (causes.tier_too_low,), _not_in_schema(case))
    if any(_NO_SUCH_WIDGET.search(text) for text in case.body.sentences):
        case = await with_context(case, ask)
        return causes.most_likely(case, (causes.tier_too_low,), _no_such_widget())
    if any(_HIDDEN.search(text) for text in case.body.sentences):
        return await _hidden(case, ask)
    sentence = None if codes else recognise(case.body.sentences)
    if sentence is None or sentence.code == Code.REJECTED:
        return rejected(case, sentence)
    return as_sentence_says(case, sentence)


async def _withheld(case: Case, path: tuple[str, ...], ask: Ask) -> Finding:
    """A null without an error: an edition that lacks a feature answers so below a project or group."""
    case = await with_context(case, ask)
    if len(path) > 1 and (requirement := case.requirement_above_tier()):
        return causes.tier_finding(case, requirement, Confidence.CERTAIN, case.tier)
    return await _hidden(case, ask)


def _as_asked(finding: Finding, field: str) -> Finding:
    """The finding of NOT_FOUND with the field of the caller that names what GraphQL showed as null."""
    if finding.code != Code.NOT_FOUND or not field:
        return finding
    if field == "type":
        message = (
            "There is no such type of work item here: this tier or version lacks it, or it is switched off."
        )
        fix = "Give as type one that browse_work_items types lists."
        return replace(finding, message=message, fix=fix, facts={**finding.facts, "missing": field})
    message = "There is no such work item, or this user may not see it."
    fix = f"Check {field}: browse_work_items list shows those there are."
    return replace(finding, message=message, fix=fix, facts={**finding.facts, "missing": field})


async def _hidden(case: Case, ask: Ask) -> Finding:
    """GitLab answers the same for a missing licence, a role too low and a missing object."""
    case = await with_context(case, ask)
    if case.token is not None and not case.token.alive:
        return token_not_accepted(case)
    return causes.most_likely(
        case, (hidden_from_fine_grained, *causes.CAUSES_OF_HIDDEN_IN_GRAPHQL), missing_record(case, None)
    )


def _no_such_widget() -> Finding:
    return Finding(
        Code.REJECTED,
        Confidence.LIKELY,
        "This type of work item has no place for one of the fields.",
        ("GitLab names the widget in gitlab_message",),
        "Leave the field out; browse_work_items types says which widgets each type has.",
    )


def _not_in_schema(case: Case) -> Finding:
    return Finding(
        Code.FEATURE_UNAVAILABLE,
        Confidence.LIKELY,
        "This GitLab's GraphQL has no such field: another edition or an older version.",
        (f"this GitLab is {case.instance.version}",) if case.instance.version else (),
        "Use a GitLab that has it, or another action.",
        {"version": case.instance.version, "edition": case.instance.edition},
    )

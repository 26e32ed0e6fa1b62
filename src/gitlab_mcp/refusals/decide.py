"""The decision tree for a refusal of the REST API; `refusals/__init__.py` draws it."""

from __future__ import annotations

from collections.abc import Callable

from gitlab_mcp.actions.action import Action
from gitlab_mcp.actions.ask import Ask
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import Failure
from gitlab_mcp.gitlab.faults import Refused
from gitlab_mcp.refusals import causes
from gitlab_mcp.refusals.alternatives import offer
from gitlab_mcp.refusals.body import read_body
from gitlab_mcp.refusals.by_sentence import by_sentence
from gitlab_mcp.refusals.by_status import by_status, project_moved, rate_limited, server_error, without_json
from gitlab_mcp.refusals.case import Case, with_context
from gitlab_mcp.refusals.findings import Finding, as_failure
from gitlab_mcp.refusals.merge_blockers import merge_blocked
from gitlab_mcp.refusals.missing import name_missing
from gitlab_mcp.refusals.not_found import not_found
from gitlab_mcp.refusals.token_problems import oauth_error, refused_to_job, unauthorized
from gitlab_mcp.tiers.feature_map import TierMap
from gitlab_mcp.tiers.requirements import requirements_of_call


async def explain_refusal(
    refused: Refused, action: Action | None, ask: Ask, tiers: Callable[[], TierMap]
) -> Failure:
    body = read_body(refused)
    case = Case(refused, body, action, requirements_of_call(action, tiers))
    finding = await _decide(case, ask)
    if finding.code == Code.NOT_FOUND:
        finding = await name_missing(finding, case, ask)
    failure = as_failure(offer(finding, case)).knowing(http_status=refused.status)
    shown = body.message if 400 <= refused.status < 500 else ""
    return failure.knowing(gitlab_message=shown or None)


async def _decide(case: Case, ask: Ask) -> Finding:
    refused, body = case.refused, case.body
    if refused.status == 429:
        return rate_limited(refused)
    if refused.status >= 500:
        return server_error(refused)
    if refused.status < 400:
        return await project_moved(refused, ask)
    if refused.body() is None:
        return without_json(case)
    if body.oauth_error:
        return oauth_error(case)
    if found := await refused_to_job(case, ask):
        return found
    if body.status_only:
        return await _by_status_only(case, ask)
    return await by_sentence(case, ask)


async def _by_status_only(case: Case, ask: Ask) -> Finding:
    match case.refused.status:
        case 401:
            return unauthorized(await with_context(case, ask))
        case 403:
            case = await with_context(case, ask)
            return causes.most_likely(case, causes.CAUSES_OF_403, causes.not_permitted(case))
        case 404:
            return await not_found(case, ask)
        case 405 if case.is_merge:
            return await merge_blocked(case, ask)
        case status:
            if case.requirements:
                case = await with_context(case, ask)
            return causes.most_likely(case, causes.CAUSES_OF_OTHER_STATUSES, by_status(case, status))

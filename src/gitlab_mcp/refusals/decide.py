"""What GitLab's refusals mean: status and sentence first, then the causes they leave."""

from __future__ import annotations

from collections.abc import Callable

from gitlab_mcp.actions.action import Action
from gitlab_mcp.actions.ask import Ask
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import Failure
from gitlab_mcp.gitlab.faults import Refused
from gitlab_mcp.refusals import causes
from gitlab_mcp.refusals.bodies import read
from gitlab_mcp.refusals.by_sentence import named, paid_and_refused, permission, rejected
from gitlab_mcp.refusals.by_status import by_status, moved, rate_limited, server_error, without_words
from gitlab_mcp.refusals.case import Case, gather
from gitlab_mcp.refusals.findings import Finding, as_failure
from gitlab_mcp.refusals.merge_blockers import merge_blocked
from gitlab_mcp.refusals.not_found import PLACES, missing_place, missing_record, no_route
from gitlab_mcp.refusals.signatures import recognise, recognise_fields
from gitlab_mcp.refusals.token_problems import oauth, unauthorized, unknown_token
from gitlab_mcp.tiers.feature_map import TierMap
from gitlab_mcp.tiers.requirements import requirements_of


async def translate(
    refused: Refused, action: Action | None, ask: Ask, tiers: Callable[[], TierMap]
) -> Failure:
    said = read(refused)
    case = Case(refused, said, action, requirements_of(action, tiers))
    failure = as_failure(await _find(case, ask)).knowing(http_status=refused.status)
    shown = said.message if 400 <= refused.status < 500 else ""
    return failure.knowing(gitlab_message=shown or None)


async def _find(case: Case, ask: Ask) -> Finding:
    refused, said = case.refused, case.said
    if refused.status == 429:
        return rate_limited(refused)
    if refused.status >= 500:
        return server_error(refused)
    if refused.status < 400:
        return moved(refused)
    if refused.body() is None:
        return without_words(case)
    if said.error:
        return oauth(case)
    if said.bare:
        return await _bare(case, ask)
    return await _in_words(case, ask)


async def _bare(case: Case, ask: Ask) -> Finding:
    match case.refused.status:
        case 401:
            return unauthorized(await gather(case, ask))
        case 403:
            case = await gather(case, ask)
            return causes.weigh(case, causes.FORBIDDEN, causes.not_permitted(case))
        case 404:
            return await _not_found(case, ask)
        case 405 if case.refused.request.path.endswith("/merge"):
            return await merge_blocked(case, ask)
        case status:
            if case.requirements:
                case = await gather(case, ask)
            return causes.weigh(case, (causes.tier, causes.state), by_status(case, status))


async def _in_words(case: Case, ask: Ask) -> Finding:
    signature = recognise_fields(case.said.fields) if case.said.fields else recognise(case.said.texts)
    if "moved projects" in case.said.message:
        return moved(case.refused)
    if case.requirements:
        case = await gather(case, ask)
        if found := paid_and_refused(case, signature):
            return found
        if signature is not None and signature.code == Code.TIER_RESTRICTED:
            # It sounds like a licence, and the licence is there.
            return rejected(case, None)
    if signature is None and case.refused.status in (401, 403):
        case = await gather(case, ask)
        return causes.weigh(case, causes.FORBIDDEN, causes.not_permitted(case))
    if signature is None:
        return causes.state(case) or by_status(case, case.refused.status)
    if signature.code == Code.PERMISSION_DENIED:
        case = await gather(case, ask)
        return causes.weigh(case, (causes.archived,), permission(case, signature))
    if signature.code == Code.FEATURE_UNAVAILABLE:
        case = await gather(case, ask)
        return causes.weigh(case, (causes.switch,), named(case, signature))
    if signature.code == Code.AUTHENTICATION_FAILED and case.refused.status == 401:
        return unknown_token(await gather(case, ask))
    if signature.code == Code.REJECTED:
        return rejected(case, signature)
    if signature.facts.get("state") == "conflict" and case.refused.request.path.endswith("/merge"):
        return await merge_blocked(case, ask)
    return named(case, signature)


async def _not_found(case: Case, ask: Ask) -> Finding:
    said = case.said
    thing = said.thing
    if thing in PLACES:
        return missing_place(case, thing)
    if thing and (signature := recognise((thing,))):
        # A validation in the place of the thing: `404 Award Emoji Name has already been taken Not Found`.
        return rejected(case, signature) if signature.code == Code.REJECTED else named(case, signature)
    case = await gather(case, ask)
    if said.no_such_route:
        return causes.weigh(case, (causes.tier, causes.edition), no_route(case))
    if said.bare == "404 Not Found":
        return causes.weigh(case, causes.NO_REASON, missing_record(case, None))
    return causes.weigh(case, (*causes.NO_RECORD, causes.repository_off), missing_record(case, thing))

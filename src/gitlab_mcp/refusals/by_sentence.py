"""What a refusal with a sentence means. The sentences that name a cause are in `known_sentences.py`."""

from __future__ import annotations

from typing import Final

from gitlab_mcp.actions.ask import Ask
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.refusals import causes
from gitlab_mcp.refusals.by_status import by_status, limited_by_the_minute, project_moved
from gitlab_mcp.refusals.case import Case, with_context
from gitlab_mcp.refusals.findings import Confidence, Finding
from gitlab_mcp.refusals.known_sentences import KnownSentence, recognise, recognise_field_errors
from gitlab_mcp.refusals.merge_blockers import head_moved, merge_blocked
from gitlab_mcp.refusals.protected_branches import push_refused
from gitlab_mcp.refusals.sentence_findings import as_sentence_says, rejected
from gitlab_mcp.refusals.token_problems import token_not_accepted
from gitlab_mcp.tiers.feature_map import Expected

BAD_REQUEST: Final = "400 Bad request"


async def by_sentence(case: Case, ask: Ask) -> Finding:
    body, status = case.body, case.refused.status
    sentence = recognise_field_errors(body.field_errors) if body.field_errors else recognise(body.sentences)
    if "moved projects" in body.message:
        return await project_moved(case.refused, ask)
    if case.requirements:
        case = await with_context(case, ask)
        if found := _tier_behind_sentence(case, sentence):
            return found
        if sentence is not None and sentence.code == Code.TIER_RESTRICTED:
            # The sentence is about a licence, but the tier is high enough.
            return rejected(case, None)
    if sentence is None and status in (401, 403):
        case = await with_context(case, ask)
        return causes.most_likely(case, causes.CAUSES_OF_403, causes.not_permitted(case))
    if sentence is None:
        return causes.known_at_route(case) or by_status(case, status)
    return await _by_known_sentence(case, sentence, ask)


async def _by_known_sentence(case: Case, sentence: KnownSentence, ask: Ask) -> Finding:
    match sentence.code:
        case Code.PERMISSION_DENIED:
            if found := await _closed_group(case, ask):
                return found
            case = await with_context(case, ask)
            return causes.most_likely(
                case,
                (causes.project_read_only, causes.feature_switched_off),
                _permission_denied(case, sentence),
            )
        case Code.FEATURE_UNAVAILABLE:
            case = await with_context(case, ask)
            return causes.most_likely(case, (causes.feature_switched_off,), as_sentence_says(case, sentence))
        case Code.AUTHENTICATION_FAILED if case.refused.status == 401:
            return token_not_accepted(await with_context(case, ask))
        case Code.REJECTED:
            return rejected(case, sentence)
        case Code.RATE_LIMITED:
            return limited_by_the_minute(case.refused, sentence.message)
        case Code.CONFLICT if sentence.facts.get("state") == "conflict" and case.is_merge:
            return await merge_blocked(case, ask)
        case Code.CONFLICT if "sha does not match head" in case.body.message.lower():
            return await head_moved(as_sentence_says(case, sentence), case, ask)
        case _:
            return as_sentence_says(case, sentence)


async def _closed_group(case: Case, ask: Ask) -> Finding | None:
    group = case.given.get("namespace_id")
    if group is None or "namespace" not in case.body.field_errors:
        return None
    return causes.namespace_closed(await ask.group(str(group)))


def _tier_behind_sentence(case: Case, sentence: KnownSentence | None) -> Finding | None:
    """Where the call needs a feature above the tier: the tier explains the sentence unless it is about values."""
    above = case.requirement_above_tier()
    requirement = above or case.requirement_possibly_above_tier()
    if requirement is None:
        return None
    if sentence is not None and sentence.code == Code.TIER_RESTRICTED:
        confidence = Confidence.CERTAIN if above else Confidence.LIKELY
        return causes.tier_finding(case, requirement, confidence, case.tier)
    without = case.expected_without(requirement)
    expected = any(each.says and each.says in case.body.message for each in without.behaviours)
    refuses = without.may_be("refused")
    status = case.refused.status
    about_values = bool(case.body.field_errors) or status == 409 or (status == 422 and not refuses)
    explained = (Code.PERMISSION_DENIED, Code.NOT_FOUND) if refuses else (Code.PERMISSION_DENIED,)
    may_be_tier = sentence is not None and sentence.or_tier
    other_words = status == 400 and without.is_surely("refused") and _all_say_why(without)
    unexplained = may_be_tier or (not other_words and (sentence is None or sentence.code in explained))
    if expected or (requirement.field is None and unexplained and not about_values):
        return causes.tier_finding(case, requirement, Confidence.LIKELY, case.tier)
    return None


def _all_say_why(without: Expected) -> bool:
    """Whether it is known in which words each refuses for the tier: other words have another cause."""
    return all(each.says and each.says != BAD_REQUEST for each in without.behaviours)


def _permission_denied(case: Case, sentence: KnownSentence) -> Finding:
    """A role that is known to be too low explains the refusal better than the sentence does."""
    if found := push_refused(case):
        return found
    by_role = causes.role_too_low(case)
    if by_role is None or case.role_suffices is not False:
        return as_sentence_says(case, sentence)
    return by_role

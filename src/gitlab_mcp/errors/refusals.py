"""What GitLab's refusals mean: status and sentence first, then the causes they leave."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from gitlab_mcp.core.action import Action
from gitlab_mcp.errors import catalogue as codes
from gitlab_mcp.errors import causes
from gitlab_mcp.errors.ask import Ask
from gitlab_mcp.errors.bodies import Said, clean, read
from gitlab_mcp.errors.case import Case, gather, merge_request_of, paid_for
from gitlab_mcp.errors.complaints import complaints
from gitlab_mcp.errors.failure import Failure
from gitlab_mcp.errors.findings import Finding, Proof, as_failure, settle
from gitlab_mcp.errors.merging import blockers
from gitlab_mcp.errors.signatures import Signature, recognise, recognise_fields
from gitlab_mcp.errors.tiers import TierMap
from gitlab_mcp.gitlab.faults import GraphQLRefused, Refused

Tiers = Callable[[], TierMap]

_PLACES: Final = ("Project", "Group", "Namespace")
_PLAIN_WORDS: Final = re.compile(r"[A-Za-z][A-Za-z ]{0,40}")
_MOVED: Final = re.compile(r"moved projects", re.IGNORECASE)
_HIDDEN_BY_GRAPHQL: Final = re.compile(r"does not exist or you don't have permission", re.IGNORECASE)
_LONG_PATH: Final = 4000


async def translate(refused: Refused, action: Action | None, ask: Ask, tiers: Tiers) -> Failure:
    said = read(refused)
    case = Case(refused, said, action, paid_for(action, tiers))
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
            if case.paid:
                case = await gather(case, ask)
            return causes.weigh(case, (causes.tier, causes.state), by_status(case, status))


async def _in_words(case: Case, ask: Ask) -> Finding:
    signature = recognise_fields(case.said.fields) if case.said.fields else recognise(case.said.texts)
    path = case.refused.request.path
    if _MOVED.search(case.said.message):
        return moved(case.refused)
    if case.paid:
        case = await gather(case, ask)
        if found := paid_and_refused(case, signature):
            return found
    if signature is None and case.refused.status in (401, 403):
        case = await gather(case, ask)
        return causes.weigh(case, causes.FORBIDDEN, causes.not_permitted(case))
    if signature is None:
        return causes.state(case) or by_status(case, case.refused.status)
    if signature.code == codes.PERMISSION_DENIED:
        case = await gather(case, ask)
        return causes.weigh(case, (causes.archived,), permission(case, signature))
    if signature.code == codes.FEATURE_UNAVAILABLE:
        case = await gather(case, ask)
        return causes.weigh(case, (causes.switch,), named(case, signature))
    if signature.code == codes.AUTHENTICATION_FAILED and case.refused.status == 401:
        return unknown_token(await gather(case, ask))
    if signature.code == codes.REJECTED:
        return rejected(case, signature)
    if signature.code == codes.CONFLICT and path.endswith("/merge"):
        return await merge_blocked(case, ask)
    return named(case, signature)


def paid_and_refused(case: Case, signature: Signature | None) -> Finding | None:
    """A sentence where the call needs a paid feature: the licence explains it unless the sentence is about values."""
    paid = case.lacking() or case.maybe_lacking()
    if paid is None:
        return None
    proof = Proof.CERTAIN if case.lacking() else Proof.LIKELY
    if signature is not None and signature.code == codes.TIER_RESTRICTED:
        return causes.tier_finding(case, paid, proof, case.tier)
    known = case.without(paid)
    expected = known is not None and known.says is not None and known.says in case.said.message
    refuses = known is None or known.effect == "refused"
    about_values = (
        bool(case.said.fields) or case.refused.status == 409 or (case.refused.status == 422 and not refuses)
    )
    explained = (codes.PERMISSION_DENIED, codes.NOT_FOUND) if refuses else (codes.PERMISSION_DENIED,)
    unexplained = signature is None or signature.code in explained
    stands_otherwise = signature is not None and signature.code == codes.CONFLICT
    if (expected and not stands_otherwise) or (paid.field is None and unexplained and not about_values):
        return causes.tier_finding(case, paid, Proof.LIKELY, case.tier)
    return None


def unauthorized(case: Case) -> Finding:
    if case.token is None or not case.token.alive:
        return unknown_token(case)
    otherwise = Finding(
        codes.PERMISSION_DENIED,
        Proof.LIKELY,
        "GitLab answered 401, but the token is alive: this user may not do that.",
        ("the token is alive",),
        "Ask somebody with a higher role to do it.",
    )
    return causes.weigh(case, causes.UNAUTHORIZED, otherwise)


def unknown_token(case: Case) -> Finding:
    token = case.token
    if token is not None and token.alive:
        return Finding(
            codes.SCOPE_INSUFFICIENT,
            Proof.LIKELY,
            "The token is alive, but it is not accepted for this.",
            ("the token is alive", *((f"its scopes are {', '.join(token.scopes)}",) if token.scopes else ())),
            "Use a token with the scope api.",
            {"scope_required": "api", "scope_held": list(token.scopes)},
            (codes.PERMISSION_DENIED,),
        )
    problem = (token.problem if token else None) or "unknown"
    evidence = (f"asked about itself, the token is {problem}",) if token else ()
    return dead_token(problem, Proof.CERTAIN if token else Proof.LIKELY, evidence)


def dead_token(problem: str, proof: Proof, evidence: tuple[str, ...]) -> Finding:
    sentence = {
        "expired": "The token has expired.",
        "revoked": "The token was revoked.",
        "blocked": "The user of the token is blocked or deactivated.",
    }.get(problem, "GitLab does not know this token.")
    return Finding(
        codes.AUTHENTICATION_FAILED,
        proof,
        sentence,
        evidence,
        "Create a new token in GitLab and give it to the server.",
        {"token_problem": problem},
    )


def oauth(case: Case) -> Finding:
    said = case.said
    if "scope" in said.error:
        # The list names what the endpoint knows, and read_api does not write: for a write only api is meant.
        needed = "api" if case.writes and "api" in said.scope else " or ".join(said.scope) or "api"
        return Finding(
            codes.SCOPE_INSUFFICIENT,
            Proof.CERTAIN,
            f"The token's scope does not allow this; it needs {needed}.",
            ("GitLab says the scope is insufficient",),
            f"Create a token with the scope {needed}.",
            {"scope_required": needed},
        )
    words = said.message.lower()
    problem = next((word for word in ("expired", "revoked") if word in words), "unknown")
    return dead_token(problem, Proof.CERTAIN, ("GitLab says so",))


async def _not_found(case: Case, ask: Ask) -> Finding:
    said = case.said
    thing = said.thing
    if thing in _PLACES:
        return missing_place(case, thing)
    if thing and (signature := recognise((thing,))):
        # A validation in the place of the thing: `404 Award Emoji Name has already been taken Not Found`.
        return rejected(case, signature) if signature.code == codes.REJECTED else named(case, signature)
    case = await gather(case, ask)
    if said.no_such_route:
        return causes.weigh(case, (causes.tier, causes.edition), no_route(case))
    if said.bare == "404 Not Found":
        return causes.weigh(case, causes.NO_REASON, missing_record(case, None))
    return causes.weigh(case, (*causes.NO_RECORD, causes.repository_off), missing_record(case, thing))


def missing_place(case: Case, thing: str) -> Finding:
    field = f"{thing.lower()}_id"
    return Finding(
        codes.NOT_FOUND,
        Proof.LIKELY,
        f"There is no such {thing.lower()}, or this user may not see it.",
        (f"GitLab does not find the {thing.lower()}",),
        f"Check {field}: give the full path, such as acme/website, or the number; check who the token belongs to."
        if thing == "Project"
        else f"Check {field}: give the full path or the number; check who the token belongs to.",
        {"missing": field},
        (codes.PERMISSION_DENIED,),
    )


def missing_record(case: Case, thing: str | None) -> Finding:
    name = thing.lower() if thing and _PLAIN_WORDS.fullmatch(thing) else None
    missing = ", ".join(case.placeholders) or name
    return Finding(
        codes.NOT_FOUND,
        Proof.LIKELY if case.said.bare != "404 Not Found" else Proof.POSSIBLE,
        f"There is no such {name or 'object'}, or this user may not see it.",
        ("the project can be read, so what is missing lies below it",) if case.project else (),
        f"Check {missing}; look it up with a list action." if missing else "Look it up with a list action.",
        {"missing": missing} if missing else {},
        (codes.FEATURE_UNAVAILABLE,) if case.said.bare == "404 Not Found" else (),
    )


def no_route(case: Case) -> Finding:
    version = case.instance.version
    return Finding(
        codes.NOT_FOUND,
        Proof.POSSIBLE,
        "This GitLab has no such address: an identifier is malformed, or this version does not have it.",
        (f"this GitLab is {version}",) if version else (),
        "Check the identifiers; a newer GitLab may be needed.",
        {"version": version, "edition": case.instance.edition},
        (codes.FEATURE_UNAVAILABLE,),
    )


async def merge_blocked(case: Case, ask: Ask) -> Finding:
    found = merge_request_of(case.refused.request.path)
    merge_request = await ask.merge_request(*found) if found else None
    known = blockers(merge_request) if merge_request else ()
    if not known:
        return Finding(
            codes.CONFLICT,
            Proof.LIKELY,
            "The merge request cannot be merged now.",
            (f"GitLab answered {case.refused.status} to the merge",),
            "Read detailed_merge_status with browse_merge_requests get.",
            {"state": "not mergeable"},
        )
    reasons = "; ".join(blocker["reason"] for blocker in known)
    state = str(merge_request.get("state", "")) if merge_request else ""
    return Finding(
        codes.CONFLICT,
        Proof.CERTAIN,
        f"The merge request cannot be merged: {reasons}.",
        tuple(f"the merge request says {blocker['status']}" for blocker in known),
        " ".join(blocker["lifted_by"] for blocker in known),
        {"state": state if state in ("merged", "closed") else known[0]["status"], "blockers": list(known)},
    )


def permission(case: Case, signature: Signature) -> Finding:
    """A sentence about permission, with the role beside it where the role explains it."""
    by_role = causes.role(case)
    if by_role is None or case.role_suffices is not False:
        return named(case, signature)
    return Finding(
        codes.PERMISSION_DENIED, Proof.CERTAIN, by_role.message, by_role.evidence, by_role.fix, by_role.facts
    )


def named(case: Case, signature: Signature) -> Finding:
    found = complaints(case.said.fields, case.action)
    facts: dict[str, Any] = {**signature.facts, **found.facts()}
    if signature.code == codes.NOT_FOUND and found.names:
        facts["missing"] = ", ".join(found.names)
    return Finding(
        signature.code,
        Proof.LIKELY,
        signature.message,
        ("GitLab says so in gitlab_message",),
        signature.fix,
        facts,
    )


def rejected(case: Case, signature: Signature | None = None) -> Finding:
    found = complaints(case.said.fields, case.action)
    names = ", ".join(found.names)
    if found.missing and not found.invalid:
        message = f"GitLab needs {names}."
    elif names:
        message = f"GitLab does not accept {names}."
    else:
        message = signature.message if signature else "GitLab does not accept the arguments."
    fix = f"Correct {names}." if names else "Read gitlab_message and correct the arguments."
    return Finding(
        codes.REJECTED,
        Proof.LIKELY,
        message,
        ("GitLab says so in gitlab_message",),
        (signature.fix if signature and signature.fix else fix),
        found.facts(),
    )


def conflict(case: Case) -> Finding:
    return Finding(
        codes.CONFLICT,
        Proof.LIKELY,
        "It is in the way of what is there: it exists already, or it changed in the meantime.",
        (f"GitLab answered {case.refused.status}",),
        "Read the present state, then decide whether the change is still wanted.",
    )


def by_status(case: Case, status: int) -> Finding:
    """What a status means where nothing else is known."""
    match status:
        case 401 | 403:
            return causes.not_permitted(case)
        case 404:
            return missing_record(case, None)
        case 409 | 412:
            return conflict(case)
        case 400 | 422:
            return rejected(case)
        case 405 if case.said.texts:
            return rejected(case)
        case 413:
            return Finding(
                codes.PAYLOAD_TOO_LARGE,
                Proof.LIKELY,
                "GitLab takes no request this large.",
                (),
                "Send less at a time.",
            )
        case _:
            return Finding(
                codes.API_ERROR,
                Proof.LIKELY,
                f"GitLab refused the request with {status}.",
                (),
                "Read gitlab_message and the documentation of the action.",
            )


def without_words(case: Case) -> Finding:
    """No JSON, or an empty body: something before GitLab's API answered, or a request it could not even read."""
    refused = case.refused
    beginning = refused.content[:512].lstrip().lower()
    if beginning.startswith((b"<!doctype", b"<html", b"<?xml")) or b"<html" in beginning:
        return not_gitlab(refused)
    match refused.status:
        case 400 if beginning.startswith(b"bad request"):
            return Finding(
                codes.INVALID_ENCODING,
                Proof.LIKELY,
                "GitLab could not read the text: a NUL character, a lone surrogate, or bytes that are not UTF-8.",
                ("GitLab answered 400 before looking at the request",),
                "Send the text without such characters.",
                {},
                (codes.REJECTED,),
            )
        case 400 if len(refused.request.path) + len(str(refused.request.query)) > _LONG_PATH:
            return by_status(case, 413)
        case 401:
            return dead_token("unknown", Proof.POSSIBLE, ())
        case status:
            return by_status(case, status)


def not_gitlab(refused: Refused) -> Finding:
    return Finding(
        codes.BAD_RESPONSE,
        Proof.LIKELY,
        "A web page came back instead of GitLab's API: a login page, a proxy, or a wrong base URL.",
        (f"the answer is HTML with status {refused.status}",),
        "Check GITLAB_URL and what stands between this server and GitLab.",
    )


def moved(refused: Refused) -> Finding:
    location = urlsplit(refused.headers.get("location", ""))
    project = re.search(r"/api/v4/projects/(\d+)", location.path)
    if location.path and not project:
        return not_gitlab(refused)
    return Finding(
        codes.NOT_FOUND,
        Proof.CERTAIN,
        "The project was renamed or moved; this is its old path.",
        ("GitLab points to another address",),
        f"Use project_id {project[1]}."
        if project
        else "Look the project up with browse_projects and use its new path.",
        {"missing": "project_id", **({"moved_to": project[1]} if project else {})},
    )


def rate_limited(refused: Refused) -> Finding:
    headers = refused.headers
    facts = {
        "retry_after_seconds": _seconds(headers.get("retry-after")),
        "limit": _seconds(headers.get("ratelimit-limit")),
        "remaining": _seconds(headers.get("ratelimit-remaining")),
        "reset_at": clean(headers.get("ratelimit-resettime", ""), 40)
        or _seconds(headers.get("ratelimit-reset")),
    }
    wait = facts["retry_after_seconds"]
    return Finding(
        codes.RATE_LIMITED,
        Proof.CERTAIN,
        "GitLab takes no more requests of this kind for now.",
        ("GitLab answered 429",),
        f"Wait {wait} seconds." if wait is not None else "Wait a minute, then call less often.",
        {name: value for name, value in facts.items() if value is not None},
    )


def _seconds(value: str | None) -> int | None:
    # A date in Retry-After, or a year 9999, is no wait worth telling.
    return int(value) if value and value.isascii() and value.isdigit() and len(value) <= 10 else None


def server_error(refused: Refused) -> Finding:
    maintenance = refused.status == 503 and b"maintenance" in refused.content[:4096].lower()
    facts: dict[str, Any] = {"maintenance": True} if maintenance else {}
    if event := clean(refused.headers.get("x-request-id", ""), 64):
        facts["event_id"] = event
    if maintenance:
        message, fix = (
            "GitLab is in maintenance mode.",
            "Try again when the maintenance is over; reads may work.",
        )
    elif refused.status == 500:
        # 16 of 17 recorded 500s were answers to mistakes of the caller.
        message = "GitLab failed while it worked on this; unusual arguments are often the reason."
        fix = "Check the arguments: patterns, numbers, positions, names; sending the same again will hardly help."
    else:
        message, fix = f"GitLab, or what stands before it, answered {refused.status}.", "Try again later."
    return Finding(
        codes.SERVER_ERROR, Proof.LIKELY, message, (f"GitLab answered {refused.status}",), fix, facts
    )


async def translate_graphql(
    problem: GraphQLRefused, action: Action | None, ask: Ask, tiers: Tiers
) -> Failure:
    texts = tuple(clean(str(error.get("message", ""))) for error in problem.errors[:20])
    said = Said(texts=texts, message=clean("; ".join(texts)))
    case = Case(Refused(problem.request, 200), said, action, paid_for(action, tiers))
    finding = await _graphql(case, problem.errors, ask)
    return as_failure(finding).knowing(gitlab_message=said.message or None)


async def _graphql(case: Case, errors: tuple[Mapping[str, Any], ...], ask: Ask) -> Finding:
    kinds = {
        str(error["extensions"].get("code", ""))
        for error in errors
        if isinstance(error.get("extensions"), Mapping)
    }
    if kinds & {"undefinedField", "undefinedType", "argumentNotAccepted"}:
        case = await gather(case, ask)
        return causes.weigh(case, (causes.tier,), _not_in_schema(case))
    if any(_HIDDEN_BY_GRAPHQL.search(text) for text in case.said.texts):
        case = await gather(case, ask)
        hidden = missing_record(case, None)
        return causes.weigh(case, (causes.tier, causes.archived, causes.switch, causes.role), hidden)
    signature = recognise(case.said.texts)
    if signature is None or signature.code == codes.REJECTED:
        return rejected(case, signature)
    return settle([named(case, signature)])


def _not_in_schema(case: Case) -> Finding:
    return Finding(
        codes.FEATURE_UNAVAILABLE,
        Proof.LIKELY,
        "This GitLab's GraphQL has no such field: another edition or an older version.",
        (f"this GitLab is {case.instance.version}",) if case.instance.version else (),
        "Use a GitLab that has it, or another action.",
        {"version": case.instance.version, "edition": case.instance.edition},
    )

"""What a status means where the body says nothing more."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import urlsplit

from gitlab_mcp.actions.ask import Ask
from gitlab_mcp.failures import allowed_words
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.counted import counted
from gitlab_mcp.gitlab.faults import Refused
from gitlab_mcp.refusals import causes
from gitlab_mcp.refusals.case import Case
from gitlab_mcp.refusals.findings import Confidence, Finding
from gitlab_mcp.refusals.not_found import missing_record
from gitlab_mcp.refusals.sentence_findings import rejected
from gitlab_mcp.refusals.token_problems import dead_token
from gitlab_mcp.refusals.transport_failures import limited, moment_in

_LONG_PATH: Final = 4000
_LONGEST_BELIEVED: Final = 3600
"""Of a Retry-After. A longer one is not waited for either."""
_A_MINUTE: Final = 60


def by_status(case: Case, status: int) -> Finding:
    match status:
        case 401 | 403:
            return causes.not_permitted(case)
        case 404:
            return missing_record(case, None)
        case 409 | 412:
            return _conflict(case)
        case 400 | 422:
            return rejected(case)
        case 405 if case.body.sentences:
            return rejected(case)
        case 413:
            return Finding(
                Code.PAYLOAD_TOO_LARGE,
                Confidence.LIKELY,
                "GitLab takes no request this large.",
                (),
                "Send less at a time.",
            )
        case _:
            return Finding(
                Code.API_ERROR,
                Confidence.LIKELY,
                f"GitLab refused the request with {status}.",
                (),
                "Read gitlab_message and the documentation of the action.",
            )


def _conflict(case: Case) -> Finding:
    return Finding(
        Code.CONFLICT,
        Confidence.LIKELY,
        "It is in the way of what is there: it exists already, or it changed in the meantime.",
        (f"GitLab answered {case.refused.status}",),
        "Read the present state, then decide whether the change is still wanted.",
    )


def without_json(case: Case) -> Finding:
    """Something in front of GitLab answered, or GitLab could not read the request."""
    refused = case.refused
    beginning = refused.content[:512].lstrip().lower()
    if refused.is_web_page:
        return _web_page(refused)
    match refused.status:
        case 400 if beginning.startswith(b"bad request"):
            return Finding(
                Code.INVALID_ENCODING,
                Confidence.LIKELY,
                "GitLab could not read the text: a NUL character, a lone surrogate, or bytes that are not UTF-8.",
                ("GitLab answered 400 before looking at the request",),
                "Send the text without such characters.",
                {},
                (Code.REJECTED,),
            )
        case 400 if beginning.startswith(b"potential path traversal"):
            return Finding(
                Code.REJECTED,
                Confidence.LIKELY,
                "GitLab refuses the dots in the path: `..` would lead out of it.",
                ("GitLab answered 400 before looking at the request",),
                "Name the path from the root of the repository, without `..`.",
            )
        case 400 if len(refused.request.path) + len(str(refused.request.query)) > _LONG_PATH:
            return by_status(case, 413)
        case 401:
            return dead_token("unknown", Confidence.POSSIBLE, ())
        case status:
            return by_status(case, status)


def _web_page(refused: Refused) -> Finding:
    if refused.headers.get("cf-mitigated") == "challenge":
        return Finding(
            Code.BAD_RESPONSE,
            Confidence.CERTAIN,
            "What stands before GitLab wants to see a browser; GitLab itself was not asked.",
            (f"the answer is a challenge with status {refused.status}",),
            "Call less often for some minutes. Where it stays, use another network: addresses of VPNs and data centres "
            "are challenged more.",
        )
    return Finding(
        Code.BAD_RESPONSE,
        Confidence.LIKELY,
        "A web page came back instead of GitLab's API: a login page, a proxy, or a wrong base URL.",
        (f"the answer is HTML with status {refused.status}",),
        "Check GITLAB_URL and what stands between this server and GitLab.",
    )


async def project_moved(refused: Refused, ask: Ask) -> Finding:
    """A project that is marked for deletion has another path until it is restored."""
    finding = _renamed(refused)
    number = finding.facts.get("moved_to")
    project = await ask.project(number) if number else None
    if not (project and project.get("marked_for_deletion_on")):
        return finding
    return replace(
        finding,
        message="The project is marked for deletion; it was renamed when it was marked, and this is its old path.",
        fix=f"Use project_id {number}. An owner can take the deletion back: manage_project restore.",
        facts={**finding.facts, "state": "marked for deletion"},
    )


def _renamed(refused: Refused) -> Finding:
    location = urlsplit(refused.headers.get("location", ""))
    project = re.search(r"/api/v4/projects/(\d+)", location.path)
    if location.path and not project:
        return _web_page(refused)
    return Finding(
        Code.NOT_FOUND,
        Confidence.CERTAIN,
        "The project was renamed or moved; this is its old path.",
        ("GitLab points to another address",),
        f"Use project_id {project[1]}."
        if project
        else "Look the project up with browse_projects and use its new path.",
        {"missing": "project_id", **({"moved_to": project[1]} if project else {})},
    )


def rate_limited(refused: Refused) -> Finding:
    headers = refused.headers
    wait = _seconds(headers.get("retry-after"))
    by_token = refused.limits_the_token
    facts = {
        "limited": limited(
            None if by_token else refused.request,
            "every request from this address" if refused.is_web_page else "every request of this token",
        ),
        "retry_after_seconds": wait,
        "limit": _seconds(headers.get("ratelimit-limit")),
        # GitLab converts the quota to requests a minute, whatever the administrator set.
        "window": "minute" if _seconds(headers.get("ratelimit-limit")) is not None else None,
        "remaining": _seconds(headers.get("ratelimit-remaining")),
        "reset_at": allowed_words.http_date(headers.get("ratelimit-resettime"))
        or _moment(_seconds(headers.get("ratelimit-reset")))
        or (moment_in(wait) if wait is not None and wait <= _LONGEST_BELIEVED else None),
    }
    return Finding(
        Code.RATE_LIMITED,
        Confidence.CERTAIN,
        "What stands before GitLab takes no more requests from this address for now."
        if refused.is_web_page
        else f"GitLab takes no more requests of this {'token' if by_token else 'kind'} for now.",
        ("GitLab answered 429",),
        _waiting(wait, None if by_token else refused),
        {name: value for name, value in facts.items() if value is not None},
    )


def limited_by_the_minute(refused: Refused, message: str) -> Finding:
    """A limit that GitLab tells by a sentence, under another status than 429 and without headers."""
    return Finding(
        Code.RATE_LIMITED,
        Confidence.CERTAIN,
        message,
        ("GitLab says so in gitlab_message",),
        _waiting(_A_MINUTE, refused),
        {
            "limited": limited(refused.request, ""),
            "retry_after_seconds": _A_MINUTE,
            "window": "minute",
            "reset_at": moment_in(_A_MINUTE),
        },
    )


def _waiting(seconds: int | None, one_route: Refused | None) -> str:
    """`one_route`: the limit is that of its route alone."""
    wait = (
        f"Wait {counted(seconds, 'second')}" if seconds is not None else "Wait a minute, then call less often"
    )
    route = one_route.request.route if one_route else ""
    return (
        f"{wait}. Only {one_route.request.method} {route} waits: other calls go on."
        if one_route and route
        else f"{wait}."
    )


def _seconds(value: str | None) -> int | None:
    # Retry-After may also be a date.
    return int(value) if value and value.isascii() and value.isdigit() and len(value) <= 10 else None


def _moment(seconds: int | None) -> str | None:
    """Seconds since 1970, as ISO 8601."""
    return datetime.fromtimestamp(seconds, UTC).isoformat() if seconds is not None else None


def server_error(refused: Refused) -> Finding:
    maintenance = refused.status == 503 and b"maintenance" in refused.content[:4096].lower()
    facts: dict[str, Any] = {"maintenance": True} if maintenance else {}
    if event := allowed_words.request_id(refused.headers.get("x-request-id")):
        facts["gitlab_request_id"] = event
    if maintenance:
        message, fix = (
            "GitLab is in maintenance mode.",
            "Try again when the maintenance is over; reads may work.",
        )
    elif refused.status == 500:
        # 16 of 17 recorded 500s were answers to mistakes of the caller.
        message = "GitLab failed while it worked on this; unusual arguments are often the reason."
        fix = (
            "Check the arguments: patterns, numbers, positions, names. Where they are right, try again later."
        )
    else:
        message, fix = f"GitLab, or what stands before it, answered {refused.status}.", "Try again later."
    return Finding(
        Code.SERVER_ERROR, Confidence.LIKELY, message, (f"GitLab answered {refused.status}",), fix, facts
    )

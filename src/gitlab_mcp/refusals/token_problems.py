"""Refusals that are about the caller: the token, its scope, its user."""

from __future__ import annotations

from gitlab_mcp.actions.ask import NOT_FOR_THE_API, Ask
from gitlab_mcp.failures.allowed_words import CHOOSABLE_SCOPES
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.refusals import causes
from gitlab_mcp.refusals.case import Case
from gitlab_mcp.refusals.findings import Confidence, Finding
from gitlab_mcp.refusals.fine_grained import LACKS_PERMISSION, permission_missing


def unauthorized(case: Case) -> Finding:
    if case.token is None or not case.token.alive:
        return token_not_accepted(case)
    otherwise = Finding(
        Code.PERMISSION_DENIED,
        Confidence.LIKELY,
        "GitLab answered 401, but the token is alive: this user may not do that.",
        ("the token is alive",),
        "Ask somebody with a higher role to do it.",
    )
    return causes.most_likely(case, causes.CAUSES_OF_401, otherwise)


def token_not_accepted(case: Case) -> Finding:
    token = case.token
    if token is not None and token.alive:
        return Finding(
            Code.SCOPE_INSUFFICIENT,
            Confidence.LIKELY,
            "The token is alive, but it is not accepted for this.",
            ("the token is alive", *((f"its scopes are {', '.join(token.scopes)}",) if token.scopes else ())),
            "Use a token with the scope api.",
            {"scope_required": "api", "scope_held": list(token.scopes)},
            (Code.PERMISSION_DENIED,),
        )
    problem = (token.problem if token else None) or "unknown"
    if token and problem == NOT_FOR_THE_API:
        return _not_for_the_api(token.kind or "such a token")
    if token and token.kind == "job":
        return _job_is_over()
    evidence = (f"asked about itself, the token is {problem}",) if token else ()
    return dead_token(problem, Confidence.CERTAIN if token else Confidence.LIKELY, evidence)


def dead_token(problem: str, confidence: Confidence, evidence: tuple[str, ...]) -> Finding:
    sentence = {
        "expired": "The token has expired.",
        "revoked": "The token was revoked.",
        "blocked": "The user of the token is blocked or deactivated.",
    }.get(problem, "GitLab does not know this token.")
    return Finding(
        Code.AUTHENTICATION_FAILED,
        confidence,
        sentence,
        evidence,
        "Create a new token in GitLab and give it to the server.",
        {"token_problem": problem},
    )


def _not_for_the_api(what: str) -> Finding:
    return Finding(
        Code.AUTHENTICATION_FAILED,
        Confidence.CERTAIN,
        f"This is {what}, and GitLab's API is not opened by those.",
        ("the prefix of the token says what it is", "GitLab answered 401"),
        "Give the server a personal, project or group access token with the scope api, or read_api to read only.",
        {"token_problem": NOT_FOR_THE_API},
    )


def _job_is_over() -> Finding:
    return Finding(
        Code.AUTHENTICATION_FAILED,
        Confidence.CERTAIN,
        "GitLab does not know this CI job token: it lives only while its job runs.",
        ("asked for its job, GitLab does not know the token",),
        "Use it in a running job, or give the server an access token.",
        {"token_problem": "unknown"},
    )


async def refused_to_job(case: Case, ask: Ask) -> Finding | None:
    """The token of a CI/CD job is taken by few endpoints; the others answer as if nobody called."""
    if not ask.uses_job_token or case.refused.status not in (401, 403, 404):
        return None
    token = await ask.token()
    if token is None or not token.alive:
        return None
    needs = case.token_needs
    evidence = ("the token is that of a CI/CD job, and it is alive",)
    if needs is not None and not needs.job_token:
        return Finding(
            Code.SCOPE_INSUFFICIENT,
            Confidence.CERTAIN,
            "The token is that of a CI/CD job, and GitLab does not take those for this.",
            (*evidence, "this endpoint takes no job token"),
            f"Use an access token with the scope {'api' if case.writes else 'read_api'} for this; "
            "browse_instance explain_access shows what a job's token may do.",
            {"scope_required": "api" if case.writes else "read_api"},
        )
    if case.refused.status == 404 and case.body.missing_name not in (None, "Project"):
        return None
    return Finding(
        Code.SCOPE_INSUFFICIENT,
        Confidence.LIKELY,
        "The token is that of a CI/CD job, and it may not do this in this project.",
        evidence,
        "Ask a maintainer of the project to let the job's project in: Settings > CI/CD > Job token permissions. "
        "The person who started the job needs the role as well.",
        {},
        (Code.PERMISSION_DENIED, Code.NOT_FOUND),
    )


def oauth_error(case: Case) -> Finding:
    body = case.body
    if body.oauth_error == LACKS_PERMISSION:
        return permission_missing(case)
    if "scope" in body.oauth_error:
        # GitLab lists read_api for writes too, where only api works.
        choosable = [scope for scope in body.oauth_scopes if scope in CHOOSABLE_SCOPES]
        needed = "api" if case.writes and "api" in choosable else " or ".join(choosable) or "api"
        return Finding(
            Code.SCOPE_INSUFFICIENT,
            Confidence.CERTAIN,
            f"The token's scope does not allow this; it needs {needed}.",
            ("GitLab says the scope is insufficient",),
            f"Create a token with the scope {needed}.",
            {"scope_required": needed},
        )
    message = body.message.lower()
    problem = next((word for word in ("expired", "revoked") if word in message), "unknown")
    return dead_token(problem, Confidence.CERTAIN, ("GitLab says so",))

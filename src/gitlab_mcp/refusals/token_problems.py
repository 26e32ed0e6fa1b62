"""Refusals that are about the caller: the token, its scope, its user."""

from __future__ import annotations

from gitlab_mcp.failures.codes import Code
from gitlab_mcp.refusals import causes
from gitlab_mcp.refusals.case import Case
from gitlab_mcp.refusals.findings import Confidence, Finding


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


def oauth_error(case: Case) -> Finding:
    body = case.body
    if "scope" in body.oauth_error:
        # GitLab lists read_api for writes too, where only api works.
        needed = (
            "api" if case.writes and "api" in body.oauth_scopes else " or ".join(body.oauth_scopes) or "api"
        )
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

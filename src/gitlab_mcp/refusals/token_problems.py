"""Refusals that are about who calls: the token, its scope, its user."""

from __future__ import annotations

from gitlab_mcp.failures.codes import Code
from gitlab_mcp.refusals import causes
from gitlab_mcp.refusals.case import Case
from gitlab_mcp.refusals.findings import Finding, Proof


def unauthorized(case: Case) -> Finding:
    if case.token is None or not case.token.alive:
        return unknown_token(case)
    otherwise = Finding(
        Code.PERMISSION_DENIED,
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
            Code.SCOPE_INSUFFICIENT,
            Proof.LIKELY,
            "The token is alive, but it is not accepted for this.",
            ("the token is alive", *((f"its scopes are {', '.join(token.scopes)}",) if token.scopes else ())),
            "Use a token with the scope api.",
            {"scope_required": "api", "scope_held": list(token.scopes)},
            (Code.PERMISSION_DENIED,),
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
        Code.AUTHENTICATION_FAILED,
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
            Code.SCOPE_INSUFFICIENT,
            Proof.CERTAIN,
            f"The token's scope does not allow this; it needs {needed}.",
            ("GitLab says the scope is insufficient",),
            f"Create a token with the scope {needed}.",
            {"scope_required": needed},
        )
    words = said.message.lower()
    problem = next((word for word in ("expired", "revoked") if word in words), "unknown")
    return dead_token(problem, Proof.CERTAIN, ("GitLab says so",))

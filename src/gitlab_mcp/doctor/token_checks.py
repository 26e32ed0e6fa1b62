"""Is the token any good? Its kind, whether GitLab accepts it, scopes, expiry."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from typing import Any

from gitlab_mcp.actions.exchange import Answer
from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.actions.token_needs import by_resource
from gitlab_mcp.doctor.evidence import Evidence
from gitlab_mcp.doctor.held_token import HeldToken
from gitlab_mcp.doctor.report import Check, Mark
from gitlab_mcp.gitlab.faults import Refused
from gitlab_mcp.settings import Settings

_EXPIRES_SOON = 14
"""Days."""
_WITHOUT_PREFIX = {"private": "a token without a prefix", "bearer": "an OAuth token"}


def check_token(settings: Settings, evidence: Evidence, held: HeldToken) -> Iterator[Check]:
    token, new_token = held.token, held.new_token
    if held.problem is not None:
        fix = str(held.problem.facts.get("suggested_fix", new_token))
        yield Check("token", Mark.FAIL, held.problem.message, fix)
        return
    if token is None and not settings.replay:
        yield Check("token", Mark.FAIL, "there is none", new_token)
        return
    source = f" (from {held.where})" if token is not None else ""
    what = "an access token of the recordings"
    if token is not None:
        sort = token.sort
        what = sort.name if sort else _WITHOUT_PREFIX[token.kind]
        if sort and not sort.opens_the_api:
            yield Check("token", Mark.FAIL, f"{what}{source}: GitLab's API does not take those", new_token)
            return
        if token.kind == "job":
            fix = f"For more, {new_token[0].lower()}{new_token[1:]}"
            yield Check("token", Mark.WARN, f"{what}{source}: it may do very little", fix)
            return
    if not evidence.gitlab_reached:
        yield Check("token", Mark.WARN, f"{what}{source}, not tried", "Mend the connection first.")
        return
    user, own = evidence.user, evidence.token
    if isinstance(user, Refused) and user.status == 401:
        yield Check("token", Mark.FAIL, f"{what}{source}: GitLab {_why_refused(user)}", new_token)
        return
    name = f", {evidence.username}" if evidence.username else ""
    if evidence.fine_grained:
        yield Check("token", Mark.OK, f"a fine-grained access token{name}{source}")
        yield _permissions(settings)
        if isinstance(own, Answer) and isinstance(own.body, dict):
            yield _expiry(own.body, evidence.received_at.date(), held)
        return
    yield Check("token", Mark.OK, f"{what}{name}{source}")
    if held.signed_in_until is not None:
        yield _scopes(settings, held.scopes, new_token)
        until = held.signed_in_until.astimezone().strftime("%Y-%m-%d %H:%M")
        yield Check("sign-in", Mark.OK, f"until {until}, and renewed by itself before then")
    elif isinstance(own, Answer) and isinstance(own.body, dict):
        yield _scopes(settings, map(str, own.body.get("scopes") or ()), new_token)
        yield _expiry(own.body, evidence.received_at.date(), held)


def _why_refused(refused: Refused) -> str:
    body = refused.body()
    description = str(body.get("error_description", "")).lower() if isinstance(body, dict) else ""
    if "expired" in description:
        return "says it has expired"
    if "revoked" in description:
        return "says it was revoked"
    return "does not know it, or it has expired or was revoked"


def _permissions(settings: Settings) -> Check:
    """What it has cannot be read; what the tools need is known."""
    registry = Registry()
    toolsets = registry.toolsets() if "all" in settings.toolsets else settings.toolsets
    needs = (
        needs
        for name in toolsets
        if name in registry.toolsets()
        for action in registry.actions(name)
        if not (settings.read_only and action.spec.writes)
        for needs in action.spec.token_needs.values()
    )
    told = "; ".join(
        f"{resource}: {', '.join(permissions)} ({', '.join(places)})"
        for resource, (permissions, places) in by_resource(needs).items()
    )
    return Check(
        "permissions", Mark.OK, f"GitLab does not tell which it has. The chosen toolsets need {told}"
    )


def _scopes(settings: Settings, told: Iterable[str], new_token: str) -> Check:
    scopes = list(told)
    found = ", ".join(scopes) or "none"
    if "api" in scopes:
        return Check("scopes", Mark.OK, found)
    if "read_api" not in scopes:
        return Check("scopes", Mark.FAIL, found, new_token)
    if settings.read_only:
        return Check("scopes", Mark.OK, f"{found}; read-only mode needs no more")
    return Check(
        "scopes", Mark.WARN, f"{found}: every write will be refused", f"Set --read-only, or: {new_token}"
    )


def _expiry(token: Mapping[str, Any], today: date, held: HeldToken) -> Check:
    try:
        ends = date.fromisoformat(str(token["expires_at"]))
    except (KeyError, ValueError):
        return Check("expiry", Mark.OK, "it does not expire")
    left = (ends - today).days
    found = f"{ends}, {left} day{'' if left == 1 else 's'} left"
    if left > _EXPIRES_SOON:
        return Check("expiry", Mark.OK, found)
    return Check("expiry", Mark.WARN, found, f"Rotate it before then, and {held.put('the new one')}.")

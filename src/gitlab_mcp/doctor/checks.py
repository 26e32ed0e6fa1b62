"""What is wrong with a set-up, found by looking, each finding with the one step that mends it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from difflib import get_close_matches
from email.utils import parsedate_to_datetime
from enum import StrEnum
from typing import Any
from urllib.parse import urlsplit

from gitlab_mcp.actions.action import fill
from gitlab_mcp.actions.ask import Ask, InstanceFacts
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.gitlab.faults import BadAnswer, NoToken, Refused, ReplayMiss, Unreachable, UnreachableReason
from gitlab_mcp.settings import DEFAULT, Settings

EXPIRES_SOON = 14
"""Days."""
CLOCK_SLACK = 60
"""Seconds by which two clocks may differ."""


class Mark(StrEnum):
    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Check:
    name: str
    mark: Mark
    found: str
    fix: str | None = None


Fault = Refused | Unreachable | BadAnswer | ReplayMiss | NoToken
Heard = Answer | Fault


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that was heard from GitLab; None where nothing was asked because nobody would have answered."""

    version: Heard
    at: datetime
    """When that was heard, by this machine's clock."""
    token: Heard | None = None
    user: Heard | None = None
    project: Heard | None = None
    instance: InstanceFacts | None = None

    @property
    def reached(self) -> bool:
        return not isinstance(self.version, Unreachable | BadAnswer)


def worst(checks: list[Check]) -> Mark:
    return max((check.mark for check in checks), key=list(Mark).index, default=Mark.OK)


async def gather(settings: Settings, gitlab: GitLab, ask: Ask) -> Evidence:
    version = await _heard(gitlab, "/version")
    at = datetime.now(UTC)
    if not isinstance(version, Answer | Refused | ReplayMiss):
        return Evidence(version, at)
    project = await _heard(gitlab, fill("/projects/{id}", id=settings.project)) if settings.project else None
    return Evidence(
        version,
        at,
        token=await _heard(gitlab, "/personal_access_tokens/self"),
        user=await _heard(gitlab, "/user"),
        project=project,
        instance=await ask.instance(),
    )


async def _heard(gitlab: GitLab, path: str) -> Heard:
    try:
        return await gitlab.get(path)
    except (Refused, Unreachable, BadAnswer, ReplayMiss, NoToken) as fault:
        return fault


def examine(settings: Settings, evidence: Evidence) -> list[Check]:
    return [
        _address(settings, evidence),
        *_connection(settings, evidence),
        _proxies(settings, evidence),
        *_token(settings, evidence),
        *_instance(settings, evidence),
        *_clock(settings, evidence),
        *_project(settings, evidence),
        _toolsets(settings),
        *_cassettes(settings),
    ]


def _address(settings: Settings, evidence: Evidence) -> Check:
    source = settings.sources.get("url", DEFAULT)
    found = (
        f"{settings.url} (from {source})" if source != DEFAULT else f"{settings.url} (nothing else was set)"
    )
    parts = urlsplit(settings.url)
    if parts.scheme == "http" and parts.hostname not in ("localhost", "127.0.0.1", "::1"):
        return Check(
            "address", Mark.WARN, found, "Use https: over http everybody in between can read the token."
        )
    host = parts.hostname or ""
    # Inside a network a GitLab may be called by one word; where nothing answers, something is missing.
    if host != "localhost" and "." not in host and ":" not in host and not evidence.reached:
        return Check(
            "address", Mark.WARN, found, "Write the whole address, as in https://gitlab.example.com."
        )
    return Check("address", Mark.OK, found)


def _connection(settings: Settings, evidence: Evidence) -> Iterator[Check]:
    heard = evidence.version
    where = _setting(settings, "url", "GITLAB_URL")
    if settings.replay:
        yield Check("connection", Mark.OK, "not used: answers come from cassettes")
        return
    if isinstance(heard, Unreachable):
        if heard.reason is UnreachableReason.TLS:
            yield Check("connection", Mark.OK, f"{heard.host} answers")
            yield Check(
                "certificate",
                Mark.FAIL,
                f"the certificate of {heard.host} is not trusted, has expired, or is for another name",
                "Set GITLAB_CA_FILE (or --ca-file) to a PEM file with the authority that signed it.",
            )
        else:
            found, fix = _UNREACHED[heard.reason]
            yield Check("connection", Mark.FAIL, found.format(host=heard.host), fix.format(where=where))
        return
    if isinstance(heard, BadAnswer):
        fix = f"Check that {where} is GitLab's own address and that no sign-in page stands before its API."
        yield Check("connection", Mark.FAIL, f"what answers is not GitLab's API ({heard.reason.value})", fix)
        return
    if isinstance(heard, Refused) and not heard.is_json:
        if 300 <= heard.status < 400:
            fix = f"Set {where} to the address GitLab redirects to; the token is never sent along."
        else:
            fix = f"Check {where}: a GitLab below a path needs it, as in https://example.com/gitlab."
        yield Check("connection", Mark.FAIL, f"what answers is not GitLab's API (HTTP {heard.status})", fix)
        return
    if isinstance(heard, Refused) and heard.status >= 500:
        yield Check(
            "connection", Mark.FAIL, f"GitLab answers HTTP {heard.status}", "Try again when GitLab is well."
        )
    else:
        yield Check("connection", Mark.OK, "GitLab answers")
    yield from _certificate(settings)


def _certificate(settings: Settings) -> Iterator[Check]:
    if not settings.url.startswith("https:"):
        return
    if settings.insecure:
        yield Check(
            "certificate", Mark.WARN, "not checked", "Replace --insecure by --ca-file with a PEM file."
        )
    elif settings.ca_file is not None:
        yield Check(
            "certificate", Mark.OK, f"trusted by {settings.ca_file} (from {settings.sources['ca_file']})"
        )
    else:
        yield Check("certificate", Mark.OK, "trusted")


_AGAIN = "Try again; if it stays so, ask whoever runs GitLab, or raise --read-timeout."
_UNREACHED = {
    UnreachableReason.DNS: (
        "the name {host} cannot be resolved",
        "Check the host name in {where}; a GitLab inside a company may need its VPN.",
    ),
    UnreachableReason.REFUSED: (
        "{host} refuses connections",
        "Check host and port in {where}, and that GitLab is running.",
    ),
    UnreachableReason.CONNECT_TIMEOUT: (
        "{host} does not take connections",
        "Check VPN and firewall; where a proxy is needed, set HTTPS_PROXY.",
    ),
    UnreachableReason.PROXY: (
        "the proxy does not let requests to {host} through",
        "Correct the proxy variables, or add GitLab's host to NO_PROXY.",
    ),
    UnreachableReason.READ_TIMEOUT: ("{host} takes the connection and does not answer in time", _AGAIN),
    UnreachableReason.LOST: ("the connection to {host} breaks before there is an answer", _AGAIN),
    UnreachableReason.DEADLINE: ("{host} does not answer in time", _AGAIN),
}


def _proxies(settings: Settings, evidence: Evidence) -> Check:
    if not settings.proxies:
        return Check("proxy", Mark.OK, "none")
    found = ", ".join(f"{name}={value}" for name, value in settings.proxies.items())
    if isinstance(evidence.version, Unreachable):
        return Check(
            "proxy", Mark.WARN, found, "If GitLab is reached without a proxy, add its host to NO_PROXY."
        )
    return Check("proxy", Mark.OK, found)


_PREFIXES = {
    "glpat-": ("an access token", True),
    "glcbt-": ("a CI job token", True),
    "gldt-": ("a deploy token", False),
    "glrt-": ("a runner's token", False),
    "glptt-": ("a pipeline trigger token", False),
    "glft-": ("a feed token", False),
    "glimt-": ("an incoming mail token", False),
    "glagent-": ("an agent's token", False),
    "glsoat-": ("a SCIM token", False),
    "gloas-": ("an OAuth application's secret", False),
    "glffct-": ("a feature flag client's token", False),
}
_NEW_TOKEN = (
    "Create a personal access token with the scope api (or read_api to read only) and put it into {where}."
)


def _token(settings: Settings, evidence: Evidence) -> Iterator[Check]:
    where = _setting(settings, "token_file" if settings.token_file else "token", "GITLAB_TOKEN")
    new = _NEW_TOKEN.format(where=where)
    token = settings.token_source()()
    if token is None and not settings.replay:
        yield Check("token", Mark.FAIL, "there is none", new)
        return
    source = f" (from {where})" if token is not None else ""
    what = "an access token of the recordings"
    if token is not None:
        prefix = next((known for known in _PREFIXES if token.value.reveal().startswith(known)), None)
        unmarked = {
            "private": "a token without a prefix",
            "bearer": "an OAuth token",
            "job": "a CI job token",
        }
        what, usable = _PREFIXES[prefix] if prefix else (unmarked[token.kind], True)
        if not usable:
            yield Check("token", Mark.FAIL, f"{what}{source}: GitLab's API does not take those", new)
            return
        if token.kind == "job":
            fix = f"For more, {new[0].lower()}{new[1:]}"
            yield Check("token", Mark.WARN, f"{what}{source}: it may do very little", fix)
            return
    if not evidence.reached:
        yield Check("token", Mark.WARN, f"{what}{source}, not tried", "Mend the connection first.")
        return
    who, own = evidence.user, evidence.token
    if isinstance(who, Refused) and who.status == 401:
        yield Check("token", Mark.FAIL, f"{what}{source}: GitLab {_why_dead(who)}", new)
        return
    name = f", {who.body['username']}" if isinstance(who, Answer) and isinstance(who.body, dict) else ""
    yield Check("token", Mark.OK, f"{what}{name}{source}")
    if isinstance(own, Answer) and isinstance(own.body, dict):
        yield _scopes(settings, own.body, new)
        yield _expiry(own.body, evidence.at.date(), where)


def _why_dead(refused: Refused) -> str:
    body = refused.body()
    said = str(body.get("error_description", "")).lower() if isinstance(body, dict) else ""
    if "expired" in said:
        return "says it has expired"
    if "revoked" in said:
        return "says it was revoked"
    return "does not know it, or it has expired or was revoked"


def _scopes(settings: Settings, token: Mapping[str, Any], new: str) -> Check:
    scopes = [str(scope) for scope in token.get("scopes") or []]
    found = ", ".join(scopes) or "none"
    if "api" in scopes:
        return Check("scopes", Mark.OK, found)
    if "read_api" not in scopes:
        return Check("scopes", Mark.FAIL, found, new)
    if settings.read_only:
        return Check("scopes", Mark.OK, f"{found}; read-only mode needs no more")
    return Check("scopes", Mark.WARN, f"{found}: every write will be refused", f"Set --read-only, or: {new}")


def _expiry(token: Mapping[str, Any], today: date, where: str) -> Check:
    try:
        ends = date.fromisoformat(str(token["expires_at"]))
    except (KeyError, ValueError):
        return Check("expiry", Mark.OK, "it does not expire")
    left = (ends - today).days
    found = f"{ends}, {left} day{'' if left == 1 else 's'} left"
    if left > EXPIRES_SOON:
        return Check("expiry", Mark.OK, found)
    return Check("expiry", Mark.WARN, found, f"Rotate it before then, and put the new one into {where}.")


def _instance(settings: Settings, evidence: Evidence) -> Iterator[Check]:
    if not evidence.reached or (isinstance(evidence.version, Refused) and evidence.version.status == 401):
        return
    told = evidence.version.body if isinstance(evidence.version, Answer) else None
    body: Mapping[str, Any] = told if isinstance(told, dict) else {}
    version = body.get("version")
    if version is None:
        yield Check(
            "version", Mark.WARN, "not told to this token", "Use a token with the scope api or read_api."
        )
    else:
        edition = {"True": " Enterprise Edition", "False": " Community Edition"}.get(
            str(body.get("enterprise")), ""
        )
        yield Check("version", Mark.OK, f"GitLab {version}{edition}")
    if settings.tier is not None:
        yield Check("tier", Mark.OK, f"{settings.tier} (from {settings.sources['tier']})")
    elif evidence.instance is not None and evidence.instance.tier is not None:
        facts = evidence.instance
        bound = " or above" if facts.at_least else ""
        known = f": {facts.known_by}" if facts.known_by else ""
        yield Check("tier", Mark.OK, f"{facts.tier}{bound}{known}")
    else:
        yield Check(
            "tier", Mark.OK, "not known; errors say so. Where you know it, GITLAB_TIER makes them surer"
        )


def _clock(settings: Settings, evidence: Evidence) -> Iterator[Check]:
    if settings.replay or not isinstance(evidence.version, Answer | Refused):
        return
    try:
        theirs = parsedate_to_datetime(evidence.version.headers["date"])
    except (KeyError, ValueError):
        return
    apart = round((evidence.at - theirs.replace(tzinfo=theirs.tzinfo or UTC)).total_seconds())
    if abs(apart) <= CLOCK_SLACK:
        yield Check("clock", Mark.OK, "agrees with GitLab's")
    else:
        side = "ahead of" if apart > 0 else "behind"
        fix = "Set this machine's clock: certificates and expiry dates are judged by it."
        yield Check("clock", Mark.WARN, f"{abs(apart)} seconds {side} GitLab's", fix)


def _project(settings: Settings, evidence: Evidence) -> Iterator[Check]:
    if settings.project is None:
        return
    found = f"{settings.project} (from {settings.sources['project']})"
    if isinstance(evidence.project, Refused) and evidence.project.status in (403, 404):
        fix = "Correct it, or ask to be added to that project."
        yield Check("project", Mark.WARN, f"{found}: not there for this token", fix)
    else:
        yield Check("project", Mark.OK, found)


def _toolsets(settings: Settings) -> Check:
    found = ", ".join(settings.toolsets)
    there = Registry().toolsets()
    unknown = [name for name in settings.toolsets if name not in (*there, "all")]
    if not unknown:
        return Check("toolsets", Mark.OK, f"{found}, read-only" if settings.read_only else found)
    near = get_close_matches(unknown[0], there, n=1)
    fix = f"Did you mean {near[0]}?" if near else f"There are {', '.join(there)}, and all."
    return Check("toolsets", Mark.FAIL, f"no tools are in {', '.join(unknown)}", fix)


def _cassettes(settings: Settings) -> Iterator[Check]:
    if settings.record is not None:
        yield Check("record", Mark.OK, f"every exchange goes to {settings.record}, without secrets")
    if settings.replay:
        yield Check("replay", Mark.OK, f"answers come from {', '.join(map(str, settings.replay))}")


def _setting(settings: Settings, name: str, usual: str) -> str:
    """Where to change it: where it came from, or the usual place."""
    source = settings.sources.get(name, DEFAULT)
    return usual if source == DEFAULT else source

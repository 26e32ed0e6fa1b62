"""What else the settings ask for: a tier, a project, toolsets, recordings. And which GitLab it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from gitlab_mcp.actions.ask import is_gitlab_com
from gitlab_mcp.actions.exchange import Answer
from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.api.versions import READ, version_number
from gitlab_mcp.doctor.evidence import Evidence
from gitlab_mcp.doctor.report import Check, Mark
from gitlab_mcp.gitlab.faults import Refused
from gitlab_mcp.settings import Settings


def check_instance(settings: Settings, evidence: Evidence) -> Iterator[Check]:
    if not evidence.gitlab_reached or (
        isinstance(evidence.version, Refused) and evidence.version.status == 401
    ):
        return
    answered = evidence.version.body if isinstance(evidence.version, Answer) else None
    body: Mapping[str, Any] = answered if isinstance(answered, dict) else {}
    version = body.get("version")
    if version is None:
        fix = (
            "Give the token Metadata: Read for the instance."
            if evidence.fine_grained
            else "Use a token with the scope api or read_api."
        )
        yield Check("version", Mark.WARN, "not told to this token", fix)
    else:
        edition = {"True": " Enterprise Edition", "False": " Community Edition"}.get(
            str(body.get("enterprise")), ""
        )
        yield Check("version", Mark.OK, f"GitLab {version}{edition}")
        yield from _check_proof(version_number(str(version)))
    if settings.tier is not None:
        yield Check("tier", Mark.OK, f"{settings.tier} (from {settings.sources['tier']})")
    elif evidence.instance is not None and evidence.instance.tier is not None:
        facts = evidence.instance
        bound = " or above" if facts.at_least else ""
        known = f": {facts.known_by}" if facts.known_by else ""
        yield Check("tier", Mark.OK, f"{facts.tier}{bound}{known}")
    elif is_gitlab_com(settings.url):
        found = "GitLab.com: each top-level group has a plan of its own, which is read when a call needs it"
        yield Check("tier", Mark.OK, found)
    else:
        yield Check(
            "tier", Mark.OK, "not known; errors say so. Where you know it, GITLAB_TIER makes them surer"
        )


def _check_proof(number: tuple[int, ...]) -> Iterator[Check]:
    """What it means that this GitLab is older or newer than those this server was tried on."""
    if not number:
        return
    oldest, newest = version_number(READ[0]), version_number(READ[-1])
    tried = f"this server was tried on {' and '.join(READ)}"
    if number in map(version_number, READ):
        yield Check("proved", Mark.OK, f"{tried}, and this is one of them")
    elif number < oldest:
        yield Check(
            "proved",
            Mark.WARN,
            f"{tried}; this GitLab is older: it refuses, or ignores without a word, what it does not have yet",
            f"Look at the answer of a write before you rely on it, or update GitLab to {READ[0]} or newer.",
        )
    elif number > newest:
        found = f"{tried}; this GitLab is newer: what it changed since is told in GitLab's own words"
        yield Check(
            "proved", Mark.OK, f"{found}, and a feature's tier may have moved (gitlab-mcp tiers --check)"
        )
    else:
        found = f"{tried}; this GitLab is between them: where they differ, errors say what holds in both"
        yield Check("proved", Mark.OK, found)


def check_project(settings: Settings, evidence: Evidence) -> Iterator[Check]:
    if settings.project is None:
        return
    found = f"{settings.project} (from {settings.sources['project']})"
    if isinstance(evidence.project, Refused) and evidence.project.status in (403, 404):
        fix = "Correct it, or ask to be added to that project."
        yield Check("project", Mark.WARN, f"{found}: not there for this token", fix)
    else:
        yield Check("project", Mark.OK, found)


def check_toolsets(settings: Settings) -> Check:
    found = ", ".join(settings.toolsets)
    known = Registry().toolsets()
    unknown = [name for name in settings.toolsets if name not in (*known, "all")]
    if not unknown:
        return Check("toolsets", Mark.OK, f"{found}, read-only" if settings.read_only else found)
    near = get_close_matches(unknown[0], known, n=1)
    fix = f"Did you mean {near[0]}?" if near else f"There are {', '.join(known)}, and all."
    return Check("toolsets", Mark.FAIL, f"no tools are in {', '.join(unknown)}", fix)


def check_policy(settings: Settings) -> Iterator[Check]:
    if settings.policy is None:
        return
    from gitlab_mcp.settings.policy_file import PolicyMistakes, content_of, doubts, read_policy

    try:
        rules = read_policy(content_of(settings.policy), settings, Registry())
    except PolicyMistakes as unusable:
        first = unusable.mistakes[0]
        found = f"{settings.policy}:{first.line}: {first.what}"
        yield Check(
            "policy", Mark.FAIL, found, f"`gitlab-mcp policy check {settings.policy}` names every mistake."
        )
        return
    doubtful = doubts(rules, settings)
    found = f"{len(rules.rules)} rules in {settings.policy}, {rules.digest}"
    if doubtful:
        found = f"{settings.policy}:{doubtful[0].line}: {doubtful[0].what}"
        yield Check(
            "policy", Mark.WARN, found, f"`gitlab-mcp policy check {settings.policy}` names every doubt."
        )
    else:
        yield Check("policy", Mark.OK, found)


def check_cassettes(settings: Settings) -> Iterator[Check]:
    if settings.record is not None:
        yield Check("record", Mark.OK, f"every exchange goes to {settings.record}, without secrets")
    if settings.replay:
        yield Check("replay", Mark.OK, f"answers come from {', '.join(map(str, settings.replay))}")

"""The check of a set-up: GitLab is asked a few questions, and the answers are held against the settings."""

from __future__ import annotations

from gitlab_mcp.actions.exchange import GitLab
from gitlab_mcp.doctor.connection_checks import check_address, check_clock, check_connection, check_proxies
from gitlab_mcp.doctor.evidence import Evidence, gather_evidence
from gitlab_mcp.doctor.report import Check, Mark, Report
from gitlab_mcp.doctor.settings_checks import (
    check_cassettes,
    check_instance,
    check_policy,
    check_project,
    check_toolsets,
)
from gitlab_mcp.doctor.token_checks import check_token
from gitlab_mcp.failures.failure import Failure
from gitlab_mcp.settings import Settings


async def diagnose(settings: Settings, gitlab: GitLab) -> Report:
    from gitlab_mcp.gitlab.instance import AnswerCache, CachedLookups

    ask = CachedLookups(gitlab, AnswerCache(), tier=settings.tier)
    return report_on(settings, await gather_evidence(settings, gitlab, ask))


def report_on(settings: Settings, evidence: Evidence) -> Report:
    checks = (
        check_address(settings, evidence),
        *check_connection(settings, evidence),
        check_proxies(settings, evidence),
        *check_token(settings, evidence),
        *check_instance(settings, evidence),
        *check_clock(settings, evidence),
        *check_project(settings, evidence),
        check_toolsets(settings),
        *check_policy(settings),
        *check_cassettes(settings),
    )
    return Report(checks, evidence.gitlab_reached)


def report_on_unusable_settings(failure: Failure) -> Report:
    problems = failure.facts.get("problems") or [failure.facts]
    checks = (
        Check(each["setting"], Mark.FAIL, f"{each['source']}: not usable", each["suggested_fix"])
        for each in problems
    )
    return Report(tuple(checks), gitlab_reached=False)

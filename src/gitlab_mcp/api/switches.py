"""The switches of a project that make GitLab refuse, and where a person finds them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class Switch:
    title: str
    key: str
    """The key of the project that says it: an access level, or true and false."""
    within: str | None = None
    """Another switch that takes this one with it."""

    def is_off(self, project: Mapping[str, Any]) -> bool:
        return project.get(self.key) in ("disabled", False)


SWITCHES: Final[Mapping[str, Switch]] = {
    "repository": Switch("Repository", "repository_access_level"),
    "issues": Switch("Issues", "issues_access_level"),
    "merge_requests": Switch("Merge requests", "merge_requests_access_level", within="repository"),
    "builds": Switch("CI/CD", "builds_access_level", within="repository"),
    "forking": Switch("Forks", "forking_access_level", within="repository"),
    "wiki": Switch("Wiki", "wiki_access_level"),
    "snippets": Switch("Snippets", "snippets_access_level"),
    "packages": Switch("Package registry", "packages_enabled", within="package_registry"),
    # Newer GitLabs say it here, and leave the older key true.
    "package_registry": Switch("Package registry", "package_registry_access_level"),
    "container_registry": Switch("Container registry", "container_registry_access_level"),
    "releases": Switch("Releases", "releases_access_level", within="repository"),
    "environments": Switch("Environments", "environments_access_level", within="builds"),
    "feature_flags": Switch("Feature flags", "feature_flags_access_level", within="repository"),
    "infrastructure": Switch("Infrastructure", "infrastructure_access_level"),
    "monitor": Switch("Monitor", "monitor_access_level"),
    "pages": Switch("Pages", "pages_access_level"),
    "analytics": Switch("Analytics", "analytics_access_level"),
    "requirements": Switch("Requirements", "requirements_access_level"),
    "security_and_compliance": Switch("Security and compliance", "security_and_compliance_access_level"),
    "model_experiments": Switch("Model experiments", "model_experiments_access_level"),
    "model_registry": Switch("Model registry", "model_registry_access_level"),
}

BELOW_A_PROJECT: Final[Mapping[str, str]] = {
    "approval_rules": "merge_requests",
    "approvals": "merge_requests",
    "artifacts": "builds",
    "boards": "issues",
    "ci": "repository",
    "cluster_agents": "infrastructure",
    "deployments": "environments",
    "environments": "environments",
    "external_status_checks": "merge_requests",
    "feature_flags": "feature_flags",
    "feature_flags_user_lists": "feature_flags",
    "fork": "forking",
    "freeze_periods": "environments",
    "issues": "issues",
    "issues_statistics": "issues",
    "jobs": "builds",
    "labels": "issues or merge_requests",
    "merge_request_approval_setting": "merge_requests",
    "merge_requests": "merge_requests",
    "merge_trains": "merge_requests",
    "milestones": "issues or merge_requests",
    "milestones/*/issues": "issues",
    "milestones/*/merge_requests": "merge_requests",
    "packages": "packages",
    "pages": "pages",
    "pipeline": "builds",
    "pipeline_schedules": "builds",
    "pipelines": "builds",
    "protected_branches": "repository",
    "protected_environments": "environments",
    "protected_tags": "repository",
    "registry": "container_registry",
    "releases": "releases",
    "repository": "repository",
    "repository/commits/*/merge_requests": "merge_requests",
    "runners": "builds",
    "snippets": "snippets",
    "statuses": "builds",
    "terraform": "infrastructure",
    "trigger": "builds",
    "triggers": "builds",
    "variables": "builds",
    "wikis": "wiki",
}
"""The switch behind `/projects/:id/<this>` and all that is below it; the longest that fits counts."""

WHERE: Final = "Settings > General > Visibility, project features, permissions"


def switched_off(declared: str, project: Mapping[str, Any]) -> tuple[Switch, ...]:
    """The switches that are off and in the way of an action which declares `issues`, or `issues or merge_requests`.

    With `or` one of them is enough to work: nothing is in the way unless all are off.
    """
    off = [found for name in declared.split(" or ") if (found := _off(name, project))]
    return tuple(off) if len(off) == len(declared.split(" or ")) else ()


def switch_of(path: str) -> str | None:
    """The switch behind a path, be it a template or one that was asked for."""
    _, kind, _, *below = [*path.split("/"), "", ""]
    if kind != "projects":
        return None
    fitting = [known for known in BELOW_A_PROJECT if _begins(below, known.split("/"))]
    return BELOW_A_PROJECT[max(fitting, key=len)] if fitting else None


def instance_runs_no_registry(project: Mapping[str, Any]) -> bool:
    """A project shows its image prefix only where the instance runs a container registry."""
    return "container_registry_image_prefix" not in project


def _begins(path: Sequence[str], known: Sequence[str]) -> bool:
    return len(path) >= len(known) and all(
        one in ("*", other) for one, other in zip(known, path, strict=False)
    )


def _off(name: str, project: Mapping[str, Any]) -> Switch | None:
    switch = SWITCHES[name]
    if switch.is_off(project):
        return switch
    return _off(switch.within, project) if switch.within else None

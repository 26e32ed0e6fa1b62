"""Which endpoints no agent is to call, and why: the reason is printed by `gitlab-mcp tools --coverage`.

What is called with a secret of its own, and what speaks another program's protocol, cannot be called with the token of
a person. Everything else is an action of a tool, or a row.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from gitlab_mcp.api.endpoints import normalised

GROUPS: Final[tuple[tuple[str, str, str], ...]] = (
    (
        "package managers",
        "The protocol of a package manager: npm, Maven, pip and others speak it themselves.",
        r"(?<!/virtual_registries)/packages/(?:cargo|composer|conan|debian|generic|go|helm|maven|ml_models|npm|nuget|pypi"
        r"|rpm|rubygems|terraform)\b|^/group/\*/packages/|/dependency_proxy/packages/"
        r"|^/virtual_registries/packages/maven/\*/",
    ),
    (
        "geo",
        "Geo sites call it among themselves, or it serves their set-up by an administrator.",
        r"^/geo(?:_nodes|_sites)?(?:/|$)",
    ),
    ("internal", "Parts of GitLab call it, with a secret of their own.", r"^/internal/"),
    (
        "upload checks",
        "Workhorse, in front of GitLab, asks it before it takes an upload.",
        r"/authorize$",
    ),
    (
        "runners",
        "The protocol of GitLab Runner, with the token of a runner.",
        r"^/jobs/request$|^/(?:POST|DELETE|PUT|PATCH)?runners/(?:managers|verify|router/discovery"
        r"|reset_authentication_token)$",
    ),
    (
        "running jobs",
        "A running job, or its runner, reports with it, with the token of that job.",
        r"^/jobs/\*(?:/trace|/sbom_scans(?:/.*)?|/artifacts)?$",
    ),
    (
        "chat and app callbacks",
        "A chat, or an app of another vendor, calls it, with a secret of its own.",
        r"^/integrations/(?:slack|jira_forge|jira_connect)/|^/slack/trigger$|_slash_commands/trigger$",
    ),
    (
        "scim",
        "The SCIM protocol: an identity provider calls it, with a token of its own.",
        r"^/api/scim/",
    ),
    (
        "feature flag clients",
        "The Unleash protocol: clients of feature flags call it, with a token of their own.",
        r"^/feature_flags/unleash/",
    ),
    (
        "registry events",
        "The container registry reports to GitLab with it.",
        r"^/container_registry_event/",
    ),
    (
        "usage data",
        "GitLab's own pages report with it what is used, or it holds what is reported to GitLab Inc.",
        r"^/usage_data/",
    ),
    (
        "editor settings",
        "The Web IDE keeps its settings with it, by the protocol of VS Code.",
        r"^/vscode/settings_sync/",
    ),
    (
        "duo executors",
        "The executor of a GitLab Duo workflow calls it, with a token that is made for the workflow.",
        r"^/ai/duo_workflows/ws$|^/token_exchange$|^/rollouts/\*$|^/duo_code_review/evaluations$",
    ),
    (
        "other protocols",
        "Another protocol than GitLab's REST API is spoken there: JSON-RPC of MCP.",
        r"^/(?:orbit/)?mcp$|^/\*/mcp$",
    ),
)
"""Name, reason, and a pattern of normalised paths."""

ENDPOINTS: Final[Mapping[str, tuple[str, str]]] = {
    "POST /projects/*/terraform/state/*": (
        "raw bodies",
        "It takes a Terraform state as the whole body of the request, as terraform itself sends it.",
    ),
    "POST /runners": ("runners", "The protocol of GitLab Runner, with the token of a runner."),
    "DELETE /runners": ("runners", "The protocol of GitLab Runner, with the token of a runner."),
}
"""Single endpoints, where others of the path can be called."""

OTHER_TOKENS: Final[Mapping[str, tuple[str, str]]] = {
    "ai_workflows_oauth_auth": (
        "duo executors",
        "It takes a token that is made for a GitLab Duo workflow alone.",
    ),
    "ai_workflows_token_auth": (
        "duo executors",
        "It takes a token that is made for a GitLab Duo workflow alone.",
    ),
    "compliance_external_auth": (
        "external controls",
        "An external control reports with it, with the secret of the control.",
    ),
    "cd_rollout_workflow_event": ("internal", "Parts of GitLab call it, with a secret of their own."),
    "internal_testing": ("internal", "GitLab tests itself with it."),
}
"""By GitLab's word for whose token it takes."""


def left_to_others(endpoint: str, row: Mapping[str, Any]) -> tuple[str, str] | None:
    """The group of an endpoint that no agent is to call, and the reason; None where one may."""
    key = normalised(endpoint)
    path = key.partition(" ")[2] or "/"
    if key in ENDPOINTS:
        return ENDPOINTS[key]
    for name, reason, pattern in GROUPS:
        if re.search(pattern, path):
            return name, reason
    tokens = row.get("tokens")
    newest = tokens[-1] if isinstance(tokens, list) else tokens
    return OTHER_TOKENS.get(newest.get("is", newest).get("no", "")) if isinstance(newest, dict) else None

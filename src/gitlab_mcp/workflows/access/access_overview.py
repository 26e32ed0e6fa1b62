"""Everything beside people that has access to a project, in one answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gitlab_mcp.actions.action import fill
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.result import Result, partial_read_notices
from gitlab_mcp.gitlab.concurrently import answered, concurrently, unread
from gitlab_mcp.gitlab.paging import every_page
from gitlab_mcp.results.shown_fields import pick_fields, shown_fields
from gitlab_mcp.workflows.access.membership import with_role_name

_PARTS: Final[Mapping[str, tuple[str, str]]] = {
    "access_tokens": (
        "access_tokens",
        "id name scopes access_level active revoked:mark expires_at last_used_at:date user_id",
    ),
    "deploy_tokens": ("deploy_tokens", "id name username scopes expires_at revoked:mark expired:mark"),
    "deploy_keys": ("deploy_keys", "id title can_push expires_at fingerprint_sha256 created_at:date"),
    "webhooks": ("hooks", "id url name alert_status disabled_until enable_ssl_verification created_at:date"),
}
_JOB_TOKENS: Final[Mapping[str, tuple[str, str]]] = {
    "projects": ("job_token_scope/allowlist", "id path_with_namespace"),
    "groups": ("job_token_scope/groups_allowlist", "id name web_url"),
}


async def access_overview(gitlab: GitLab, project_id: str) -> Result:
    """What cannot be read is named in a warning, and the rest is shown."""

    async def listed(path: str) -> Answer:
        return await every_page(gitlab, fill("/projects/{id}/", id=project_id) + path)

    async def scope() -> Answer:
        return await gitlab.get(fill("/projects/{id}/job_token_scope", id=project_id))

    sources = {**_PARTS, **{f"job_tokens.{name}": part for name, part in _JOB_TOKENS.items()}}
    found = await concurrently([*(lambda path=path: listed(path) for path, _ in sources.values()), scope])
    answers = dict(zip([*sources, "job_tokens"], found, strict=True))
    if all(not isinstance(each, Answer) for each in found):
        answered(found[0])
    data: dict[str, Any] = {}
    for name, (_, shows) in _PARTS.items():
        if isinstance(answer := answers[name], Answer):
            fields = shown_fields(shows).in_a_list
            data[name] = [pick_fields(with_role_name(each), fields) for each in answer.body]
    data["job_tokens"] = _job_tokens(answers)
    data["total"] = {name: len(data[name]) for name in _PARTS if name in data}
    return Result(
        data={name: value for name, value in data.items() if value is not None},
        warnings=partial_read_notices(unread(answers)),
    )


def _job_tokens(answers: Mapping[str, Any]) -> dict[str, Any] | None:
    """Whose CI/CD jobs may reach the project with their own token."""
    scope: dict[str, Any] = {}
    if isinstance(answer := answers["job_tokens"], Answer):
        scope["only_those_listed"] = answer.body.get("inbound_enabled")
    for name, (_, shows) in _JOB_TOKENS.items():
        if isinstance(answer := answers[f"job_tokens.{name}"], Answer):
            fields = shown_fields(shows).in_a_list
            scope[name] = [pick_fields(each, fields) for each in answer.body]
    return scope or None

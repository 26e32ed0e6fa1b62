"""Webhooks of a project or a group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gitlab_mcp.actions.action import GET
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.fields import Page
from gitlab_mcp.actions.scopes import OfWebhook, WithWebhooks
from gitlab_mcp.actions.tool import Tool

browse = Tool(
    "browse_webhooks",
    "Read the webhooks of a project or group (Premium).",
    toolset="access",
    also=("hook",),
)

HOOK = (
    "id url name events alert_status disabled_until"
    " | description created_at enable_ssl_verification push_events_branch_filter branch_filter_strategy"
    " custom_headers=custom_headers.key url_variables=url_variables.key"
)


@browse.action(
    "list",
    GET("/projects/{project_id}/hooks", "/groups/{group_id}/hooks"),
    example={"project_id": "acme/website"},
    shows=HOOK,
)
class ListHooks(WithWebhooks):
    """List webhooks, and which of them GitLab has switched off after failures."""

    page: Page | None = None

    async def run(self, gitlab: GitLab) -> Answer:
        answer = await gitlab.send(self.request())
        return replace(answer, body=[_with_events(hook) for hook in answer.body])


@browse.action(
    "get",
    GET("/projects/{project_id}/hooks/{hook_id}", "/groups/{group_id}/hooks/{hook_id}"),
    example={"project_id": "acme/website", "hook_id": 1},
    shows=HOOK,
)
class GetHook(OfWebhook):
    """Read one webhook with the events it fires on."""

    async def run(self, gitlab: GitLab) -> Answer:
        answer = await gitlab.send(self.request())
        return replace(answer, body=_with_events(answer.body))


def _with_events(hook: Mapping[str, Any]) -> dict[str, Any]:
    """GitLab answers some twenty flags. The events are those that are on."""
    return {**hook, "events": [name for name, on in hook.items() if on is True and name.endswith("_events")]}

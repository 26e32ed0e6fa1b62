"""Which e-mails the caller gets: everywhere, from a group, or from a project."""

from __future__ import annotations

from dataclasses import replace

from gitlab_mcp.actions.action import GET
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.scopes import InProjectOrGroup
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.results.notification_settings import with_events

browse = Tool(
    "browse_notifications",
    "Read which e-mails you get, everywhere or from a project or group.",
    toolset="planning",
    also=("notification_setting", "email_setting"),
    instead={"list settings": "get"},
)


@browse.action(
    "get",
    GET(
        "/notification_settings",
        "/projects/{project_id}/notification_settings",
        "/groups/{group_id}/notification_settings",
    ),
    example={"project_id": "23"},
    shows="level events notification_email",
)
class GetNotifications(InProjectOrGroup):
    """Your level of notifications; everywhere where no place is given."""

    async def run(self, gitlab: GitLab) -> Answer:
        answer = await gitlab.send(self.request())
        return replace(answer, body=with_events(answer.body))

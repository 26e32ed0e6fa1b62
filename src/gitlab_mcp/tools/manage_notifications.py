"""Choose which e-mails the caller gets: everywhere, from a group, or from a project."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal, Self, get_args

from pydantic import Field, model_validator

from gitlab_mcp.actions.action import PUT, Danger
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.fields import Email, Expects, Listed, broken_rule
from gitlab_mcp.actions.other_names import Instead
from gitlab_mcp.actions.recovery_lookup import RecoveryLookup
from gitlab_mcp.actions.scopes import InProjectOrGroup
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.results.notification_settings import with_events

manage = Tool(
    "manage_notifications",
    "Choose which e-mails you get, everywhere or from a project or group.",
    toolset="planning",
    also=("notification_setting", "email_setting"),
    instead={
        "update change": "set",
        "mute disable unsubscribe unwatch": Instead("set", {"level": "disabled"}),
        "watch": Instead("set", {"level": "watch"}),
    },
)

Event = Literal[
    "new_release",
    "new_note",
    "new_issue",
    "reopen_issue",
    "close_issue",
    "reassign_issue",
    "issue_due",
    "new_merge_request",
    "push_to_merge_request",
    "reopen_merge_request",
    "close_merge_request",
    "reassign_merge_request",
    "change_reviewer_merge_request",
    "merge_merge_request",
    "failed_pipeline",
    "fixed_pipeline",
    "success_pipeline",
    "moved_project",
    "merge_when_pipeline_succeeds",
]
Events = Annotated[
    list[Event],
    Listed,
    Expects("an array of events"),
    Field(description="With level custom: all that are wanted"),
]


@manage.action(
    "set",
    PUT(
        "/notification_settings",
        "/projects/{project_id}/notification_settings",
        "/groups/{group_id}/notification_settings",
    ),
    danger=Danger.REVERSIBLE,
    example={"group_id": "59", "level": "mention"},
    shows="level events notification_email",
    recover_with=RecoveryLookup("browse_notifications get", "project_id group_id"),
)
class SetNotifications(InProjectOrGroup):
    """Set your level of notifications; everywhere where no place is given."""

    level: Literal["disabled", "participating", "watch", "global", "mention", "custom"] | None = None
    events: Events | None = None
    notification_email: Email | None = None

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.level is None and self.notification_email is None:
            raise broken_rule("a level", field="level")
        if self.events is not None and self.level != "custom":
            # GitLab keeps them, and sends what the level says.
            raise broken_rule("left out but for level custom", field="events")
        in_a_place = self.project_id is not None or self.group_id is not None
        if in_a_place and self.notification_email is not None:
            raise broken_rule("left out for a project or group", field="notification_email")
        if not in_a_place and self.level == "global":
            raise broken_rule("another level: global is the one that is set here", field="level")
        return self

    async def run(self, gitlab: GitLab) -> Answer:
        flags = {} if self.events is None else {name: name in self.events for name in get_args(Event)}
        answer = await gitlab.send(self.request(events=None, **flags))
        return replace(answer, body=with_events(answer.body))

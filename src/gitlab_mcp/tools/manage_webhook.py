"""Write webhooks of a project or a group."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from gitlab_mcp.actions.action import DELETE, POST, PUT, Danger
from gitlab_mcp.actions.fields import Expects, Flag, Id, NonEmpty, WebUrl, broken_rule
from gitlab_mcp.actions.recovery_lookup import RecoveryLookup, new
from gitlab_mcp.actions.scopes import OfWebhook, WithWebhooks
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.actions.undo import Undo

manage = Tool(
    "manage_webhook",
    "Set up the webhooks of a project or group (Premium).",
    toolset="access",
    also=("hook",),
)

Key = Annotated[
    str,
    Field(pattern=r"^[A-Za-z][\w.-]*$", max_length=255),
    Expects("letters, digits and _ . -, a letter first"),
]
Trigger = Literal[
    "push_events",
    "tag_push_events",
    "issues_events",
    "confidential_issues_events",
    "note_events",
    "confidential_note_events",
    "merge_requests_events",
    "job_events",
    "pipeline_events",
    "wiki_page_events",
    "deployment_events",
    "feature_flag_events",
    "releases_events",
    "emoji_events",
    "milestone_events",
    "resource_access_token_events",
    "resource_deploy_token_events",
    "vulnerability_events",
]

FIND_WEBHOOK = RecoveryLookup("browse_webhooks get", "project_id group_id hook_id")


class WebhookSettings(WithWebhooks):
    name: str | None = None
    token: Annotated[NonEmpty, Field(description="Secret sent along as X-Gitlab-Token")] | None = None
    enable_ssl_verification: Flag | None = None
    push_events: Flag | None = None
    tag_push_events: Flag | None = None
    issues_events: Flag | None = None
    confidential_issues_events: Flag | None = None
    merge_requests_events: Flag | None = None
    note_events: Flag | None = None
    job_events: Flag | None = None
    pipeline_events: Flag | None = None
    wiki_page_events: Flag | None = None
    deployment_events: Flag | None = None
    releases_events: Flag | None = None
    emoji_events: Flag | None = None
    subgroup_events: Flag | None = None
    member_events: Flag | None = None

    @model_validator(mode="after")
    def _projects_have_no_subgroups(self) -> WebhookSettings:
        # GitLab accepts both for a project, and ignores them.
        for name in ("subgroup_events", "member_events"):
            if self.project_id is not None and name in self.model_fields_set:
                raise broken_rule("left out for a project: only groups have it", field=name)
        return self


@manage.action(
    "create",
    POST("/projects/{project_id}/hooks", "/groups/{group_id}/hooks"),
    # It sends data to another server.
    danger=Danger.DANGEROUS,
    example={
        "project_id": "acme/website",
        "url": "https://hooks.acme.example/gitlab",
        "push_events": True,
        "merge_requests_events": True,
        "token": "REDACTED",
    },
    shows="id url",
    recover_with=RecoveryLookup("browse_webhooks list", "project_id group_id", proof=new("url")),
    undo=Undo("delete", "project_id group_id", "hook_id=id"),
)
class CreateHook(WebhookSettings):
    """Have GitLab call a URL when something happens."""

    url: WebUrl


@manage.action(
    "update",
    PUT("/projects/{project_id}/hooks/{hook_id}", "/groups/{group_id}/hooks/{hook_id}"),
    danger=Danger.DANGEROUS,
    example={
        "project_id": "writes/app",
        "hook_id": 9,
        "url": "https://hooks.example.com/two",
        "tag_push_events": True,
        "note_events": True,
        "job_events": True,
        "pipeline_events": True,
        "wiki_page_events": True,
        "releases_events": True,
        "emoji_events": True,
    },
    shows="id url alert_status",
)
class UpdateHook(WebhookSettings):
    """Change a webhook."""

    hook_id: Id
    url: WebUrl | None = None


@manage.action(
    "delete",
    DELETE("/projects/{project_id}/hooks/{hook_id}", "/groups/{group_id}/hooks/{hook_id}"),
    danger=Danger.DESTRUCTIVE,
    example={"project_id": "writes/app", "hook_id": 9},
)
class DeleteHook(OfWebhook):
    """Delete a webhook."""


@manage.action(
    "test",
    POST(
        "/projects/{project_id}/hooks/{hook_id}/test/{trigger}",
        "/groups/{group_id}/hooks/{hook_id}/test/{trigger}",
    ),
    danger=Danger.REVERSIBLE,
    example={"project_id": "writes/app", "hook_id": 9, "trigger": "push_events"},
    shows="message",
    recover_with=RecoveryLookup(
        "browse_webhooks get", "project_id group_id hook_id", because="a test leaves no trace"
    ),
)
class TestHook(OfWebhook):
    """Fire a webhook with made-up data, five times a minute at most."""

    trigger: Trigger


@manage.action(
    "set_header",
    PUT(
        "/projects/{project_id}/hooks/{hook_id}/custom_headers/{key}",
        "/groups/{group_id}/hooks/{hook_id}/custom_headers/{key}",
    ),
    danger=Danger.REVERSIBLE,
    example={"project_id": "writes/app", "hook_id": 9, "key": "X-Example", "value": "example-2"},
    recover_with=FIND_WEBHOOK,
)
class SetHeader(OfWebhook):
    """Set a header that is sent along; its value is never shown again."""

    key: Key
    value: NonEmpty


@manage.action(
    "delete_header",
    DELETE(
        "/projects/{project_id}/hooks/{hook_id}/custom_headers/{key}",
        "/groups/{group_id}/hooks/{hook_id}/custom_headers/{key}",
    ),
    danger=Danger.DESTRUCTIVE,
    example={"project_id": "writes/app", "hook_id": 9, "key": "X-Example"},
    recover_with=FIND_WEBHOOK,
)
class DeleteHeader(OfWebhook):
    """Remove a header."""

    key: Key


@manage.action(
    "set_url_variable",
    PUT(
        "/projects/{project_id}/hooks/{hook_id}/url_variables/{key}",
        "/groups/{group_id}/hooks/{hook_id}/url_variables/{key}",
    ),
    # It decides where the data goes, as the URL itself does.
    danger=Danger.DANGEROUS,
    example={"project_id": "writes/app", "hook_id": 9, "key": "region", "value": "example-1"},
    recover_with=FIND_WEBHOOK,
)
class SetUrlVariable(OfWebhook):
    """Set a part of the URL that is hidden from readers."""

    key: Key
    value: NonEmpty


@manage.action(
    "delete_url_variable",
    DELETE(
        "/projects/{project_id}/hooks/{hook_id}/url_variables/{key}",
        "/groups/{group_id}/hooks/{hook_id}/url_variables/{key}",
    ),
    danger=Danger.DESTRUCTIVE,
    example={"project_id": "writes/app", "hook_id": 9, "key": "region"},
    recover_with=FIND_WEBHOOK,
)
class DeleteUrlVariable(OfWebhook):
    """Remove a hidden part of the URL."""

    key: Key

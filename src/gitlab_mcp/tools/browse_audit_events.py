"""Audit events of a project, a group or the whole instance."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import model_validator

from gitlab_mcp.actions.action import GET, Action, Role
from gitlab_mcp.actions.fields import Anywhere, GroupId, Id, Needs, ProjectId, Time, broken_rule
from gitlab_mcp.actions.scopes import Paged
from gitlab_mcp.actions.tool import Tool

browse = Tool(
    "browse_audit_events",
    "Read who changed what in a project, a group or here (Premium).",
    toolset="security",
)

EVENT = (
    "id created_at event_name author=details.author_name what=details.custom_message entity=details.entity_path"
    " | entity_id entity_type author_id details"
)


class WithAuditEvents(Action):
    project_id: Annotated[ProjectId, Needs("audit_events_group_project")] | None = None
    group_id: Annotated[GroupId, Needs("audit_events_group_project")] | None = None


@browse.action(
    "list",
    GET("/projects/{project_id}/audit_events", "/groups/{group_id}/audit_events"),
    example={"project_id": "tiers-b/one"},
    shows=EVENT,
    role=Role.DEVELOPER,
)
class ListAuditEvents(WithAuditEvents, Paged):
    """List what happened, newest first; a developer sees own events only."""

    created_after: Time | None = None
    created_before: Time | None = None


@browse.action(
    "get",
    GET(
        "/projects/{project_id}/audit_events/{audit_event_id}",
        "/groups/{group_id}/audit_events/{audit_event_id}",
    ),
    example={"project_id": "tiers-b/one", "audit_event_id": 1},
    shows=EVENT,
    role=Role.DEVELOPER,
)
class GetAuditEvent(WithAuditEvents):
    """Read one event."""

    audit_event_id: Id


@browse.action(
    "list_instance",
    GET("/audit_events"),
    example={"entity_type": "Project", "entity_id": 20},
    shows=EVENT,
)
class ListInstanceEvents(Paged):
    """List what happened in the whole instance."""

    entity_type: Literal["Project", "User", "Group", "Gitlab::Audit::InstanceScope"] | None = None
    entity_id: Annotated[Id, Anywhere("project, group or user")] | None = None
    created_after: Time | None = None
    created_before: Time | None = None

    @model_validator(mode="after")
    def _an_id_is_of_a_type(self) -> ListInstanceEvents:
        # A number alone is ambiguous: a user, a group and a project may have the same one.
        if self.entity_id is not None and self.entity_type is None:
            raise broken_rule("given with entity_id", field="entity_type")
        return self


@browse.action(
    "get_instance",
    GET("/audit_events/{audit_event_id}"),
    example={"audit_event_id": 1},
    shows=EVENT,
)
class GetInstanceEvent(Action):
    """Read one event of the instance."""

    audit_event_id: Annotated[Id, Anywhere("audit event")]

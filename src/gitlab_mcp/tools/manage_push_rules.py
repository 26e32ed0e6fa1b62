"""Write the push rules of a project, or of a group for its new projects."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from gitlab_mcp.actions.action import DELETE, POST, PUT, Danger, Role
from gitlab_mcp.actions.fields import Flag, Integer, Regex, broken_rule
from gitlab_mcp.actions.recovery_lookup import RecoveryLookup, as_asked
from gitlab_mcp.actions.scopes import WithPushRules
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.actions.undo import Undo

manage = Tool("manage_push_rules", "Set the push rules of a project or group (Premium).", toolset="access")

RULES = (
    "commit_message_regex commit_message_negative_regex branch_name_regex author_email_regex file_name_regex"
    " max_file_size deny_delete_tag member_check prevent_secrets commit_committer_check"
    " commit_committer_name_check reject_unsigned_commits reject_non_dco_commits"
)


Megabytes = Annotated[Integer, Field(ge=0, le=2**31 - 1)]


class PushRules(WithPushRules):
    commit_message_regex: Regex | None = None
    branch_name_regex: Regex | None = None
    file_name_regex: Regex | None = None
    max_file_size: Megabytes | None = None
    deny_delete_tag: Flag | None = None
    member_check: Flag | None = None
    prevent_secrets: Flag | None = None
    commit_committer_check: Flag | None = None
    reject_unsigned_commits: Flag | None = None

    @model_validator(mode="after")
    def _sets_something(self) -> PushRules:
        if self.model_fields_set <= {"project_id", "group_id"}:
            raise broken_rule("at least one rule", field="commit_message_regex")
        return self


@manage.action(
    "create",
    POST("/projects/{project_id}/push_rule", "/groups/{group_id}/push_rule"),
    danger=Danger.DANGEROUS,
    example={"project_id": "tiers-a/one", "deny_delete_tag": True},
    shows="id " + RULES,
    role=Role.MAINTAINER,
    recover_with=RecoveryLookup("browse_push_rules get", "project_id group_id", proof=as_asked),
    undo=Undo("delete", "project_id group_id"),
)
class CreatePushRules(PushRules):
    """Set push rules where there are none yet."""


@manage.action(
    "update",
    PUT("/projects/{project_id}/push_rule", "/groups/{group_id}/push_rule"),
    danger=Danger.DANGEROUS,
    example={"project_id": "tiers-a/one", "deny_delete_tag": True},
    shows="id " + RULES,
    role=Role.MAINTAINER,
    recover_with=RecoveryLookup("browse_push_rules get", "project_id group_id"),
)
class UpdatePushRules(PushRules):
    """Change push rules."""


@manage.action(
    "delete",
    DELETE("/projects/{project_id}/push_rule", "/groups/{group_id}/push_rule"),
    danger=Danger.DANGEROUS,
    example={"project_id": "tiers-a/one"},
    role=Role.MAINTAINER,
    recover_with=RecoveryLookup("browse_push_rules get", "project_id group_id"),
)
class DeletePushRules(WithPushRules):
    """Remove all push rules."""

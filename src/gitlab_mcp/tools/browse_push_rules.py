"""Push rules of a project, or of a group for its new projects."""

from __future__ import annotations

from gitlab_mcp.actions.action import GET, Role
from gitlab_mcp.actions.scopes import WithPushRules
from gitlab_mcp.actions.tool import Tool

browse = Tool("browse_push_rules", "Read the push rules of a project or group (Premium).", toolset="access")

RULES = (
    "commit_message_regex commit_message_negative_regex branch_name_regex author_email_regex file_name_regex"
    " max_file_size deny_delete_tag member_check prevent_secrets commit_committer_check"
    " commit_committer_name_check reject_unsigned_commits reject_non_dco_commits"
)


@browse.action(
    "get",
    GET("/projects/{project_id}/push_rule", "/groups/{group_id}/push_rule"),
    example={"project_id": "tiers-a/one"},
    shows="id " + RULES,
    role=Role.MAINTAINER,
)
class GetPushRules(WithPushRules):
    """Read what a push is held to."""

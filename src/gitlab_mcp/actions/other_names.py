"""Other names that people and models use, and how they are declared. Unlisted: they cost no tokens.

A field of one name means the same in all tools (a contract keeps it so), so what else it is called is said here
once, by its name; `AlsoCalled` beside the type of a field says it for one action. GitLab's own names come first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Instead:
    """The call that another name of an action stands for."""

    call: str
    """`update`, or `manage_discussion create_note` of another tool; nothing where only the advice helps."""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """What the other name says: `close` is state_event=close."""
    needs: tuple[str, ...] = ()
    """Fields that carry what the other name is about; without them the call is not made."""
    renames: Mapping[str, str] = field(default_factory=dict)
    """Fields that mean something else under the other name: the labels of `add_label` are add_labels."""
    only_with: str | None = None
    """An action of that name exists; it is another call only where this field is given."""
    advice: str = ""
    """Why this is not one call, and what to do. With advice the call is suggested, never made."""


_OPEN_OR_CLOSED = {
    "closed": "close", "close": "close", "opened": "reopen", "open": "reopen", "reopen": "reopen",
    "reopened": "reopen",
}  # fmt: skip

VALUES: Mapping[str, Mapping[str, Mapping[str, str]]] = {
    "state_event": {"state": _OPEN_OR_CLOSED, "status": _OPEN_OR_CLOSED},
}
"""By field and other name: values that are spelled otherwise, too."""

FIELDS: Mapping[str, str] = {
    "project_id": "project project_path project_full_path full_path path_with_namespace repo repo_id repository"
    " repository_id project_name",
    "group_id": "group group_path group_full_path full_path group_name",
    "issue_iid": "iid issue issue_number issue_no number work_item_iid issue_id",
    "work_item_iid": "iid issue_iid task_iid child_iid epic_iid work_item task number work_item_number",
    "global_id": "id work_item_id gid",
    "parent_iid": "parent parent_issue_iid parent_work_item_iid issue_iid epic_iid",
    "target_project": "target_project_id",
    "target_iid": "target target_work_item_iid target_issue_iid linked_iid to_iid",
    "titles": "tasks children items names",
    "merge_request_iid": "iid mr_iid mr merge_request mr_number merge_request_number number mr_id merge_request_id"
    " pull_number pull_request_number pr_number",
    "epic_iid": "iid epic epic_number number epic_id",
    "pipeline_id": "pipeline",
    "job_id": "build_id job build",
    "discussion_id": "thread_id discussion thread",
    "note_id": "comment_id note comment",
    "draft_note_id": "draft_id note_id",
    "hook_id": "webhook_id hook webhook",
    "schedule_id": "pipeline_schedule_id schedule pipeline_schedule",
    "runner_id": "runner",
    "suggestion_ids": "suggestion_id suggestions suggestion ids",
    "board_id": "board",
    "list_id": "board_list_id list",
    "cron": "schedule cron_expression expression interval when",
    "cron_timezone": "timezone time_zone tz",
    "tag_list": "tags runner_tags",
    "user_xids": "user_ids users",
    "user_list_iid": "iid user_list_id list_id user_list",
    "environment_id": "environment env_id env",
    "approval_rule_id": "rule_id",
    "label_id": "label name label_name",
    "milestone_id": "milestone milestone_title milestone_name",
    "user_id": "user",
    "username": "user user_name login",
    "author_username": "author created_by creator author_name",
    "not_author_username": "exclude_author",
    "assignee_username": "assignee assignees assigned_to assignee_name",
    "reviewer_username": "reviewer reviewers reviewer_name",
    "approved_by_usernames": "approved_by approver approvers",
    "merge_user_username": "merge_user merged_by",
    "assignee_ids": "assignee_id assignees assignee assign_to assigned_to assignee_usernames assignee_username",
    "reviewer_ids": "reviewer_id reviewers reviewer reviewer_usernames reviewer_username",
    "user_ids": "users user_id approvers",
    "labels": "label label_name label_names",
    "add_labels": "label labels_to_add new_labels",
    "remove_labels": "labels_to_remove delete_labels",
    "not_labels": "exclude_labels without_labels excluded_labels",
    "milestone": "milestone_title milestone_name",
    "milestones": "milestone milestone_titles",
    "search": "query q keyword keywords term search_term search_query search_text text pattern grep",
    "per_page": "limit page_size first count max_results size top max",
    "page": "page_number",
    "order_by": "sort_by order",
    "count_by": "group_by grouped_by aggregate_by by",
    "seconds": "timeout timeout_seconds max_seconds wait_seconds max_wait",
    "sort": "order direction sort_order order_direction sort_direction",
    "state_event": "state status event",
    "state": "status",
    "draft": "wip is_draft work_in_progress",
    "scope": "status state",
    "status": "state scope",
    "title": "name subject summary",
    "description": "body desc text content details",
    "body": "note comment text message content description reply",
    "note": "body comment text message content",
    "ref": "branch branch_name ref_name revision git_ref",
    "ref_name": "branch ref branch_name revision",
    "sha": "commit commit_sha commit_id commit_hash hash",
    "branch": "branch_name",
    "source_branch": "from_branch head head_branch source",
    "target_branch": "to_branch base base_branch into target destination_branch",
    "from_ref": "from base from_sha source",
    "to_ref": "to head to_sha target",
    "refs": "branches commits",
    "file_path": "path file filename file_name filepath",
    "path": "file_path directory dir folder file filepath",
    "artifact_path": "path file_path file",
    "content": "text contents body data file_content",
    "commit_message": "message msg commit_msg",
    "merge_commit_message": "commit_message message",
    "message": "commit_message msg",
    "tag_message": "message",
    "actions": "files changes operations",
    "remove_source_branch": "delete_source_branch should_remove_source_branch force_remove_source_branch",
    "should_remove_source_branch": "remove_source_branch delete_source_branch force_remove_source_branch",
    "auto_merge": "merge_when_pipeline_succeeds when_pipeline_succeeds merge_when_checks_pass",
    "squash": "squash_commits",
    "duration": "time time_spent spent_time estimate time_estimate amount",
    "tail": "lines last_lines tail_lines limit last",
    "start_line": "from_line line_start",
    "end_line": "to_line line_end",
    "line": "new_line line_number line_no",
    "due_date": "due due_on deadline",
    "internal": "confidential",
    "target_issue_iid": "target_iid linked_issue_iid related_issue_iid to_issue_iid target_issue",
    "target_project_id": "target_project",
    "to_project_id": "target_project_id to_project destination_project_id target_project",
    "issue_link_id": "link_id",
    "link_type": "type relation relationship",
    "issue_type": "type",
    "tag_name": "tag",
    "slug": "page_slug page_name",
    "namespace": "namespace_id target_namespace to_namespace",
    "namespace_id": "namespace namespace_path",
    "group_access": "access_level group_access_level",
    "topics": "tag_list",
    "color": "colour",
    "since": "after created_after from_date",
    "until": "before created_before to_date",
    "after": "since",
    "before": "until",
    "created_after": "since created_since after",
    "created_before": "until before",
    "updated_after": "updated_since since after",
    "updated_before": "until before",
    "with_stats": "stats",
    "stats": "with_stats",
    "recursive": "recurse",
    "job_variables_attributes": "variables job_variables",
    "environment": "environment_name env",
    "environment_scope": "environment env environment_name",
    "masked_and_hidden": "hidden",
    "expires_at": "until expires expiry expiry_date expiration expiration_date expires_on valid_until end_date",
    "todo_action": "action_name reason",
    "email": "invite_email mail e_mail email_address",
}
"""By field: what else it is called. One of two fields that share a name is not chosen: the error names both."""


def called(name: str) -> tuple[str, ...]:
    return tuple(FIELDS.get(name, "").split())

"""What endpoints of reading actions take and the actions do not, and why. Paid parameters are not listed."""

from __future__ import annotations

_A_NUMBER = "the field for the username takes everybody that this one does"
_SHOWN = "changes what an answer shows, not what it finds; `detail` does that"
_ADMIN = "only administrators may use it, for upkeep"
_RARE = "nobody looks for things by it; the listing is paid for with every request"
_OF_PERSON = "the lists of one person's or one project's projects are short; browse_projects list takes it"
_DEPLOYED = "a deployment ships few merge requests"
_SET_BY_ACTION = "the action sends it itself"
_OTHER_SCOPE = "GitLab reads it only when it searches for something else"
_CURSOR = "page goes on"
_FIRST_REQUEST = "the action reads what it needs"

_PROJECT_LISTS = (
    "browse_project_details forks,browse_user_details projects,browse_user_details starred_projects"
)
_ALL_PROJECT_LISTS = f"browse_projects list,{_PROJECT_LISTS}"
_GROUP_LISTS = "browse_groups list,browse_groups subgroups,browse_groups descendants"
_MERGE_REQUEST_JOBS = (
    "browse_code_owners merge_request,browse_merge_requests merge_readiness,"
    "browse_merge_requests review_bundle,browse_pipelines failure_digest,browse_pipelines wait"
)
_ISSUES = "browse_issues list,browse_issues statistics"
_SEARCHES = "code commits issues merge_requests milestones notes projects snippets users wiki"


def _searches(without: str = "") -> str:
    return ",".join(f"search {name}" for name in _SEARCHES.split() if name not in without.split())


def _each(actions: str, parameters: str, reason: str) -> dict[str, str]:
    return {f"{action}: {name}": reason for action in actions.split(",") for name in parameters.split()}


LEFT_OUT: dict[str, str] = {
    **_each("browse_access_tokens list", "sort", _RARE),
    **_each(
        "browse_access_tokens overview",
        "created_after created_before expires_after expires_before last_used_after last_used_before revoked search"
        " sort state",
        "all of them are shown",
    ),
    **_each("browse_packages list", "status include_versionless exclude_subgroups", _RARE),
    **_each("browse_jobs artifact_file", "page per_page ref scope", _FIRST_REQUEST),
    **_each("browse_packages files", "order_by sort", "a package has few files"),
    **_each("browse_variables get", "filter", "sent as environment_scope"),
    **_each(
        "browse_environments deployment_merge_requests",
        "approved assignee_id assignee_username author_id created_after created_before deployed_after"
        " deployed_before environment in merge_user_id merge_user_username my_reaction_emoji not"
        " not[assignee_id] not[assignee_username] not[author_id] not[author_username] not[labels]"
        " not[milestone] not[my_reaction_emoji] not[reviewer_id] not[reviewer_username] reviewer_id"
        " reviewer_username scope source_branch source_project_id state target_branch updated_after"
        " updated_before view wip with_labels_details with_merge_status_recheck merged_after merged_before draft",
        _DEPLOYED,
    ),
    **_each(_ISSUES, "author_id not[author_id] not[assignee_id]", _A_NUMBER),
    **_each(_ISSUES, "not not[iids] not[milestone_id] my_reaction_emoji", _RARE),
    **_each("browse_issues list", "non_archived", _RARE),
    **_each("browse_issues list", "closed_by_id", _RARE),
    **_each("browse_issues list", "cursor", _CURSOR),
    **_each("browse_issues list", "with_labels_details", _SHOWN),
    **_each(
        "browse_merge_requests list",
        "merge_user_id not[author_id] not[assignee_id] not[reviewer_id]",
        _A_NUMBER,
    ),
    **_each(
        "browse_merge_requests list",
        "non_archived not my_reaction_emoji not[my_reaction_emoji] source_project_id with_merge_status_recheck",
        _RARE,
    ),
    **_each("browse_merge_requests list", "draft", "sent as wip, which all versions know"),
    **_each("browse_users list", "exclude_external exclude_active exclude_humans humans public_email", _RARE),
    **_each("browse_merge_requests list", "with_labels_details view", _SHOWN),
    **_each("browse_merge_requests get,browse_wikis get", "render_html", _SHOWN),
    **_each(
        _MERGE_REQUEST_JOBS,
        "render_html include_diverged_commits_count include_rebase_in_progress",
        _FIRST_REQUEST,
    ),
    **_each("browse_boards issues", "page per_page", _FIRST_REQUEST),
    **_each("browse_releases prepare", "order_by page page_token per_page search sort", _FIRST_REQUEST),
    **_each(
        "browse_projects overview",
        "custom_attributes license statistics with_custom_attributes",
        _FIRST_REQUEST,
    ),
    **_each(
        "browse_ci_config lint,browse_ci_config merged,browse_ci_config jobs",
        "sha content_ref dry_run_ref dry_run include_jobs",
        _SET_BY_ACTION,
    ),
    **_each(
        "browse_runners list,browse_runners list_all", "scope", "the old name of type, status and paused"
    ),
    **_each("browse_runners get", "include_projects", _SHOWN),
    **_each("browse_runners jobs", "system_id order_by", _RARE),
    **_each("browse_runners jobs", "cursor", _CURSOR),
    **_each(
        "browse_schedules pipelines",
        "scope created_after created_before updated_after updated_before",
        "a schedule starts few a day; status narrows them",
    ),
    **_each("browse_epics list", "author_id not[author_id]", _A_NUMBER),
    **_each("browse_epics list", "not my_reaction_emoji", _RARE),
    **_each("browse_epics list", "with_labels_details", _SHOWN),
    **_each("browse_analytics code_review", "not not[label_name] not[milestone_title]", _RARE),
    **_each("browse_analytics recent_activity", "group_path", _SET_BY_ACTION),
    **_each(_searches(), "scope", _SET_BY_ACTION),
    **_each(_searches(), "type", "narrows work items by their type; browse_issues list takes issue_type"),
    **_each(_searches(without="issues"), "confidential", _OTHER_SCOPE),
    **_each(_searches(without="issues merge_requests"), "state", _OTHER_SCOPE),
    **_each(
        _searches(without="code commits projects snippets"),
        "ref",
        _OTHER_SCOPE,
    ),
    **_each(_ALL_PROJECT_LISTS, "include_pending_delete repository_storage", _ADMIN),
    **_each(_ALL_PROJECT_LISTS, "marked_for_deletion_on", "nobody knows the day; active leaves them all out"),
    **_each(_PROJECT_LISTS, "active", _OF_PERSON),
    **_each(_ALL_PROJECT_LISTS, "id_after id_before", _CURSOR),
    **_each(_ALL_PROJECT_LISTS, "imported topic_id with_issues_enabled with_merge_requests_enabled", _RARE),
    **_each(
        f"{_ALL_PROJECT_LISTS},browse_user_details contributed_projects,browse_releases list",
        "simple",
        _SHOWN,
    ),
    **_each(
        _PROJECT_LISTS,
        "archived visibility last_activity_after last_activity_before membership min_access_level search_namespaces"
        " starred topic updated_after updated_before with_programming_language",
        _OF_PERSON,
    ),
    **_each("browse_user_details projects,browse_user_details starred_projects", "owned", _OF_PERSON),
    **_each(
        "browse_projects list,browse_user_details projects,browse_user_details starred_projects",
        "statistics",
        _SHOWN,
    ),
    **_each(
        "browse_project_details forks,browse_projects get,browse_projects list,"
        "browse_users get,browse_users list,browse_user_details projects",
        "custom_attributes with_custom_attributes",
        _ADMIN,
    ),
    **_each("browse_projects list", "include_ancestor_groups", _RARE),
    **_each("browse_projects get", "license", _SHOWN),
    **_each(
        "browse_project_details groups",
        "shared_min_access_level shared_visible_only skip_groups with_shared",
        _RARE,
    ),
    **_each("browse_projects users", "skip_users", _RARE),
    **_each("browse_users list", "extern_uid provider two_factor", _ADMIN),
    **_each("browse_users list", "exclude_internal external without_projects", _RARE),
    **_each("browse_user_details memberships", "type", "the list is short and each entry says its type"),
    **_each("browse_project_details namespaces", "owned_only top_level_only full_path_search", _RARE),
    **_each("browse_project_details contributors", "ref", _RARE),
    **_each("browse_project_details badges", "name", "a project has few"),
    **_each(
        "browse_instance_details template,browse_project_details template",
        "fullname project",
        "fill a licence's blanks",
    ),
    **_each("browse_project_details template", "source_template_project_id", _RARE),
    **_each("browse_instance_details templates", "popular", "only licences have it"),
    **_each("browse_members list,browse_members direct", "user_ids", "get reads one; search finds several"),
    **_each("browse_members list,browse_members direct", "show_seat_info", _SHOWN),
    **_each("browse_members direct", "skip_users", _RARE),
    **_each("browse_members who_can", "query user_ids show_seat_info page per_page", _FIRST_REQUEST),
    **_each(_GROUP_LISTS, "statistics", _SHOWN),
    **_each(f"{_GROUP_LISTS},browse_groups shared_groups", "skip_groups", _RARE),
    **_each(
        f"{_GROUP_LISTS},browse_groups get,browse_groups shared_groups,browse_groups shared_projects",
        "custom_attributes with_custom_attributes",
        _ADMIN,
    ),
    **_each(_GROUP_LISTS, "marked_for_deletion_on", "nobody knows the day; active leaves them all out"),
    **_each(
        "browse_groups subgroups,browse_groups descendants", "all_available top_level_only", "below a group"
    ),
    **_each("browse_groups get", "with_projects", _SET_BY_ACTION),
    **_each("browse_groups shared_groups", "search min_access_level", _RARE),
    **_each("browse_groups shared_projects", "simple", _SHOWN),
    **_each(
        "browse_groups shared_projects",
        "starred order_by with_issues_enabled with_merge_requests_enabled",
        _RARE,
    ),
    **_each("browse_labels list", "archived", "archiving labels is behind a flag"),
    **_each("browse_instance_details topics", "organization_id", "an instance has one organization"),
    **_each("browse_labels get", "include_descendant_groups only_group_labels", "one label is named"),
    **_each("browse_iterations list", "in include_descendants", _RARE),
    **_each("browse_milestones list", "include_parent_milestones", "the old name of include_ancestors"),
    **_each(
        "browse_releases get,browse_releases latest,browse_releases list", "include_html_description", _SHOWN
    ),
    **_each(
        "browse_releases latest",
        "order_by sort page per_page updated_after updated_before",
        "there is one latest",
    ),
    **_each(
        "browse_releases changelog",
        "config_file config_file_ref date trailer",
        "a preview; manage_release writes with the same defaults",
    ),
    **_each(
        "browse_branches list,browse_commits list,browse_files tree,browse_tags list", "page_token", _CURSOR
    ),
    **_each("browse_commits list,browse_files tree", "pagination", _CURSOR),
    **_each(
        "browse_commit_details statuses",
        "order_by pipeline_id sort",
        "a commit has few, and each names its pipeline",
    ),
    **_each("browse_commits merge_requests", "state", "a commit is in few"),
    **_each("browse_files tree", "with_last_commit", _SHOWN),
    **_each(
        "browse_jobs log",
        "byte_limit",
        "as many as the answer may hold",
    ),
    **_each(
        "browse_jobs artifacts,browse_jobs artifact_file",
        "search_recent_successful_pipelines",
        "of an older pipeline than asked for; job_id names one for certain",
    ),
    **_each("browse_files blame", "range", "sent as its two ends"),
    **_each("browse_files why", "range range[start] range[end]", "sent where start_line is given"),
    **_each(
        "browse_commits compare,browse_commits diff,browse_merge_requests diffs,browse_merge_request_details version",
        "unidiff",
        "diffs are shown in one form",
    ),
    **_each("browse_commits list", "trailers", _SHOWN),
    **_each("browse_jobs artifacts,browse_jobs artifact_file", "job_token", "a token is no argument"),
    **_each(
        "browse_approval_rules list,browse_approval_rules status_checks,browse_approval_rules trains,"
        "browse_dependencies list,browse_epics board_lists,browse_epics boards,browse_epics issues,"
        "browse_protected_branches list,browse_protected_branches list_tags,browse_webhooks list",
        "per_page",
        "short lists; page goes on",
    ),
}

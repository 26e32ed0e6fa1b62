"""Where a declaration differs from GitLab's own parameter list, and why."""

_PAGED = "not declared; its answers are paged all the same"

_KEYSET = "taken wherever GitLab pages by keyset, as its refusal of a deep page says of users"
_COUNTED = "the rows are counted here"
_FLAG = "GitLab reads true and false as those"
_FILE = "its name and content, or its path: sent as a file"

DIFFERENCES: dict[str, str] = {
    "browse_users list: cursor is not known to GitLab": _KEYSET,
    "browse_users list: pagination is not known to GitLab": _KEYSET,
    "browse_issues list: count_by is not known to GitLab": _COUNTED,
    "browse_merge_requests list: count_by is not known to GitLab": _COUNTED,
    "browse_pipelines list: count_by is not known to GitLab": _COUNTED,
    "browse_packages list: order_by allows ['project_path']": "of a group; a project refuses it",
    "manage_snippet create: file_name is required by GitLab": "only where files are not given",
    "manage_upload create: attached_file is object, GitLab takes array of string": _FILE,
    "manage_upload create: attached_file is object, GitLab takes file": _FILE,
    "manage_variable create: masked is boolean, GitLab takes string": _FLAG,
    "manage_variable create: masked_and_hidden is boolean, GitLab takes string": _FLAG,
    "manage_variable create: protected is boolean, GitLab takes string": _FLAG,
    "manage_variable create: raw is boolean, GitLab takes string": _FLAG,
    "manage_commit comment: line is required by GitLab": "only where path is given",
    "manage_commit comment: line_type is required by GitLab": "only where path is given",
    "manage_commit_status set: coverage is number, GitLab takes number": "the same under two names",
    "manage_time_tracking add_spent_time: summary is not known to GitLab": "documented, and recorded as kept",
    "browse_merge_requests commits: page is since 19.3 until None": _PAGED,
    "browse_merge_requests commits: per_page is since 19.3 until None": _PAGED,
    "browse_merge_requests list: approved_by_usernames is an array, GitLab takes string|array": "one of the two",
    "browse_merge_requests list: draft is boolean, GitLab takes string": "sent as yes or no",
    "browse_merge_request_details participants: page is not known to GitLab": _PAGED,
    "browse_merge_request_details participants: per_page is not known to GitLab": _PAGED,
    "browse_merge_request_details reviewers: page is not known to GitLab": _PAGED,
    "browse_merge_request_details reviewers: per_page is not known to GitLab": _PAGED,
    "browse_merge_requests pipelines: page is not known to GitLab": _PAGED,
    "browse_merge_requests pipelines: per_page is not known to GitLab": _PAGED,
    "browse_merge_request_details context_commits: page is not known to GitLab": _PAGED,
    "browse_merge_request_details context_commits: per_page is not known to GitLab": _PAGED,
    "browse_schedules pipelines: page is since 19.3 until None": _PAGED,
    "browse_schedules pipelines: per_page is since 19.3 until None": _PAGED,
    "manage_environment delete_review_apps: before is string, GitLab takes time": "a time under another name",
    "browse_audit_events list_instance: entity_type is required by GitLab": "only where entity_id is given",
    "manage_member invite: email is string, GitLab takes array of string": "one at a time, as everywhere else",
    "manage_file delete: last_commit_id is since 19.3 until None": "of an older one it is compared here, before",
    "browse_jobs log: byte_offset is since 19.3 until None": "of an older one the whole log is read, and cut here",
    "browse_vulnerabilities findings: pipeline_id is integer, GitLab takes string": "it is a number everywhere else",
    "manage_vulnerability link_issue: target_project_id is integer, GitLab takes string": "as for links between issues",
}

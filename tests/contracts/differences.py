"""Where a declaration differs from GitLab's own parameter list, and why."""

_PAGED = "not declared; its answers are paged all the same"

DIFFERENCES: dict[str, str] = {
    "manage_commit comment: line is required by GitLab": "only where path is given",
    "manage_commit comment: line_type is required by GitLab": "only where path is given",
    "manage_commit set_status: coverage is number, GitLab takes number": "the same under two names",
    "manage_issue add_spent_time: summary is not known to GitLab": "documented, and recorded as kept",
    "manage_merge_request add_spent_time: summary is not known to GitLab": "documented, and recorded as kept",
    "browse_merge_requests commits: page is since 19.3 until None": _PAGED,
    "browse_merge_requests commits: per_page is since 19.3 until None": _PAGED,
    "browse_merge_requests list: approved_by_usernames is an array, GitLab takes string|array": "one of the two",
    "browse_merge_requests list: draft is boolean, GitLab takes string": "sent as yes or no",
    "browse_merge_requests participants: page is not known to GitLab": _PAGED,
    "browse_merge_requests participants: per_page is not known to GitLab": _PAGED,
    "browse_merge_requests reviewers: page is not known to GitLab": _PAGED,
    "browse_merge_requests reviewers: per_page is not known to GitLab": _PAGED,
    "browse_merge_requests pipelines: page is not known to GitLab": _PAGED,
    "browse_merge_requests pipelines: per_page is not known to GitLab": _PAGED,
    "browse_merge_requests context_commits: page is not known to GitLab": _PAGED,
    "browse_merge_requests context_commits: per_page is not known to GitLab": _PAGED,
    "browse_jobs log: byte_offset is since 19.3 until None": "of an older one the whole log is read, and cut here",
    "manage_environment delete_review_apps: before is string, GitLab takes time": "a time under another name",
    "browse_audit_events list_instance: entity_type is required by GitLab": "only where entity_id is given",
    "browse_vulnerabilities findings: pipeline_id is integer, GitLab takes string": "it is a number everywhere else",
    "manage_vulnerability link_issue: target_project_id is integer, GitLab takes string": "as for links between issues",
}

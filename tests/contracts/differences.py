"""Where a declaration differs from GitLab's own parameter list, and why."""

DIFFERENCES: dict[str, str] = {
    "browse_labels get: include_ancestor_groups is not known to GitLab": "",
    "browse_users contributed_projects: user_id is integer, GitLab takes string": "a name goes into username",
    "browse_users keys: user_id is integer, GitLab takes string": "a name goes into username",
    "browse_users projects: user_id is integer, GitLab takes string": "a name goes into username",
    "browse_users starred_projects: user_id is integer, GitLab takes string": "a name goes into username",
    "browse_users status: user_id is integer, GitLab takes string": "a name goes into username",
    "manage_commit comment: line is required by GitLab": "only where path is given",
    "manage_commit comment: line_type is required by GitLab": "only where path is given",
    "manage_commit set_status: coverage is number, GitLab takes number": "the same under two names",
    "manage_issue add_spent_time: summary is not known to GitLab": "documented, and recorded as kept",
}

"""Where a declaration differs from GitLab's own parameter list, and why."""

DIFFERENCES: dict[str, str] = {
    "browse_labels get: include_ancestor_groups is not known to GitLab": "",
}

"""What GitLab has and this server does not offer yet: said plainly, and never taken for something else."""

from __future__ import annotations

from gitlab_mcp.actions.arguments.words import stems
from gitlab_mcp.actions.registry import Registry

_NOT_OFFERED: dict[str, tuple[str, str | None]] = {
    "variable": ("CI/CD variables of projects, groups and instances", None),
    "secret": ("CI/CD variables of projects, groups and instances", None),
    "todo": ("The to-do list", "browse_users counts has the number of open to-dos"),
    "to_do": ("The to-do list", "browse_users counts has the number of open to-dos"),
    "trigger_token": ("Pipeline trigger tokens", "manage_pipeline create starts a pipeline"),
    "upload": ("Uploads", None),
    "attachment": ("Uploads", None),
    "work_item": (
        "Work items other than issues and epics",
        "browse_issues reads issues, incidents and tasks",
    ),
    "workitem": ("Work items other than issues and epics", "browse_issues reads issues, incidents and tasks"),
    "access_token": ("Access tokens", "browse_instance token describes the token in use"),
    "personal_access_token": ("Access tokens", "browse_instance token describes the token in use"),
    "deploy_token": ("Deploy tokens", None),
    "deploy_key": ("Deploy keys", None),
    "ssh_key": ("Changing SSH keys", "browse_users keys reads them"),
    "snippet": ("Snippets", "search snippets finds them"),
    "package": ("Packages", None),
    "registry": ("The container registry", None),
    "container": ("The container registry", None),
    "image": ("The container registry", None),
    "page_domain": ("GitLab Pages", None),
    "cluster": ("Clusters and agents", None),
    "agent": ("Clusters and agents", None),
    "integration": ("Integrations", None),
    "mirror": ("Changing mirrors", "browse_projects remote_mirrors reads push mirrors"),
    "badge": ("Changing badges", "browse_projects badges reads them"),
    "custom_emoji": ("Custom emoji", None),
    "terraform": ("Terraform state", None),
    "secure_file": ("Secure files", None),
    "design": ("Designs", None),
    "requirement": ("Requirements", None),
    "model": ("The model registry", None),
}
"""By the word people use: what it is, and the nearest that works."""


def not_offered(registry: Registry, name: str) -> str | None:
    """The sentence about the thing a name is about, where that thing is not offered."""
    words = stems(name)
    spans = [
        "_".join(words[start:end])
        for length in (3, 2, 1)
        for start in range(len(words) - length + 1)
        if (end := start + length)
    ]
    for span in spans:
        if span in _NOT_OFFERED and not _is_offered(registry, span):
            what, nearest = _NOT_OFFERED[span]
            verb = "is" if what.startswith(("The ", "Reading", "Changing")) else "are"
            return f"{what} {verb} not offered yet." + (
                f" The nearest that works: {nearest}." if nearest else ""
            )
    return None


def _is_offered(registry: Registry, subject: str) -> bool:
    return any("_".join(stems(name)[1:]) == subject for name in registry.names())

"""Protected branches of a project or a group, and protected tags of a project."""

from __future__ import annotations

from gitlab_mcp.actions.action import GET
from gitlab_mcp.actions.fields import Page, Search
from gitlab_mcp.actions.scopes import InProject, OfProtectedBranch, OfProtectedTag, WithProtectedBranches
from gitlab_mcp.actions.tool import Tool

browse = Tool(
    "browse_protected_branches",
    "Read protected branches of a project or group (Premium) and protected tags.",
    toolset="access",
)

BRANCH = (
    "name push=push_access_levels.access_level_description merge=merge_access_levels.access_level_description"
    " allow_force_push code_owner_approval_required inherited"
    " | id unprotect=unprotect_access_levels.access_level_description"
    " push_access_levels(id access_level user_id group_id deploy_key_id)"
    " merge_access_levels(id access_level user_id group_id)"
)
TAG = (
    "name create=create_access_levels.access_level_description"
    " | create_access_levels(id access_level user_id group_id deploy_key_id)"
)


@browse.action(
    "list",
    GET("/projects/{project_id}/protected_branches", "/groups/{group_id}/protected_branches"),
    example={"project_id": "acme/website"},
    shows=BRANCH,
)
class ListProtectedBranches(WithProtectedBranches):
    """List protected branches and wildcards, with who may push and merge."""

    search: Search | None = None
    page: Page | None = None


@browse.action(
    "get",
    GET("/projects/{project_id}/protected_branches/{name}", "/groups/{group_id}/protected_branches/{name}"),
    example={"project_id": "acme/website", "name": "main"},
    shows=BRANCH,
)
class GetProtectedBranch(OfProtectedBranch):
    """Read one protected branch or wildcard."""


@browse.action(
    "list_tags",
    GET("/projects/{project_id}/protected_tags"),
    example={"project_id": "acme/website"},
    shows=TAG,
)
class ListProtectedTags(InProject):
    """List protected tags and wildcards, with who may create them."""

    page: Page | None = None


@browse.action(
    "get_tag",
    GET("/projects/{project_id}/protected_tags/{name}"),
    example={"project_id": "acme/website", "name": "v*"},
    shows=TAG,
)
class GetProtectedTag(OfProtectedTag):
    """Read one protected tag or wildcard."""

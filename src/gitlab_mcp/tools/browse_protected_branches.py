"""Protected branches of a project or a group, and a project's protected tags."""

from __future__ import annotations

from typing import Annotated

from gitlab_mcp.actions.action import GET, Action, Role
from gitlab_mcp.actions.fields import GroupId, Line, Needs, Page, ProjectId, Search
from gitlab_mcp.actions.tool import Tool

browse = Tool(
    "browse_protected_branches",
    "Read protected branches of a project or group (Premium) and protected tags.",
    toolset="access",
    switch="repository",
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


class InProjectOrGroup(Action):
    project_id: ProjectId | None = None
    group_id: Annotated[GroupId, Needs("group_protected_branches")] | None = None


class OfBranch(InProjectOrGroup):
    name: Line


class OfTag(Action):
    project_id: ProjectId
    name: Line


@browse.action(
    "list",
    GET("/projects/{project_id}/protected_branches", "/groups/{group_id}/protected_branches"),
    docs="api/protected_branches/#list-protected-branches",
    example={"project_id": "acme/website"},
    shows=BRANCH,
    role=Role.REPORTER,
)
class ListProtectedBranches(InProjectOrGroup):
    """List protected branches and wildcards, with who may push and merge."""

    search: Search | None = None
    page: Page | None = None


@browse.action(
    "get",
    GET("/projects/{project_id}/protected_branches/{name}", "/groups/{group_id}/protected_branches/{name}"),
    docs="api/protected_branches/#retrieve-a-protected-branch-or-wildcard-protected-branch",
    example={"project_id": "acme/website", "name": "main"},
    shows=BRANCH,
    role=Role.REPORTER,
)
class GetProtectedBranch(OfBranch):
    """Read one protected branch or wildcard."""


@browse.action(
    "list_tags",
    GET("/projects/{project_id}/protected_tags"),
    docs="api/protected_tags/#list-protected-tags",
    example={"project_id": "acme/website"},
    shows=TAG,
    role=Role.MAINTAINER,
)
class ListProtectedTags(Action):
    """List protected tags and wildcards, with who may create them."""

    project_id: ProjectId
    page: Page | None = None


@browse.action(
    "get_tag",
    GET("/projects/{project_id}/protected_tags/{name}"),
    docs="api/protected_tags/#get-a-protected-tag-or-wildcard-protected-tag",
    example={"project_id": "acme/website", "name": "v*"},
    shows=TAG,
    role=Role.MAINTAINER,
)
class GetProtectedTag(OfTag):
    """Read one protected tag or wildcard."""

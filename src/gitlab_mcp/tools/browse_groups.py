"""Groups: lists, one group, its subgroups, and with whom it is shared."""

from __future__ import annotations

from typing import Annotated, Literal

from gitlab_mcp.actions.action import GET
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.fields import AccessLevel, Flag, Only, Search, Sort, Visibility
from gitlab_mcp.actions.scopes import InGroup, Paged
from gitlab_mcp.actions.tool import Tool

browse = Tool(
    "browse_groups",
    "Read groups, their subgroups, and with whom they are shared.",
    toolset="access",
    also=("organization", "organisation", "subgroup", "namespace", "team"),
    instead={
        "projects": "browse_projects list",
        "members list_members": "browse_members list",
        "children list_subgroups": "subgroups",
        "descendant_groups all_subgroups tree": "descendants",
        "details show": "get",
    },
)

GROUP = (
    "id full_path name visibility archived:mark marked_for_deletion_on"
    " | description parent_id web_url created_at request_access_enabled project_creation_level"
    " subgroup_creation_level default_branch share_with_group_lock require_two_factor_authentication"
    " shared_with_groups(group_id group_full_path group_access_level expires_at)"
)

OrderBy = Literal["name", "path", "id", "similarity"]


class ListOfGroups(Paged):
    search: Search | None = None
    visibility: Visibility | None = None
    owned: Flag | None = None
    min_access_level: AccessLevel | None = None
    archived: Annotated[Flag, Only(since="19.3")] | None = None
    active: Annotated[Flag, Only(since="19.3")] | None = None
    order_by: OrderBy | None = None
    sort: Sort | None = None


@browse.action("list", GET("/groups"), example={"search": "acme"}, shows=GROUP)
class ListGroups(ListOfGroups):
    """List the groups the token may see."""

    top_level_only: Flag | None = None
    all_available: Flag | None = None


@browse.action("get", GET("/groups/{group_id}"), example={"group_id": "acme"}, shows=GROUP)
class GetGroup(InGroup):
    """Read one group: settings, state, and the groups it is shared with."""

    async def run(self, gitlab: GitLab) -> Answer:
        # GitLab would send all projects of the group along.
        return await gitlab.send(self.request(with_projects=False))


@browse.action("subgroups", GET("/groups/{group_id}/subgroups"), example={"group_id": "acme"}, shows=GROUP)
class Subgroups(InGroup, ListOfGroups):
    """The groups directly below a group."""


@browse.action(
    "descendants", GET("/groups/{group_id}/descendant_groups"), example={"group_id": "acme"}, shows=GROUP
)
class Descendants(InGroup, ListOfGroups):
    """All groups below a group, however deep."""


@browse.action(
    "shared_projects",
    GET("/groups/{group_id}/projects/shared"),
    example={"group_id": "acme"},
    shows="id path_with_namespace visibility archived:mark last_activity_at:date",
)
class SharedProjects(InGroup, Paged):
    """Projects of others that the group was given access to."""

    search: Search | None = None
    visibility: Visibility | None = None
    archived: Flag | None = None
    min_access_level: AccessLevel | None = None
    sort: Sort | None = None


@browse.action(
    "shared_groups", GET("/groups/{group_id}/groups/shared"), example={"group_id": "acme"}, shows=GROUP
)
class SharedGroups(InGroup, Paged):
    """Groups of others that the group was given access to."""

    visibility: Visibility | None = None
    order_by: OrderBy | None = None
    sort: Sort | None = None


@browse.action(
    "transfer_locations",
    GET("/groups/{group_id}/transfer_locations"),
    example={"group_id": "acme"},
    shows="id full_path name",
)
class TransferLocations(InGroup, Paged):
    """Groups that the group could be moved to."""

    search: Search | None = None

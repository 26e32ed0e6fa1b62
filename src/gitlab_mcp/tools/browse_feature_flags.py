"""Feature flags of a project, and the lists of users they name."""

from __future__ import annotations

from typing import Annotated, Literal

from gitlab_mcp.actions.action import GET
from gitlab_mcp.actions.fields import AlsoCalled, Iid, NonEmpty, Search
from gitlab_mcp.actions.other_names import Instead
from gitlab_mcp.actions.scopes import InProject, Paged
from gitlab_mcp.actions.tool import Tool

browse = Tool(
    "browse_feature_flags",
    "Read the feature flags of a project: whether they are on, where and for whom.",
    toolset="ci",
    also=("flag", "toggle", "feature_toggle", "unleash", "feature_switch"),
    instead={
        "user_list": Instead("get_user_list", needs=("user_list_iid",)),
        "lists user_lists": "list_user_lists",
        "strategies status": Instead("get", needs=("name",)),
        "enabled active": Instead("list", {"scope": "enabled"}),
        "disabled inactive": Instead("list", {"scope": "disabled"}),
    },
)

FlagName = Annotated[NonEmpty, AlsoCalled("feature_flag_name", "feature_flag", "flag", "flag_name", "key")]
FLAG = (
    "name description active strategies(id name parameters environments=scopes.environment_scope user_list)"
    " | updated_at"
)
USER_LIST = "id iid name user_xids"


@browse.action(
    "list",
    GET("/projects/{project_id}/feature_flags"),
    example={"project_id": "acme/website"},
    shows=FLAG,
)
class ListFlags(InProject, Paged):
    """List feature flags with their strategies."""

    scope: Literal["enabled", "disabled"] | None = None


@browse.action(
    "get",
    GET("/projects/{project_id}/feature_flags/{name}"),
    example={"project_id": "acme/website", "name": "dark_mode"},
    shows=f"{FLAG} | created_at updated_at",
)
class GetFlag(InProject):
    """Read one feature flag."""

    name: FlagName


@browse.action(
    "list_user_lists",
    GET("/projects/{project_id}/feature_flags_user_lists"),
    example={"project_id": "acme/website"},
    shows=USER_LIST,
)
class ListUserLists(InProject, Paged):
    """List the lists of users that strategies name."""

    search: Search | None = None


@browse.action(
    "get_user_list",
    GET("/projects/{project_id}/feature_flags_user_lists/{user_list_iid}"),
    example={"project_id": "acme/website", "user_list_iid": 1},
    shows=USER_LIST,
)
class GetUserList(InProject):
    """Read one list of users."""

    user_list_iid: Iid

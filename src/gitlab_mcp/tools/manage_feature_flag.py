"""Write feature flags, their strategies, and the lists of users they name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field

from gitlab_mcp.actions.action import DELETE, POST, PUT, Danger, something_to_change
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.fields import AlsoCalled, Csv, Expects, Flag, Iid, NonEmpty, SentAs, Words
from gitlab_mcp.actions.flag_strategies import Strategies, Strategy
from gitlab_mcp.actions.other_names import Instead
from gitlab_mcp.actions.recovery_lookup import RecoveryLookup, new
from gitlab_mcp.actions.scopes import InProject
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.actions.undo import Undo
from gitlab_mcp.workflows.unchanged_since import IfUnchanged

manage = Tool(
    "manage_feature_flag",
    "Switch feature flags on and off, for everybody, a percentage or some users.",
    toolset="ci",
    also=("flag", "toggle", "feature_toggle", "unleash", "feature_switch"),
    instead={
        "enable on switch_on turn_on activate": Instead("update", {"active": True}),
        "disable off switch_off turn_off deactivate": Instead("update", {"active": False}),
        "rollout set_strategies toggle": "update",
        "create_list": "create_user_list",
    },
)

FLAG = "name active strategies(id name parameters environments=scopes.environment_scope)"
USER_LIST = "id iid name"
IN_STRATEGIES = {
    **dict.fromkeys(
        ("percentage", "rollout", "rollout_percentage"),
        "strategies holds it: [{name: gradualRolloutUserId, parameters: {percentage: 20}}]",
    ),
    **dict.fromkeys(
        ("users", "user_ids"), "strategies holds them: [{name: userWithId, parameters: {userIds: '1,2'}}]"
    ),
    **dict.fromkeys(
        ("environment", "environment_scope", "environments"),
        "strategies holds them: [{name: default, scopes: [{environment_scope: production}]}]",
    ),
}
FLAGS = "/projects/{project_id}/feature_flags"
USER_LISTS = "/projects/{project_id}/feature_flags_user_lists"
FIND_USER_LIST = RecoveryLookup("browse_feature_flags get_user_list", "project_id user_list_iid")

NewName = Annotated[
    str,
    Field(pattern=r"^[a-z](?:[a-z0-9_-]*[a-z0-9])?$", max_length=63),
    Expects("lower-case letters, digits, _ and -, a letter first, at most 63"),
]
FlagName = Annotated[NonEmpty, AlsoCalled("feature_flag_name", "feature_flag", "flag", "flag_name", "key")]
UserXids = Annotated[Words, Csv(), Field(min_length=1, description="As your application names its users")]


@manage.action(
    "create",
    POST(FLAGS),
    danger=Danger.REVERSIBLE,
    example={
        "project_id": "writes/app",
        "name": "dark_mode",
        "description": "Dark",
        "active": True,
        "strategies": [
            {
                "name": "gradualRolloutUserId",
                "parameters": {"percentage": 25},
                "scopes": [{"environment_scope": "production"}],
            }
        ],
    },
    shows=FLAG,
    not_taken=IN_STRATEGIES,
    recover_with=RecoveryLookup("browse_feature_flags get", "project_id name", proof=new("name")),
    undo=Undo("delete", "project_id name"),
)
class CreateFlag(InProject):
    """Create a feature flag; without strategies it is on for nobody."""

    name: NewName
    description: str | None = None
    active: Flag | None = None
    strategies: Annotated[Strategies, Field(description="Without scopes: in all environments")] | None = None

    async def run(self, gitlab: GitLab) -> Answer:
        sent = [each.sent() for each in self.strategies] if self.strategies is not None else None
        return await gitlab.send(self.request(version="new_version_flag", strategies=sent))


@manage.action(
    "update",
    PUT(f"{FLAGS}/{{name}}"),
    danger=Danger.REVERSIBLE,
    example={
        "project_id": "writes/app",
        "name": "dark_mode",
        "new_name": "dark_theme",
        "description": "Edited",
        "active": False,
        "strategies": [{"id": 4, "name": "userWithId", "parameters": {"userIds": "1,2"}}],
    },
    shows=FLAG,
    not_taken=IN_STRATEGIES,
    seldom_given="expected_updated_at",
)
class UpdateFlag(IfUnchanged, InProject):
    """Change a feature flag; strategies are all it shall have: others are removed."""

    name: FlagName
    new_name: Annotated[NewName, SentAs("name")] | None = None
    description: str | None = None
    active: Flag | None = None
    strategies: Strategies | None = None

    _changes_something = something_to_change("active")

    async def run(self, gitlab: GitLab) -> Answer:
        sent = None
        if self.strategies is not None:
            # GitLab adds what it is sent, and any one strategy is enough for a flag to be on.
            path = self.request(strategies=None).path
            sent = _all_there_shall_be(self.strategies, (await gitlab.get(path)).body["strategies"])
        return await gitlab.send(self.request(strategies=sent))


def _all_there_shall_be(
    wanted: Sequence[Strategy], there: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    present = {each["id"]: each for each in there}
    kept = {each.id for each in wanted}
    sent = [_with_scopes_replaced(each.sent(), present.get(each.id or 0)) for each in wanted]
    return [*sent, *({"id": number, "_destroy": True} for number in present if number not in kept)]


def _with_scopes_replaced(entry: dict[str, Any], present: Mapping[str, Any] | None) -> dict[str, Any]:
    """The environments of a strategy that is there: GitLab removes only those it is told to."""
    if present is None or "scopes" not in entry:
        return entry
    there = {each["environment_scope"]: each["id"] for each in present["scopes"]}
    wanted = [each["environment_scope"] for each in entry["scopes"]]
    added = [{"environment_scope": name} for name in wanted if name not in there]
    removed = [{"id": number, "_destroy": True} for name, number in there.items() if name not in wanted]
    return {**entry, "scopes": [*added, *removed]}


@manage.action(
    "delete",
    DELETE(f"{FLAGS}/{{name}}"),
    danger=Danger.DESTRUCTIVE,
    example={"project_id": "writes/app", "name": "dark_theme"},
    shows="name",
)
class DeleteFlag(InProject):
    """Delete a feature flag; for applications that ask for it, it is off."""

    name: FlagName


@manage.action(
    "create_user_list",
    POST(USER_LISTS),
    danger=Danger.REVERSIBLE,
    example={"project_id": "writes/app", "name": "testers", "user_xids": ["1", "2", "3"]},
    shows=USER_LIST,
    recover_with=RecoveryLookup(
        "browse_feature_flags list_user_lists", "project_id", proof=new("name", "user_xids"), every_page=True
    ),
    undo=Undo("delete_user_list", "project_id", "user_list_iid=iid"),
)
class CreateUserList(InProject):
    """Create a list of users; its id is the user_list_id of a gitlabUserList strategy."""

    name: NonEmpty
    user_xids: UserXids


@manage.action(
    "update_user_list",
    PUT(f"{USER_LISTS}/{{user_list_iid}}"),
    danger=Danger.REVERSIBLE,
    example={
        "project_id": "writes/app",
        "user_list_iid": 1,
        "new_name": "beta testers",
        "user_xids": ["1", "2"],
    },
    shows=USER_LIST,
    recover_with=FIND_USER_LIST,
)
class UpdateUserList(InProject):
    """Rename a list of users, or replace all its users."""

    user_list_iid: Iid
    new_name: Annotated[NonEmpty, SentAs("name")] | None = None
    user_xids: UserXids | None = None

    _changes_something = something_to_change("user_xids")


@manage.action(
    "delete_user_list",
    DELETE(f"{USER_LISTS}/{{user_list_iid}}"),
    danger=Danger.DESTRUCTIVE,
    example={"project_id": "writes/app", "user_list_iid": 1},
    recover_with=FIND_USER_LIST,
)
class DeleteUserList(InProject):
    """Delete a list of users that no strategy names."""

    user_list_iid: Iid

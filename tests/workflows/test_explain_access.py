"""What a caller is told of its own access, by recorded projects, groups and tokens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.actions.toolsets import is_listed
from gitlab_mcp.app import App
from gitlab_mcp.settings import Secret
from tests.support.recordings import rows
from tests.support.standin import StandIn

pytestmark = pytest.mark.anyio
Against = Callable[..., App]


@pytest.fixture
def explained(standin: StandIn, against: Against) -> Callable[..., Any]:
    standin.play_rows(rows("context_ee"))
    standin.play_rows(row for row in rows("detect_ee") if row["path"].endswith("/projects/0/approval_rules"))

    async def ask(actor: str, settings: dict[str, Any] | None = None, **arguments: Any) -> dict[str, Any]:
        app = against(token=Secret(actor), **(settings or {}))
        result = await app.call("browse_instance", {"action": "explain_access", **arguments})
        return dict(result.data)

    return ask


def reasons(data: dict[str, Any], word: str) -> set[str]:
    """The codes under which an action or tool is said not to work."""
    return {
        each["code"] for each in data.get("does_not", ()) if any(word in name for name in each["actions"])
    }


async def test_an_owner_without_a_licence_lacks_what_is_paid_and_nothing_else(
    explained: Callable[..., Any],
) -> None:
    data = await explained("alice", project_id="12", toolset="all")
    assert data["gitlab"]["edition"] == "EE"
    assert data["gitlab"]["tier"] == "Free"
    assert data["token"] == {**data["token"], "kind": "personal", "scopes": ["api"], "administrator": False}
    assert data["here"]["role"] == "Owner"
    assert "manage_issue" in data["works"]
    assert "browse_epics" not in data["works"] + data["works_in_part"]
    assert reasons(data, "browse_epics") == {"TIER_RESTRICTED"}
    assert {each["code"] for each in data["does_not"]} <= {
        *("TIER_RESTRICTED", "TIER_IGNORED", "TIER_NOT_ENFORCED", "EMPTY_BECAUSE"),
        # Actions of administrators.
        "PERMISSION_DENIED",
    }
    [weight] = [each for each in data["fields"] if "manage_issue create weight" in each["fields"]]
    assert weight["code"] == "TIER_IGNORED"


async def test_a_guest_is_told_the_role_that_each_action_needs(explained: Callable[..., Any]) -> None:
    data = await explained("e_guest", project_id="12")
    assert data["here"]["role"] == "Guest"
    assert reasons(data, "manage_file") == {"PERMISSION_DENIED"}
    assert "It needs the role Developer." in {each["why"] for each in data["does_not"]}


async def test_a_token_that_only_reads_cannot_write(explained: Callable[..., Any]) -> None:
    data = await explained("alice_read")
    assert reasons(data, "manage_file") == {"SCOPE_INSUFFICIENT"}
    assert "browse_files" in data["works"]


async def test_what_is_switched_off_is_named(explained: Callable[..., Any]) -> None:
    data = await explained("alice", project_id="16")
    assert "Issues" in data["here"]["switched_off"]
    assert "FEATURE_UNAVAILABLE" in reasons(data, "browse_issues")


@pytest.mark.parametrize("place", [{"project_id": "10"}, {"group_id": "22"}])
async def test_where_the_place_cannot_be_read_nothing_is_said_to_work(
    explained: Callable[..., Any], place: dict[str, str]
) -> None:
    data = await explained("dave", **place)
    assert data["here"]["readable"] is False
    assert not {"works", "works_in_part", "depends_on_the_tier"} & data.keys()
    [closed] = data["does_not"]
    assert closed["code"] == "NOT_FOUND"
    assert any(name.startswith("browse_issues list") for name in closed["actions"])


async def test_a_fine_grained_token_is_told_the_permission_that_each_action_needs(
    standin: StandIn, against: Against
) -> None:
    for name in ("context_ee", "detect_ee"):
        standin.play_rows(rows(name, "19.3"))
    app = against(token=Secret("fg_project"))
    arguments = {"action": "explain_access", "project_id": "30", "toolset": "core"}
    data = dict((await app.call("browse_instance", arguments)).data)
    assert data["token"] == {**data["token"], "fine_grained": True}
    needed = {each["permission"]: each["actions"] for each in data["needs_permission"]}
    assert any("browse_issues list" in name for name in needed["Work Item: Read (project)"])
    assert any(name.startswith("manage_merge_request") for name in needed["Merge Request: Merge (project)"])
    assert "browse_branches" in data["works"]


async def test_a_fine_grained_token_that_may_not_read_the_project_may_reach_what_is_in_it(
    standin: StandIn, against: Against
) -> None:
    for name in ("context_ee", "detect_ee"):
        standin.play_rows(rows(name, "19.3"))
    arguments = {"action": "explain_access", "project_id": "31"}
    data = dict((await against(token=Secret("fg_project")).call("browse_instance", arguments)).data)
    assert data["here"]["readable"] == "not with this token"
    assert "untrusted" not in data
    assert "needs_permission" in data


async def test_a_job_token_is_told_what_takes_it(standin: StandIn, against: Against) -> None:
    """Synthetic: no job ran while GitLab was recorded."""
    standin.answer("*", "*", status=401, body={"message": "401 Unauthorized"})
    standin.answer("GET", "/job", body={"id": 7, "user": {"id": 2}})
    arguments = {"action": "explain_access", "project_id": "12", "toolset": "all"}
    data = dict((await against(token=Secret("glcbt-64_x")).call("browse_instance", arguments)).data)
    assert data["token"]["kind"] == "job"
    assert reasons(data, "manage_issue create") == {"SCOPE_INSUFFICIENT"}
    assert {"browse_releases", "manage_release"} <= {*data["works"], *data["works_in_part"]}


async def test_what_depends_on_a_tier_that_nobody_knows_is_left_open(
    standin: StandIn, against: Against
) -> None:
    standin.answer("GET", "/metadata", body={"version": "17.2.0", "enterprise": True})
    arguments = {"action": "explain_access", "toolset": "planning"}
    data = (await against(token=Secret("alice")).call("browse_instance", arguments)).data
    assert data["gitlab"]["tier"] == "unknown"
    assert not any(each["code"].startswith("TIER") for each in data.get("does_not", ()))
    assert any(name.startswith("browse_epics ") for name in data["depends_on_the_tier"])


@pytest.mark.parametrize("tier", ["premium", "ultimate"])
async def test_a_licensed_instance_is_not_told_to_upgrade_for_what_it_has(
    explained: Callable[..., Any], tier: str
) -> None:
    """Synthetic: the operator says it has a licence."""
    data = await explained("alice", {"tier": tier}, group_id="22", toolset="all")
    named = {each["why"] for each in data.get("does_not", ()) if each["code"].startswith("TIER")}
    assert not any("Premium" in why for why in named)
    assert bool(named) is (tier == "premium"), "what only Ultimate has is missing on Premium"


async def test_every_tool_that_is_named_and_not_listed_is_named_with_what_calls_it(
    explained: Callable[..., Any],
) -> None:
    data = await explained("alice", {"toolsets": ("core",)}, project_id="12", toolset="all")
    called_with = {tool: each["call_with"] for each in data["not_listed"] for tool in each["tools"]}
    named = {*data["works"], *data["works_in_part"]}
    named |= {call.split()[0] for each in data["does_not"] for call in each["actions"]}
    listed = {name for name in Registry().names() if is_listed(Registry().toolset_of(name), ("core",))}
    assert set(called_with) == named - listed
    assert called_with["browse_epics"] == "browse_action or run_action"


async def test_the_words_of_this_server_are_not_marked_as_other_peoples(
    explained: Callable[..., Any],
) -> None:
    data = await explained("alice", {"toolsets": ("core",)}, project_id="12", toolset="all")
    assert "untrusted" not in data


async def test_without_a_toolset_the_tools_that_are_listed_are_explained(
    explained: Callable[..., Any],
) -> None:
    data = await explained("alice", {"toolsets": ("planning", "core")}, project_id="12")
    assert "browse_labels" in data["works"]
    assert "not_listed" not in data


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"read_only": True}, "READ_ONLY_MODE"),
        ({"never_actions": ("manage_file.*",)}, "OUT_OF_SCOPE"),
        ({"trust": "read"}, "TRUST_INSUFFICIENT"),
    ],
)
async def test_what_the_operator_forbids_is_not_said_to_work(
    explained: Callable[..., Any], settings: dict[str, Any], code: str
) -> None:
    data = await explained("alice", settings, project_id="12")
    assert "manage_file" not in data["works"]
    assert reasons(data, "manage_file") == {code}


def member(standin: StandIn, level: int) -> None:
    """Synthetic: nobody of this role was recorded. 19.3 was seen to let a planner read files and delete issues."""
    standin.answer("GET", "/personal_access_tokens/self", body={"id": 1, "scopes": ["api"], "active": True})
    standin.answer("GET", "/user", body={"id": 9, "username": "pat"})
    standin.answer("GET", "/metadata", body={"version": "19.3.0-ee", "enterprise": True})
    access = {"project_access": {"access_level": level}, "group_access": None}
    standin.answer("GET", "/projects/7", body={"id": 7, "visibility": "private", "permissions": access})


LET_IN = [
    (15, "browse_files get", True),
    (15, "browse_branches list", True),
    (15, "manage_issue delete", True),
    (15, "manage_issue move", True),
    (15, "manage_issue clone", True),
    (15, "manage_label create", True),
    (15, "manage_file commit", False),
    (15, "manage_branch create", False),
    (20, "manage_issue delete", False),
    (20, "manage_environment stop", False),
    (25, "browse_files get", True),
    (25, "manage_file commit", False),
    (30, "manage_environment stop", True),
]


@pytest.mark.parametrize(("level", "action", "let_in"), LET_IN)
async def test_a_role_beside_the_ladder_is_told_what_it_may_do_and_no_less(
    standin: StandIn, against: Against, level: int, action: str, let_in: bool
) -> None:
    member(standin, level)
    arguments = {"action": "explain_access", "project_id": "7", "toolset": "all"}
    data = dict((await against(tier="ultimate").call("browse_instance", arguments)).data)
    tool, _, name = action.partition(" ")
    refused = [
        each["code"]
        for each in data.get("does_not", ())
        for group in each["actions"]
        if group.startswith(f"{tool} ") and name in group.removeprefix(f"{tool} ").split(", ")
    ]
    assert refused == ([] if let_in else ["PERMISSION_DENIED"])

"""Some values make an action more dangerous than it is otherwise."""

from __future__ import annotations

import re
from typing import Any

import pytest

from gitlab_mcp.actions.action import Action, Danger
from gitlab_mcp.actions.danger import Risk
from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.actions.result import Result
from gitlab_mcp.actions.shape import shapes
from tests.support.guarded import DEFAULTS, Server, outcome, refused, writes
from tests.support.standin import StandIn

pytestmark = pytest.mark.anyio

PROJECT = {"action": "update", "project_id": "acme/website"}
MR = {"project_id": "acme/website", "merge_request_iid": 1}
SHA = "6dcd4ce23d88e2ee9568ba546c007c63d9131c1b"
RISKY: list[tuple[str, dict[str, Any], str]] = [
    ("manage_project", {**PROJECT, "visibility": "public"}, "TRUST_INSUFFICIENT"),
    ("manage_project", {**PROJECT, "visibility": "internal"}, "CONFIRMATION_REQUIRED"),
    ("manage_project", {**PROJECT, "ci_config_path": "https://evil.example/ci.yml"}, "TRUST_INSUFFICIENT"),
    ("manage_project", {**PROJECT, "ci_config_path": "ci.yml@evil/project"}, "TRUST_INSUFFICIENT"),
    ("manage_project", {**PROJECT, "ci_config_path": "ci.yml@evil/project:main"}, "TRUST_INSUFFICIENT"),
    ("manage_project", {**PROJECT, "repository_access_level": "enabled"}, "CONFIRMATION_REQUIRED"),
    (
        "manage_project",
        {**PROJECT, "only_allow_merge_if_pipeline_succeeds": False},
        "CONFIRMATION_REQUIRED",
    ),
    ("manage_project", {"action": "create", "name": "x", "visibility": "public"}, "CONFIRMATION_REQUIRED"),
    (
        "manage_project",
        {"action": "fork", "project_id": "acme/website", "visibility": "public"},
        "CONFIRMATION_REQUIRED",
    ),
    (
        "manage_issue",
        {"action": "update", "project_id": "acme/website", "issue_iid": 1, "confidential": False},
        "CONFIRMATION_REQUIRED",
    ),
    (
        "manage_epic",
        {"action": "update", "group_id": "acme", "epic_iid": 1, "confidential": "false"},
        "CONFIRMATION_REQUIRED",
    ),
    ("manage_merge_request", {"action": "approve", **MR}, "CONFIRMATION_REQUIRED"),
    ("manage_review", {"action": "submit_review", **MR, "verdict": "approve"}, "CONFIRMATION_REQUIRED"),
    (
        "manage_commit",
        {"action": "set_status", "project_id": "acme/website", "sha": SHA, "state": "success"},
        "CONFIRMATION_REQUIRED",
    ),
    (
        "manage_approval_rule",
        {
            "action": "respond_status_check",
            **MR,
            "external_status_check_id": 1,
            "sha": SHA,
            "status": "passed",
        },
        "CONFIRMATION_REQUIRED",
    ),
    (
        "manage_webhook",
        {
            "action": "set_url_variable",
            "project_id": "acme/website",
            "hook_id": 1,
            "key": "host",
            "value": "evil.example",
        },
        "TRUST_INSUFFICIENT",
    ),
    (
        "manage_pipeline",
        {
            "action": "create",
            "project_id": "acme/website",
            "ref": "main",
            "variables": [{"key": "TARGET", "value": "production"}],
        },
        "CONFIRMATION_REQUIRED",
    ),
]


@pytest.mark.parametrize(("tool", "arguments", "code"), RISKY)
async def test_a_risky_value_is_not_sent_without_a_yes(
    tool: str, arguments: dict[str, Any], code: str, standin: StandIn, against: Server
) -> None:
    app = against(**DEFAULTS)
    assert (await refused(app, tool, arguments)).code == code
    inside = {"action": "run", "calls": [{"tool": tool, "arguments": arguments}]}
    failure = await refused(app, "run_batch", inside)
    assert failure.facts["results"][0]["error"].code == code
    assert writes(standin) == []


@pytest.mark.parametrize(
    ("field", "now", "wanted"),
    [
        ("visibility", "public", "internal"),
        ("visibility", "internal", "internal"),
        ("repository_access_level", "disabled", "enabled"),
        ("only_allow_merge_if_pipeline_succeeds", False, False),
    ],
)
async def test_nobody_is_asked_where_the_thing_is_so_already(
    field: str, now: Any, wanted: Any, standin: StandIn, against: Server
) -> None:
    """Synthetic: the answer is that of a stand-in."""
    body = {"id": 7, "path_with_namespace": "acme/website", field: now}
    standin.answer("GET", "/projects/7", body=body)
    standin.answer("PUT", "/projects/7", body={**body, field: wanted})
    ended = await outcome(
        against(**DEFAULTS), "manage_project", {"action": "update", "project_id": "7", field: wanted}
    )
    assert isinstance(ended, Result)


@pytest.mark.parametrize("value", ["ci/main.yml", ".gitlab-ci.yml", ""])
async def test_a_file_of_the_project_itself_is_no_risk(value: str, standin: StandIn, against: Server) -> None:
    standin.answer("PUT", "/projects/acme%2Fwebsite", body={"id": 7, "ci_config_path": value})
    ended = await outcome(against(**DEFAULTS), "manage_project", {**PROJECT, "ci_config_path": value})
    assert isinstance(ended, Result)


async def test_the_question_says_what_the_value_does(standin: StandIn, against: Server) -> None:
    standin.answer("GET", "*", body={"id": 7, "visibility": "private"})
    app = against(trust="dangerous", confirm="destructive")
    failure = await refused(app, "manage_project", {**PROJECT, "visibility": "public"})
    assert (
        'With visibility "public". visibility: anybody can then read it.' in failure.facts["what_will_happen"]
    )
    assert failure.facts["danger"] == "dangerous"


MUST_BE_MARKED = re.compile(r"visibility|ci_config_path|.*_access_level|verdict")
"""Fields of this kind that a tool to come may have."""
NOT_ABOUT_READERS = {"push_access_level", "merge_access_level", "create_access_level", "base_access_level"}


def test_fields_that_open_something_to_others_say_which_values_do() -> None:
    unmarked = [
        f"{action.spec.tool.name} {action.spec.name} {name}"
        for action in Registry().actions()
        if action.spec.writes and action.spec.danger is not Danger.DANGEROUS
        for name, shape in shapes(action).items()
        if MUST_BE_MARKED.fullmatch(name) and name not in NOT_ABOUT_READERS and not _is_marked(shape)
    ]
    assert unmarked == []


def test_what_is_confidential_says_so_wherever_it_can_be_changed() -> None:
    changing: list[type[Action]] = [
        action
        for action in Registry().actions()
        if action.spec.writes and action.spec.name == "update" and "confidential" in shapes(action)
    ]
    assert changing and all(_is_marked(shapes(action)["confidential"]) for action in changing)


def _is_marked(shape: Any) -> bool:
    return any(isinstance(mark, Risk) for mark in shape.marks)

"""Whatever a caller sends is judged in little time, and the error about it is short."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from gitlab_mcp.app import App
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.failures.render import STYLES, render
from gitlab_mcp.settings import Settings
from tests.support.in_time import in_seconds

pytestmark = pytest.mark.anyio

PLACE = {"action": "list", "project_id": "acme/website"}
DEEP: list[Any] = []
for _ in range(5000):
    DEEP = [DEEP]


@pytest.fixture
def app() -> App:
    """In front of a GitLab that nobody reaches: all of this is refused before."""
    return App(Settings(url="https://gitlab.example.com"))


async def refused(app: App, tool: str, arguments: Any) -> Failure:
    with in_seconds(), pytest.raises(CallFailed) as caught:
        await app.call(tool, arguments)
    return caught.value.failure


def size(failure: Failure, style: str = "tier") -> int:
    return len(json.dumps(render(failure, style)).encode())


@pytest.mark.parametrize(
    ("arguments", "limit_type"),
    [
        ({**PLACE, **{f"field_{number}": 1 for number in range(20_000)}}, "object_members"),
        ({**PLACE, "labels": [{f"k{number}": 1 for number in range(20_000)}]}, "object_members"),
        ({**PLACE, "labels": ["a"] * 10_001}, "array_elements"),
        ({**PLACE, "labels": [["a"] * 1000] * 1000}, "values"),
        ({**PLACE, "labels": DEEP}, "nesting_depth"),
        ({**PLACE, "search": "x" * 10_000_001}, "request_size"),
    ],
)
async def test_too_much_is_refused_at_the_first_limit(
    app: App, arguments: dict[str, Any], limit_type: str
) -> None:
    failure = await refused(app, "browse_issues", arguments)
    assert (failure.code, failure.facts["limit_type"]) == ("PAYLOAD_TOO_LARGE", limit_type)
    assert size(failure) < 2000


async def test_at_most_twenty_problems_are_listed_and_the_rest_is_counted(app: App) -> None:
    failure = await refused(app, "browse_issues", {**PLACE, "iids": ["x"] * 10_000})
    assert len(failure.facts["invalid_fields"]) == 20
    assert failure.facts["more_problems"] == 9_980
    unknown = {f"field_{number}": number for number in range(400)}
    failure = await refused(app, "browse_issues", {**PLACE, **unknown})
    assert len(failure.facts["unknown_fields"]) == 20
    assert failure.facts["more_problems"] == 380


@pytest.mark.parametrize("style", STYLES)
async def test_an_error_about_many_problems_is_short_in_every_style(app: App, style: str) -> None:
    calls = [
        ("browse_issues", {**PLACE, "iids": ["x" * 1000] * 10_000}),
        ("browse_issues", {**PLACE, **{"f" * 1000 + str(number): 1 for number in range(400)}}),
        (
            "manage_file",
            {
                "action": "commit",
                "project_id": "a/b",
                "branch": "m",
                "commit_message": "m",
                "actions": [{f"k{number}": "v" for number in range(400)}] * 100,
            },
        ),
        (
            "run_batch",
            {"action": "run", "calls": [{"tool": "x" * 100, "arguments": {}, "more": 1}] * 9_000},
        ),
    ]
    for tool, arguments in calls:
        assert size(await refused(app, tool, arguments), style) < 20_000


async def test_an_error_keeps_to_max_bytes(app: App) -> None:
    for style in STYLES:
        failure = await refused(app, "manage_merge_request", {"action": "x", "max_bytes": 3000})
        assert size(failure, style) <= 3000
    failure = await refused(app, "manage_environment", {"action": "nothing", "max_bytes": 1000})
    assert size(failure) <= 1000
    assert failure.code == "INVALID_ACTION"
    assert failure.facts["suggested_fix"]
    assert failure.facts["truncated"]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("a_" * 100_000, {"action": "list"}),
        ("issue_" * 100_000, {}),
        ("browse_issues", {"action": "issue_" * 100_000}),
        ("browse_issues", {"action": "list_" * 100_000}),
        ("nothing", {"action": "issue_" * 100_000}),
        ("browse_issues", {"action": "list", "label_" * 100_000: 1}),
        ("browse_issues", {"action": "list", "-" * 1_000_000: 1}),
    ],
)
async def test_a_long_name_is_no_riddle(app: App, tool: str, arguments: dict[str, Any]) -> None:
    failure = await refused(app, tool, arguments)
    assert failure.code in ("UNKNOWN_TOOL", "INVALID_ACTION", "FIELD_NOT_ALLOWED", "MISSING_REQUIRED_FIELD")
    assert size(failure) < 20_000


@pytest.mark.parametrize(
    "regex",
    [
        "(" * 400,
        "((((",
        "a{99999999999}",
        "(?:" * 150 + ")" * 150,
        "a" * 1_200_000,
        "[" + "a-z" * 400_000 + "]",
        "*",
    ],
)
@pytest.mark.parametrize(
    ("tool", "field"),
    [("browse_branches", "regex"), ("manage_push_rules", "branch_name_regex")],
)
async def test_a_regular_expression_is_judged_quickly_or_refused(
    app: App, tool: str, field: str, regex: str
) -> None:
    action = "list" if tool.startswith("browse") else "create"
    failure = await refused(app, tool, {"action": action, "project_id": "acme/website", field: regex})
    if failure.code not in ("CONFIGURATION_ERROR", "TRUST_INSUFFICIENT", "CONFIRMATION_REQUIRED"):
        assert failure.code == "INVALID_VALUE"
        assert [each["field"] for each in failure.facts["invalid_fields"]] == [field]


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf"), 10**400])
async def test_a_number_that_json_cannot_carry_is_refused_by_its_place(app: App, number: float) -> None:
    failure = await refused(app, "browse_issues", {**PLACE, "iids": [1, number]})
    assert (failure.code, failure.facts["location"]) == ("INVALID_ENCODING", "arguments.iids[1]")


async def test_json_in_text_holds_no_nan(app: App) -> None:
    failure = await refused(app, "browse_issues", {**PLACE, "iids": "[1, NaN]"})
    assert failure.code in ("TYPE_MISMATCH", "INVALID_VALUE")


async def test_many_names_are_not_looked_up_one_by_one(against: Callable[..., App], standin: Any) -> None:
    arguments = {
        "action": "update",
        "project_id": "acme/website",
        "issue_iid": 1,
        "assignee_ids": [f"user{number}" for number in range(10_000)],
    }
    failure = await refused(against(), "manage_issue", arguments)
    assert failure.code == "INVALID_VALUE"
    assert len(standin.requests) == 0

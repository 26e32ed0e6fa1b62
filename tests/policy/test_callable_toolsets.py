"""Where the operator set toolsets, only their tools can be called."""

from __future__ import annotations

from typing import Any

import pytest

from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.actions.toolsets import TOOLSETS, is_callable, is_listed
from gitlab_mcp.app import App
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.settings import load
from tests.support.guarded import Server, outcome, refused, request_by, with_labels, writes
from tests.support.standin import StandIn

pytestmark = pytest.mark.anyio

REGISTRY = Registry()
LABELS = ("browse_labels", {"action": "list", "project_id": "acme/website"})
CREATE = ("manage_label", {"action": "create", "project_id": "acme/website", "name": "x", "color": "#111111"})


def through_a_batch(call: tuple[str, dict[str, Any]]) -> tuple[str, dict[str, Any]]:
    return "run_batch", {"action": "run", "calls": [{"tool": call[0], "arguments": call[1]}]}


def code(failure: Failure) -> str:
    inside = failure.facts.get("results")
    return str(inside[0]["error"].code if inside else failure.code)


@pytest.mark.parametrize("call", [LABELS, CREATE, ("list_labels", {"project_id": "acme/website"})])
async def test_a_tool_outside_the_toolsets_cannot_be_called(
    call: tuple[str, dict[str, Any]], standin: StandIn, against: Server
) -> None:
    with_labels(standin)
    app = against(toolsets=("core", "ci"))
    direct, batched = await refused(app, *call), await refused(app, *through_a_batch(call))
    if call[0] in ("browse_labels", "manage_label"):
        assert direct.code == code(batched) == "OUT_OF_SCOPE"
        assert direct.facts["setting"] == "toolsets"
        assert "planning" in direct.message
        assert "--toolsets core,ci,planning" in direct.facts["suggested_fix"]
        assert "--callable all" in direct.facts["suggested_fix"]
    assert standin.requests == []


@pytest.mark.parametrize("how", ["flag", "variable", "file"])
async def test_it_does_not_matter_how_toolsets_were_set(how: str, standin: StandIn, tmp_path: Any) -> None:
    file = tmp_path / "config.toml"
    file.write_text('toolsets = "core"\n' if how == "file" else "")
    flags = {"config": str(file)} | ({"toolsets": "core"} if how == "flag" else {})
    variables = {"GITLAB_URL": standin.url, "GITLAB_TOKEN": "alice"}
    variables |= {"GITLAB_TOOLSETS": "core"} if how == "variable" else {}
    app = App(load(flags, variables))
    try:
        assert (await refused(app, *LABELS)).code == "OUT_OF_SCOPE"
    finally:
        app.close()


async def test_where_nothing_was_set_every_tool_can_be_called(standin: StandIn, tmp_path: Any) -> None:
    with_labels(standin)
    file = tmp_path / "config.toml"
    file.write_text("")
    for more in ({}, {"toolsets": "core", "callable": "all"}):
        app = App(load({"config": str(file), **more}, {"GITLAB_URL": standin.url, "GITLAB_TOKEN": "alice"}))
        try:
            assert not isinstance(await outcome(app, *LABELS), Failure)
            assert "browse_labels" not in {tool["name"] for tool in app.listing()}
        finally:
            app.close()


def listed(app: App) -> set[str]:
    return {tool["name"] for tool in app.listing()}


async def test_tools_that_make_other_calls_are_in_every_listing(against: Server) -> None:
    found = {name for name in REGISTRY.names() if REGISTRY.toolset_of(name) == "discover"}
    assert "run_batch" in found
    for settings in (
        {"toolsets": ("core",)},
        {"toolsets": ("ci", "insight")},
        {"toolsets": ("all",)},
        {"only_actions": ("browse_issues.list",)},
    ):
        assert found <= listed(against(**settings)), settings
    assert listed(against(toolsets=("discover",))) == found
    assert "run_batch" not in listed(against(never_actions=("run_batch",)))


async def test_discover_alone_lets_every_tool_be_called(standin: StandIn, against: Server) -> None:
    with_labels(standin)
    for call in (LABELS, through_a_batch(LABELS)):
        assert not isinstance(await outcome(against(toolsets=("discover",)), *call), Failure)
        assert isinstance(await outcome(against(toolsets=("discover", "ci")), *call), Failure)


def test_all_lists_the_toolset_of_administrators_only_by_name() -> None:
    assert not is_listed("admin", {"all"}) and is_listed("admin", {"all", "admin"})
    assert all(is_listed(toolset, {"all"}) for toolset in TOOLSETS if toolset != "admin")
    assert is_callable("admin", {"all"})


async def test_the_same_token_in_another_header_is_the_same_caller(standin: StandIn, against: Server) -> None:
    with_labels(standin)
    app = against(quota=("writes=1",))
    private = request_by("alice")
    bearer = request_by("alice", kind="bearer")
    await app.call(*CREATE, request_context=private)
    with pytest.raises(CallFailed) as stopped:
        await app.call(*CREATE, request_context=bearer)
    assert stopped.value.failure.code == "QUOTA_EXHAUSTED"
    assert len(writes(standin)) == 1

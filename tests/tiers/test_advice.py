"""What a failure suggests looks at the tier: nobody is sent from one refusal into the next."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gitlab_mcp.app import App
from tests.support.guarded import refused
from tests.support.standin import StandIn

pytestmark = pytest.mark.anyio

Against = Callable[..., App]
EPICS = ("browse_epics", {"action": "create", "group_id": "acme", "title": "Login"})


async def suggested(app: App, tool: str, arguments: dict[str, Any]) -> tuple[Any, str]:
    failure = await refused(app, tool, arguments)
    return failure.facts.get("send"), failure.facts["suggested_fix"]


async def test_a_call_that_the_tier_lacks_is_not_put_ready_to_send(against: Against) -> None:
    send, fix = await suggested(against(tier="free"), *EPICS)
    assert send is None
    assert fix.endswith("Epics needs Premium, which is not in effect here.")


async def test_a_call_that_the_tier_has_is_ready_to_send(against: Against) -> None:
    send, fix = await suggested(against(tier="premium"), *EPICS)
    assert send["tool"] == "manage_epic" and "Premium" not in fix


async def test_where_the_tier_is_unknown_the_tier_that_is_needed_is_said(
    standin: StandIn, against: Against
) -> None:
    """Synthetic: an Enterprise Edition that shows its licence to nobody."""
    standin.answer("GET", "/metadata", 200, {"version": "17.2.0-ee", "revision": "a", "enterprise": True})
    send, fix = await suggested(against(), *EPICS)
    assert send["tool"] == "manage_epic" and fix.endswith("Epics needs Premium.")


async def test_without_a_token_the_advice_is_told_as_it_is(against: Against) -> None:
    send, _ = await suggested(against(token=None), *EPICS)
    assert send["tool"] == "manage_epic"


async def test_a_free_call_asks_nothing_about_the_tier(standin: StandIn, against: Against) -> None:
    label = {"action": "create", "project_id": "acme/website", "name": "bug", "color": "#d9534f"}
    send, _ = await suggested(against(), "browse_labels", label)
    assert send["tool"] == "manage_label"
    assert standin.requests == []

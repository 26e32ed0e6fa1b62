"""Prepare a release: what is out, what came since, what is left, is it green; then release. From recordings.

The reading is of acme/shop; nothing was released there while it was recorded, so the writing is of writes/app.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.agent import CASSETTES, Agent, Story, hearing
from tests.support.standin import StandIn

SHOP = {"project_id": "acme/shop"}
APP = {"project_id": "writes/app"}


def set_up(gitlab: StandIn) -> None:
    gitlab.play(CASSETTES)


async def tell(agent: Agent) -> None:
    out = await agent.ask("browse_releases", "latest", **SHOP)
    # GitLab's own permalink names v1.2.0-rc1, which is not out before December.
    assert (out.data["tag_name"], out.data["upcoming_release"]) == ("v1.1.0", False)

    since = await agent.ask("browse_commits", "compare", **SHOP, from_ref=out.data["tag_name"], to_ref="main")
    assert len(since.data["commits"]) == 5
    assert (since.data["added"], since.data["removed"]) == (19, 4)

    notes = await agent.ask("browse_releases", "changelog", **SHOP, version="1.2.0")
    assert "### Bug fixes (1 change)" in notes.said
    assert "Round half to even" in notes.said

    left = await agent.ask("browse_issues", "list", **SHOP, milestone="v1.1", state="opened")
    assert left.data["total"] == 6

    main = await agent.ask("browse_pipelines", "latest", **SHOP, ref="main")
    assert main.data["status"] == "failed"

    released = await agent.ask(
        "manage_release",
        "create",
        **APP,
        tag_name="v1.1.0",
        ref="main",
        tag_message="Made with the release",
        name="One one",
        description="x",
    )
    assert released.data["url"].endswith("/-/releases/v1.1.0")
    link = {"name": "handbook", "url": "https://example.com/handbook.pdf", "link_type": "runbook"}
    linked = await agent.ask("manage_release", "create_link", **APP, tag_name="v1.1.0", **link)
    assert linked.data["id"] == 3


STORY = Story("Prepare a release", set_up, tell)


@pytest.mark.anyio
@pytest.mark.parametrize("era", ["legacy", "auto"])
async def test_a_release_is_prepared_from_what_is_out_to_its_links(era: Any) -> None:
    async with hearing(STORY, era) as agent:
        assert len(agent.heard) == 7

"""Why is main red, and which line is it? From recordings."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.agent import CASSETTES, Agent, Story, hearing
from tests.support.standin import StandIn

SHOP = "acme/shop"


def set_up(gitlab: StandIn) -> None:
    gitlab.play(CASSETTES)
    # Synthetic: no list of the commits between two was recorded.
    rounding = {"short_id": "6c9b44ea", "title": "Merge branch 'half-even' into 'main'", "author_name": "Bob"}
    gitlab.answer("GET", "/projects/*/repository/commits", body=[rounding])


async def tell(agent: Agent) -> None:
    digest = await agent.ask("browse_pipelines", "failure_digest", project_id=SHOP)
    failed = {job["name"]: job["id"] for job in digest.data["failed_jobs"]}
    assert set(failed) == {"unit", "integration", "e2e: [firefox]"}
    # The failing line, without another call.
    assert "tests/unit/test_pricing.py:18: AssertionError" in digest.data["tests"]["failures"][1]["message"]
    assert "src/shop/store.py:88: in execute" in digest.said
    assert "sqlite3.OperationalError: no such table: orders" in digest.said

    # And who brought it: the jobs that fail came with different changes.
    unit, others = digest.data["culprits"]
    assert (unit["jobs"], others["jobs"]) == (["unit"], ["integration", "e2e: [firefox]"])
    assert [(each["iid"], each["author"]) for each in unit["merge_requests"]] == [(5, "bob")]

    log = await agent.ask(
        "browse_jobs", "log", project_id=SHOP, job_id=failed["integration"], search="migration"
    )
    assert "1245: E   (migration 0042_orders was not applied)" in log.said

    blame = await agent.ask(
        "browse_files", "blame", project_id=SHOP, file_path="src/shop/pricing.py", ref="main"
    )
    assert "e2c01d71    7     return net + round_half_even(net * rate, 100)" in blame.said
    assert {"sha": "e2c01d71", "title": "Round half to even"}.items() <= blame.data["commits"][1].items()


STORY = Story("Why is main red, and which line is it?", set_up, tell)


@pytest.mark.anyio
@pytest.mark.parametrize("era", ["legacy", "auto"])
async def test_one_call_names_the_failing_line_and_who_brought_it(era: Any) -> None:
    async with hearing(STORY, era) as agent:
        assert len(agent.heard) == 3

"""The same failing call again and again."""

from __future__ import annotations

import pytest

from tests.support.guarded import Server, refused, request_by
from tests.support.standin import StandIn

pytestmark = pytest.mark.anyio

MISSING = ("browse_labels", {"action": "get", "project_id": "404", "label_id": "bug"})


@pytest.fixture
def gone(standin: StandIn) -> StandIn:
    standin.answer("GET", "/projects/404/labels/bug", 404, {"message": "404 Project Not Found"})
    return standin


async def test_the_same_failing_call_three_times_is_told_to_stop(gone: StandIn, against: Server) -> None:
    app = against()
    for _ in range(2):
        assert "loop" not in (await refused(app, *MISSING)).facts
    for times in (3, 4):
        failure = await refused(app, *MISSING)
        assert failure.code == "NOT_FOUND"
        assert failure.facts["loop"] is True
        assert failure.facts["retryable"] is False
        assert failure.facts["attempts"] == times
        assert failure.facts["suggested_fix"].startswith("Stop")


async def test_arguments_that_are_wrong_three_times_are_a_loop_too(standin: StandIn, against: Server) -> None:
    app = against()
    wrong = ("browse_labels", {"action": "list", "serach": "x", "project_id": "1"})
    seen = [(await refused(app, *wrong)).facts.get("loop") for _ in range(3)]
    assert seen == [None, None, True]


async def test_different_calls_and_different_callers_make_no_loop(gone: StandIn, against: Server) -> None:
    app = against()
    for number in range(5):
        other = {"action": "get", "project_id": "404", "label_id": f"label {number}"}
        assert "loop" not in (await refused(app, "browse_labels", other)).facts
    for name in ("alice", "bob", "carol"):
        assert "loop" not in (await refused(app, *MISSING, request_by(name))).facts


async def test_arguments_nested_without_end_are_still_answered(standin: StandIn, against: Server) -> None:
    nested: list[object] = []
    for _ in range(100_000):
        nested = [nested]
    failure = await refused(against(), "browse_labels", {"action": "list", "project_id": nested})
    assert failure.code == "PAYLOAD_TOO_LARGE"

"""A merge request is a draft by its title; `draft` says so without writing the title out."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.guarded import Server
from tests.support.standin import StandIn

pytestmark = pytest.mark.anyio

HERE = {"project_id": "acme/website", "merge_request_iid": 1}


@pytest.mark.parametrize(
    ("present", "given", "sent"),
    [
        ("Add login", {"draft": True}, "Draft: Add login"),
        ("Draft: Add login", {"draft": True}, "Draft: Add login"),
        ("Draft: Add login", {"draft": False}, "Add login"),
        ("[Draft] draft:  Add login", {"draft": "false"}, "Add login"),
        ("Add login", {"wip": True, "title": "Über"}, "Draft: Über"),
        ("Draft: Add login", {"title": "Add logout"}, "Add logout"),
    ],
)
async def test_draft_changes_the_title_that_is_there_or_given(
    standin: StandIn, against: Server, present: str, given: dict[str, Any], sent: str
) -> None:
    """Synthetic."""
    standin.project("acme/website").things["merge_requests"] = [{"id": 1, "iid": 1, "title": present}]
    await against().call("manage_merge_request", {"action": "update", **HERE, **given})
    assert [each.json for each in standin.requests if each.method == "PUT"] == [{"title": sent}]

"""What happens to an action, by how dangerous it is, whether the client can ask, --trust and --confirm."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from mcp import Client
from mcp.types import ElicitRequestParams, ElicitResult

from gitlab_mcp.app import App
from gitlab_mcp.protocol.server import GitLabServer
from tests.support.guarded import Server, delete_label, with_labels
from tests.support.standin import StandIn

pytestmark = pytest.mark.anyio

LEVELS = ["read", "reversible", "destructive", "dangerous"]
CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "read": ("browse_labels", {"action": "list", "project_id": "acme/website"}),
    "reversible": (
        "manage_label",
        {"action": "create", "project_id": "acme/website", "name": "new", "color": "#111111"},
    ),
    "destructive": ("manage_label", delete_label()),
    "dangerous": ("manage_project", {"action": "delete", "project_id": "acme/website"}),
}


def expected(danger: str, can_ask: bool, trust: str | None, confirm: str) -> str:
    """The table of docs/guides/guard-rails.md, in words."""
    if trust is None and danger == "dangerous":
        return "the person is asked" if can_ask else "TRUST_INSUFFICIENT"
    if trust is not None and LEVELS.index(danger) > LEVELS.index(trust):
        return "TRUST_INSUFFICIENT"
    if confirm == "never" or LEVELS.index(danger) < LEVELS.index(confirm):
        return "done"
    return "the person is asked" if can_ask else "CONFIRMATION_REQUIRED"


async def happened(app: App, danger: str, can_ask: bool) -> str:
    questions: list[str] = []

    async def decline(context: Any, params: ElicitRequestParams) -> ElicitResult:
        questions.append(params.message)
        return ElicitResult(action="decline")

    server = GitLabServer(app, error_style="tier", format="json")
    async with Client(server, mode="auto", elicitation_callback=decline if can_ask else None) as client:
        result = await client.call_tool(*CALLS[danger])
    if questions:
        return "the person is asked"
    return str((result.structured_content or {}).get("error_code", "done")) if result.is_error else "done"


@pytest.mark.parametrize("can_ask", [True, False], ids=["can ask", "cannot ask"])
async def test_what_happens_is_as_the_guide_says(can_ask: bool, standin: StandIn, against: Server) -> None:
    world = with_labels(standin, "bug")
    labels = list(world.things["labels"])
    standin.answer("DELETE", "/projects/acme%2Fwebsite", 202, {})
    for trust, confirm in product([None, *LEVELS], ["never", "dangerous", "destructive", "reversible"]):
        for danger in LEVELS:
            world.things["labels"] = list(labels)
            app = against(trust=trust, confirm=confirm)
            outcome = await happened(app, danger, can_ask)
            assert outcome == expected(danger, can_ask, trust, confirm), (danger, trust, confirm)

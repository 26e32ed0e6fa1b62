"""Who may do what, by the policy file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.guarded import Server, code_of, delete_label, refused, request_by, with_labels, writes
from tests.support.people import policy, with_people
from tests.support.standin import StandIn

pytestmark = pytest.mark.anyio

LIST = ("browse_labels", {"action": "list", "project_id": "acme/website"})
CREATE = ("manage_label", {"action": "create", "project_id": "acme/website", "name": "x", "color": "#111111"})


async def test_first(standin: StandIn, against: Server, tmp_path: Path) -> None:
    with_labels(standin, "bug")
    with_people(standin, acme__contractors=("bob",))
    app = against(
        policy=policy(
            tmp_path,
            """
contact: "#platform"
rules:
  - name: contractors
    groups: [acme/contractors]
    read_only: true
  - name: alice
    users: [Alice]
    never_actions: ["manage_*.delete"]
""",
        )
    )
    await app.call(*CREATE, request_context=request_by("alice"))
    for tool, arguments in (CREATE, ("manage_label", delete_label())):
        print(await refused(app, tool, arguments, request_by("bob")))
    print(await refused(app, "manage_label", delete_label(), request_by("alice")))
    print(await refused(app, *LIST, request_by("carol")))
    for who in ("alice", "bob", "carol"):
        print(who, len(await app.listing_of_caller(request_by(who))))
    print([f"{r.token} {r.method} {r.route}" for r in standin.requests])

"""Jobs whose tool is not listed, done with what is in every listing: ask in the words of the person, make the call."""

from __future__ import annotations

import json
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import stdio_client

from tests.journeys.everyday_jobs import SHOP
from tests.journeys.jobs_with_files import Store
from tests.support.process import parameters
from tests.support.standin import StandIn
from tests.support.standin.shop import Shop
from tests.support.versions import OLDEST, cassettes_of

JOBS: list[tuple[str, str, dict[str, Any]]] = [
    ("What was our last release?", "browse_releases latest", SHOP),
    ("Which milestones are open?", "browse_milestones list", {**SHOP, "state": "active"}),
    ("Who owns src/shop/pricing.py?", "browse_code_owners owners", {**SHOP, "path": "src/shop/pricing.py"}),
    ("Set the CI variable DEPLOY_ENV to staging, masked", "manage_variable create",
     {**SHOP, "key": "DEPLOY_ENV", "value": "staging-eu-west", "masked": True}),
    ("Which secrets do the jobs get?", "browse_variables list", SHOP),
    ("Make Carol a maintainer of acme/shop", "manage_member update",
     {**SHOP, "user_id": "carol", "access_level": "maintainer"}),
    ("Run the pipeline of main every night at two", "manage_schedule create",
     {**SHOP, "description": "nightly", "ref": "main", "cron": "0 2 * * *"}),
    ("What is on my plate today?", "browse_todos list", {}),
    ("I have done that, tick it off", "manage_todo mark_done", {"todo_id": 31}),
    ("Comment on !25 with this screenshot", "manage_upload create",
     {**SHOP, "file": {"filename": "shot.png", "content": "iVBORw0KGgo=", "encoding": "base64"}}),
    ("Create a label for regressions", "manage_label create", {**SHOP, "name": "regression", "color": "#d9534f"}),
    ("Tag the last commit of main as v2.0", "manage_tag create", {**SHOP, "tag_name": "v2.0", "ref": "main"}),
    ("Which branches are protected?", "browse_protected_branches list", SHOP),
    ("Which pages does the wiki have?", "browse_wikis list", SHOP),
    ("How much time was spent on issue 7?", "browse_time_tracking get", {**SHOP, "issue_iid": 7}),
    ("Which feature toggles are on?", "browse_feature_flags list", SHOP),
    ("Share this shell script as a gist", "manage_snippet create",
     {**SHOP, "title": "deploy", "visibility": "private", "files": [{"file_path": "d.sh", "content": "ls"}]}),
    ("Show a build badge in the readme", "project_badge.create",
     {**SHOP, "link_url": "https://acme.example/", "image_url": "https://acme.example/b.svg"}),
    ("Which Kubernetes agents are connected?", "cluster_agent.list", SHOP),
    ("Block the account of somebody who left", "user.block", {"user_id": "dave"}),
]  # fmt: skip


@pytest.mark.anyio
async def test_twenty_jobs_take_two_calls_each_and_the_answer_is_among_the_hits() -> None:
    missed = []
    with StandIn() as gitlab:
        for part in (Store(), Shop(cassettes_of(OLDEST))):
            gitlab.add(part)
        served = parameters(gitlab.url, "--trust", "dangerous", "--confirm", "never", GITLAB_TOKEN="alice")
        async with Client(stdio_client(served)) as client:
            listed = {tool.name for tool in (await client.list_tools()).tools}
            for said, name, arguments in JOBS:
                assert name.partition(" ")[0] not in listed
                found = await client.call_tool("find_actions", {"query": said})
                hits = {hit["action"]: hit for hit in json.loads(found.content[0].text)["hits"]}  # type: ignore[union-attr]
                if name not in hits:
                    missed.append(f"{said}: {list(hits)}")
                    continue
                tool = "browse_action" if hits[name]["danger"] == "read" else "run_action"
                made = await client.call_tool(tool, {"action": name, "arguments": arguments})
                if made.is_error:
                    missed.append(f"{said}: {made.content}")
    assert len(JOBS) == 20 and missed == []

"""Jobs whose tool is not listed, done with what is in every listing: ask for it in the person's words, make the call."""

from __future__ import annotations

import json
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import stdio_client

from tests.journeys.everyday_jobs import SHOP
from tests.journeys.jobs_with_files import STORE
from tests.support.process import parameters
from tests.support.standin import StandIn
from tests.support.standin.shop import Shop
from tests.support.versions import OLDEST, cassettes_of

JOBS: list[tuple[str, str, dict[str, Any]]] = [
    ("Write release notes for what changed between v1.0 and v1.1", "browse_releases changelog",
     {**SHOP, "version": "1.1.0", "from_ref": "v1.0", "to_ref": "v1.1"}),
    ("What is open in milestone A?", "browse_milestones list", SHOP),
    ("Who owns src/shop/pricing.py?", "browse_code_owners owners", {**SHOP, "path": "src/shop/pricing.py"}),
    ("Set the CI variable DEPLOY_ENV to staging, masked", "manage_variable create",
     {**SHOP, "key": "DEPLOY_ENV", "value": "staging-eu-west", "masked": True}),
    ("Which secrets do the jobs get?", "browse_variables list", SHOP),
    ("Make Carol a developer in acme/shop until Friday", "manage_member add",
     {**SHOP, "user_id": "carol", "access_level": "developer", "expires_at": "2099-01-01"}),
    ("Run the pipeline of main every night at two", "manage_schedule create",
     {**SHOP, "description": "nightly", "ref": "main", "cron": "0 2 * * *"}),
    ("What is on my plate today?", "browse_todos list", {}),
    ("I have done that, tick it off", "manage_todo mark_done", {"todo_id": 31}),
    ("Comment on !25 with this screenshot", "manage_upload create",
     {**SHOP, "file": {"filename": "shot.png", "content": "iVBORw0KGgo=", "encoding": "base64"}}),
    ("Is this .gitlab-ci.yml valid?", "browse_ci_config lint",
     {**SHOP, "content": "test:\n  script: [make test]\n"}),
    ("Create a label for regressions", "manage_label create", {**SHOP, "name": "regression", "color": "#d9534f"}),
    ("Tag the last commit of main as v2.0", "manage_tag create", {**SHOP, "tag_name": "v2.0", "ref": "main"}),
    ("Protect the release branches", "manage_protected_branch create", {**SHOP, "name": "release/*"}),
    ("Put how to deploy into the wiki", "manage_wiki create",
     {**SHOP, "title": "Deploying", "content": "make deploy"}),
    ("Log two hours on issue 7", "manage_time_tracking add_spent_time",
     {**SHOP, "issue_iid": 7, "duration": "2h"}),
    ("Turn the new checkout off for everybody (feature flag)", "manage_feature_flag update",
     {**SHOP, "name": "new_checkout", "active": False}),
    ("Share this shell script as a gist", "manage_snippet create",
     {**SHOP, "title": "deploy", "visibility": "private", "files": [{"file_path": "d.sh", "content": "ls"}]}),
    ("Show a build badge in the readme", "project_badge.create",
     {**SHOP, "link_url": "https://acme.example/", "image_url": "https://acme.example/b.svg"}),
    ("Which Kubernetes agents are connected?", "cluster_agent.list", SHOP),
    ("Block the account of somebody who left", "user.block", {"user_id": "dave"}),
]  # fmt: skip

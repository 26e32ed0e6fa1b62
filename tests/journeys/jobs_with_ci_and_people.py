"""Jobs with people, schedules, the CI/CD configuration, tasks, suggestions and deployments, each with a check of the
end state. What the recorded shop does not have is synthetic.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from tests.journeys.everyday_jobs import SHOP, Declares, Do, Job
from tests.support.standin.exchange import Received, Reply
from tests.support.standin.nouns.ci_lint import CiLint, Linted
from tests.support.standin.nouns.schedules import Schedules
from tests.support.standin.nouns.suggestions import Suggestions
from tests.support.standin.project_access import with_one_of_each
from tests.support.standin.shop import Shop
from tests.support.standin.work_items import WorkItems

JOBS: list[Job] = []
job = Declares(JOBS)

PLACE = "/projects/acme/shop"
NOW = "2026-11-18T09:00:00Z"
FRIDAY = (datetime.now(UTC) + timedelta(days=2)).date().isoformat()


@dataclass(slots=True)
class Free:
    """GraphQL of a GitLab without a licence: it knows the field, and has nothing in it."""

    asked: list[str] = field(default_factory=list)

    def owns(self, received: Received) -> bool:
        return received.path.endswith("/graphql")

    def reply_to(self, received: Received) -> Reply:
        self.asked.append(received.json["query"])
        page = {"hasNextPage": False, "endCursor": None}
        return Reply.of(200, {"data": {"project": {"vulnerabilities": {"nodes": [], "pageInfo": page}}}})


JOBS_WITH_ARCHIVES = [
    {"id": 288, "name": "build", "ref": "feature/x", "status": "success", "artifacts_file": {"size": 260}},
    {"id": 287, "name": "e2e", "ref": "main", "status": "failed"},
    {"id": 286, "name": "docs", "ref": "main", "status": "success", "artifacts_file": {"size": 260}},
    {"id": 284, "name": "build", "ref": "main", "status": "failed", "artifacts_file": {"size": 260}},
]


@dataclass(slots=True)
class Coverage:
    """The newest jobs, and the archive of one of them."""

    def owns(self, received: Received) -> bool:
        return bool(re.search(r"/jobs(/artifacts/.*|/\d+/artifacts/.*)?$", received.route))

    def reply_to(self, received: Received) -> Reply:
        if received.route.endswith("/jobs"):
            return Reply.of(200, JOBS_WITH_ARCHIVES)
        if received.route.endswith("/jobs/284/artifacts/coverage.xml"):
            return Reply.of(200, b'<coverage line-rate="0.87" version="7.6"/>\n')
        return Reply.of(404, {"message": "404 Not found"})


@dataclass(slots=True)
class Deployments:
    """Two to production that went well; the later one brought !1 and !2."""

    def owns(self, received: Received) -> bool:
        return "/deployments" in received.route

    def reply_to(self, received: Received) -> Reply:
        now, before = (
            {
                "id": number,
                "status": "success",
                "ref": "main",
                "user": {"username": "alice"},
                "created_at": NOW,
                "environment": {"id": 16, "name": "production"},
                "deployable": {"id": job_id, "name": "deploy_production"},
            }
            for number, job_id in ((51, 301), (47, 287))
        )
        last = received.route.rpartition("/deployments")[2]
        if last.endswith("/merge_requests"):
            return Reply.of(200, [{"iid": 1, "title": "Add coupons"}, {"iid": 2, "title": "Add taxes"}])
        if last:
            return Reply.of(200, now if last == "/51" else before)
        return Reply.of(200, [now, before])


@job(9, "Which vulnerabilities does acme/shop have?", beside=Free, says=("Ultimate",))
async def vulnerabilities_on_free(do: Do, shop: Shop) -> None:
    refusal = await do.refused("browse_vulnerabilities", "list", **SHOP)
    assert (refusal["error_code"], refusal["tier_required"]) == ("TIER_RESTRICTED", "Ultimate")
    assert refusal["alternatives"]


@job(14, "Who may push to main of acme/shop?", says=("alice", "mike"))
async def who_may_push(do: Do, shop: Shop) -> None:
    found = await do("browse_members", "who_can", **SHOP, what="push", branch="main")
    people = {each["username"]: each["access_level"] for each in found["people"]}
    assert (found["least_role"], people["alice"], people["mike"]) == ("maintainer", "owner", "maintainer")
    assert "bob" not in people


@job(
    19,
    "Show the coverage from the newest coverage.xml among the artifacts of acme/shop.",
    beside=Coverage,
    says=("87",),
)
async def coverage(do: Do, shop: Shop) -> None:
    found = await do("browse_jobs", "artifact_file", **SHOP, artifact_path="coverage.xml")
    assert (found["job_id"], found["ref"]) == (284, "main") and 'line-rate="0.87"' in found["text"]


def developer_for_two_days(shop: Shop) -> None:
    [carol] = shop.named("projects/77/members", username="carol")
    assert (carol["access_level"], carol["expires_at"]) == (30, FRIDAY)


@job(23, f"Make carol a developer in acme/shop until {FRIDAY}.", leaves=developer_for_two_days)
async def developer_until_friday(do: Do, shop: Shop) -> None:
    done = await do(
        "manage_member", "update", **SHOP, user_id="carol", access_level="developer", expires_at=FRIDAY
    )
    assert (done["access_level"], done["expires_at"]) == ("developer", FRIDAY)


@job(24, "Run the pipeline of main every night at two.", beside=lambda: Schedules(PLACE))
async def every_night(do: Do, shop: Shop) -> None:
    made = await do(
        "manage_schedule", "create", **SHOP, description="Every night", ref="main", cron="0 2 * * *"
    )
    assert made["active"] is True and made["next_run_at"]
    [schedule] = do.beside.made.values()
    assert (schedule["ref"], schedule["cron"]) == ("refs/heads/main", "0 2 * * *")


@job(
    27,
    "Is .gitlab-ci.yml of acme/shop valid, and what would run on the tag v1.1.0?",
    says=("build", "publish"),
    beside=lambda: CiLint(PLACE, dict.fromkeys(("main", "v1.1.0"), Linted({"v1.1.0": ["build", "publish"]}))),
)
async def is_it_valid(do: Do, shop: Shop) -> None:
    would_run = await do("browse_ci_config", "jobs", **SHOP, ref="v1.1.0")
    assert would_run["valid"] is True
    assert [each["name"] for each in would_run["jobs"]] == ["build", "publish"]


def _with_an_issue() -> WorkItems:
    work = WorkItems("acme/shop", "17.2")
    work.add("Sell gift cards")
    return work


@job(30, "Create a task list under issue 1.", beside=_with_an_issue)
async def task_list(do: Do, shop: Shop) -> None:
    titles = ["Draw the card", "Print the card", "Sell the card"]
    made = await do("manage_work_item", "create", **SHOP, type="task", parent_iid=1, titles=titles)
    assert (made["total"], made["every_item"]["parent"]["iid"]) == (3, 1)
    assert do.beside.children(1) == titles


@job(
    31,
    "What was deployed to production of acme/shop last, by whom, which merge requests were in it?",
    says=("alice", "Add coupons", "Add taxes"),
    beside=Deployments,
)
async def last_deployment(do: Do, shop: Shop) -> None:
    last = {"environment": "production", "status": "success", "per_page": 1}
    found = await do("browse_environments", "list_deployments", **SHOP, **last, with_merge_requests=True)
    last = found["items"][0]
    assert (last["environment"], last["user"], last["created_at"]) == ("production", "alice", NOW)
    assert [each["iid"] for each in last["merge_requests"]] == [1, 2]


@job(
    40,
    "Apply the suggestion in !12.",
    beside=lambda: Suggestions("b = 22\nc = 33\n", {4: "x2 = 20"}),
)
async def apply_suggestion(do: Do, shop: Shop) -> None:
    await do("manage_review", "apply", **SHOP, merge_request_iid=12)
    assert do.beside.lines == ["x2 = 20", "c = 33"]


@job(42, "Who can see acme/shop, and are there public projects in the group acme?", says=("bob", "carol"))
async def who_can_see(do: Do, shop: Shop) -> None:
    public = {"group_id": "acme", "visibility": "public", "include_subgroups": True}
    seen, listed = await do.batch(
        ("browse_members", "who_can", {**SHOP, "what": "see"}), ("browse_projects", "list", public)
    )
    assert seen["visibility"] == "private"
    assert {"alice", "bob", "carol"} <= {each["username"] for each in seen["people"]}
    assert listed["items"] == []


@job(43, "Which tokens, keys and webhooks does acme/shop have?", beside=lambda: with_one_of_each("acme/shop"))
async def what_has_access(do: Do, shop: Shop) -> None:
    seen = await do("browse_access_tokens", "overview", **SHOP)
    assert seen["total"] == {"access_tokens": 1, "deploy_tokens": 1, "deploy_keys": 1, "webhooks": 1}
    assert seen["deploy_keys"][0]["can_push"] is True and "warnings" not in seen

"""Jobs in people's words, each done through the server, with a check of the end state.

The calls are those of somebody who knows the tools; what a model makes of them is the question of evals/, which plays
the same jobs. So what must be true at the end of a job stands beside its play and not in it: `leaves` looks at GitLab,
`says` are words that the answer has, the tools' in a play and the model's in evals/. GitLab is the recorded acme/shop
that keeps what is written to it (`tests.support.standin.shop`).
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Protocol

from tests.support.standin.server import Part
from tests.support.standin.shop import Shop

SHOP = {"project_id": "acme/shop"}
Data = dict[str, Any]


class Do(Protocol):
    async def __call__(self, tool: str, action: str, /, **arguments: Any) -> Data:
        """One call that must succeed: what it answered, its text under `text`."""
        ...

    async def batch(self, *calls: tuple[str, str, Data]) -> list[Data]:
        """Several calls, each of which must succeed, made as one: what each answered."""
        ...

    async def refused(self, tool: str, action: str, /, **arguments: Any) -> Data:
        """One call that must fail: the failure."""
        ...

    @property
    def gitlab(self) -> str:
        """The address of GitLab."""
        ...

    @property
    def beside(self) -> Any:
        """The part of GitLab that this job has beside the shop."""
        ...


Play = Callable[[Do, Shop], Awaitable[None]]
Check = Callable[[Shop], None]


@dataclass(frozen=True, slots=True)
class Job:
    number: int
    said: str
    """In it, `{gitlab}` is the address of GitLab."""
    play: Play
    caller: str = "alice"
    beside: Callable[[], Part] | None = None
    """Makes what the shop does not have, and answers before it."""
    leaves: Check | None = None
    """Raises AssertionError where GitLab is not as the job should leave it."""
    says: tuple[str, ...] = ()

    def check(self, shop: Shop, answer: str) -> None:
        """Raises AssertionError where the job is not done."""
        unsaid = [word for word in self.says if not re.search(rf"(?<!\w){re.escape(word)}(?!\d)", answer)]
        assert not unsaid, f"not said: {unsaid}"
        if self.leaves is not None:
            self.leaves(shop)


@dataclass(frozen=True, slots=True)
class Declares:
    """Puts the jobs of one file into its list."""

    jobs: list[Job]

    def __call__(
        self,
        number: int,
        said: str,
        *,
        caller: str = "alice",
        beside: Callable[[], Part] | None = None,
        leaves: Check | None = None,
        says: tuple[str, ...] = (),
    ) -> Callable[[Play], Play]:
        def declare(play: Play) -> Play:
            self.jobs.append(Job(number, said, play, caller, beside, leaves, says))
            return play

        return declare


JOBS: list[Job] = []
job = Declares(JOBS)


@job(1, "Why is main red in acme/shop?", says=("202", "unit", "integration", "e2e: [firefox]"))
async def why_red(do: Do, shop: Shop) -> None:
    found = await do("browse_pipelines", "failure_digest", **SHOP, ref="main")
    assert [each["iid"] for each in found["culprits"][0]["merge_requests"]] == [5]


def a_comment_at_a_line(shop: Shop) -> None:
    notes = shop.made_in("projects/77/merge_requests/25/notes")
    assert any((note.get("position") or {}).get("new_line") for note in notes)


@job(2, "Review !25 of acme/shop and leave comments at the lines that matter.", leaves=a_comment_at_a_line)
async def review(do: Do, shop: Shop) -> None:
    bundle = await do("browse_merge_requests", "review_bundle", **SHOP, merge_request_iid=25)
    assert "src/shop/cart.py" in bundle["text"]
    comments = [
        {"file_path": "src/shop/cart.py", "line": 1, "body": "Why this import?"},
        {"file_path": "src/shop/cart.py", "line": 27, "body": "Is this tested?"},
    ]
    written = await do("manage_review", "submit_review", **SHOP, merge_request_iid=25, comments=comments)
    for comment in comments:
        [note] = shop.named("projects/77/merge_requests/25/notes", body=comment["body"])
        assert note["position"]["new_line"] == comment["line"]
    assert len(written["notes"]) >= 2


def bumped(shop: Shop) -> None:
    before, after = (shop.content(branch, "README.md") or "" for branch in ("main", "bump-version"))
    assert after == before.replace("# Shop\n", "# Shop 1.3.0\n") != before
    assert shop.named("projects/77/merge_requests", source_branch="bump-version", state="opened")


@job(
    3,
    "In acme/shop, make the heading of README.md `# Shop 1.3.0` on a new branch bump-version, and open a merge"
    " request.",
    leaves=bumped,
)
async def bump(do: Do, shop: Shop) -> None:
    await do(
        "manage_file",
        "edit",
        **SHOP,
        branch="bump-version",
        start_branch="main",
        commit_message="Bump the version to 1.3.0",
        edits=[{"file_path": "README.md", "old_text": "# Shop\n", "new_text": "# Shop 1.3.0\n"}],
        merge_request_title="Bump the version to 1.3.0",
    )


def renamed(shop: Shop) -> None:
    branches = shop.things["projects/77/repository/branches"]
    head = shop.as_recorded("projects/77/repository/branches", "ci/stuck")["commit"]["id"]
    assert branches["ci/waiting"]["commit"]["id"] == head and "ci/stuck" not in branches


@job(4, "Rename branch ci/stuck of acme/shop to ci/waiting.", leaves=renamed)
async def rename_branch(do: Do, shop: Shop) -> None:
    await do("manage_branch", "rename", **SHOP, branch="ci/stuck", new_branch="ci/waiting")


@job(
    5,
    "Write release notes for what changed in acme/shop between v1.0.0 and v1.1.0.",
    says=("Add coupons", "Cache the stock"),
)
async def release_notes(do: Do, shop: Shop) -> None:
    await do("browse_releases", "changelog", **SHOP, version="1.1.0", from_ref="v1.0.0", to_ref="v1.1.0")


def approved_and_merged(shop: Shop) -> None:
    request = shop.thing("projects/77/merge_requests", 22)
    assert request["state"] == "merged"
    assert request["approved_by"][0]["user"]["username"] == "alice"


@job(6, "Approve !22 of acme/shop and merge it when the pipeline is green.", leaves=approved_and_merged)
async def approve_and_merge(do: Do, shop: Shop) -> None:
    merged = await do("manage_merge_request", "merge", **SHOP, merge_request_iid=22, approve=True)
    assert (merged["state"], merged["approved"]) == ("merged", "now")


def moved_to_the_next_milestone(shop: Shop) -> None:
    opened = shop.named("projects/77/issues", state="opened")
    titles = [(issue.get("milestone") or {}).get("title") for issue in opened]
    assert "v1.1" not in titles and titles.count("v1.2") > 3


@job(
    7,
    "Move all open issues of acme/shop from milestone v1.1 to v1.2.",
    leaves=moved_to_the_next_milestone,
)
async def move_issues(do: Do, shop: Shop) -> None:
    await do("manage_issue", "bulk_update", **SHOP, with_milestone="v1.1", milestone_id="v1.2")


@job(8, "Who owns src/shop/pricing.py in acme/shop?", says=("alice",))
async def who_owns(do: Do, shop: Shop) -> None:
    await do("browse_code_owners", "owners", **SHOP, file_path="src/shop/pricing.py")


@job(10, "Create an epic for the relaunch in group acme.", says=("Premium",))
async def epic_on_free(do: Do, shop: Shop) -> None:
    refusal = await do.refused("manage_epic", "create", group_id="acme", title="Relaunch")
    assert (refusal["error_code"], refusal["tier_required"]) == ("TIER_RESTRICTED", "Premium")
    assert refusal["alternatives"]


@job(11, "Set the weight of issue 7 of acme/shop to 5.", says=("Premium",))
async def weight_on_free(do: Do, shop: Shop) -> None:
    changed = await do("manage_issue", "update", **SHOP, issue_iid=7, weight=5)
    assert [warning["code"] for warning in changed["warnings"]] == ["TIER_IGNORED"]


A_NOTE = "{gitlab}/acme/shop/-/merge_requests/25#note_554"


@job(12, f"What is this about: {A_NOTE}?", says=("alice", "Old SHAs, line that moved", "Rework the cart"))
async def what_is_this_url(do: Do, shop: Shop) -> None:
    await do("browse_instance", "explain_url", url=A_NOTE.format(gitlab=do.gitlab))


@job(
    13,
    "Which jobs fail in pipeline 202 of acme/shop that did not fail in pipeline 201?",
    says=("integration", "e2e: [firefox]"),
)
async def two_pipelines(do: Do, shop: Shop) -> None:
    await do("browse_pipelines", "compare", **SHOP, pipeline_id=201, other_pipeline_id=202)


@job(15, "What did Alice merge last week?")
async def what_alice_merged(do: Do, shop: Shop) -> None:
    found = await do(
        "browse_merge_requests",
        "list",
        group_id="acme",
        state="merged",
        merge_user_username="alice",
        merged_after="2026-11-09",
    )
    merged = {item["iid"] for item in found["items"] if item["project"] == "acme/shop"}
    assert merged == {
        request["iid"]
        for request in shop.named("projects/77/merge_requests", state="merged")
        if request["merge_user"]["username"] == "alice"
    }
    assert merged


def filed(shop: Shop) -> None:
    [issue] = shop.named("projects/77/issues", title="Total is off by one")
    assert (issue["labels"], issue["assignees"][0]["username"]) == (["bug"], "alice")
    assert shop.things[f"projects/77/issues/{issue['iid']}/links"]["3"]


@job(
    16,
    "File the bug `Total is off by one` in acme/shop, label it bug, assign it to me, link it to issue 3.",
    leaves=filed,
)
async def file_a_bug(do: Do, shop: Shop) -> None:
    issue = {**SHOP, "title": "Total is off by one", "labels": ["bug"], "assignee_ids": ["me"]}
    link = {**SHOP, "issue_iid": {"from": 0, "field": "iid"}, "target_issue_iid": 3}
    await do.batch(("manage_issue", "create", issue), ("manage_issue", "add_link", link))


@job(17, "Which files speak of a coupon, anywhere in the group acme?", says=("src/shop/checkout.py",))
async def where_is_it(do: Do, shop: Shop) -> None:
    await do("search", "code", group_id="acme", search="coupon")


def retried(shop: Shop) -> None:
    [again] = shop.made_in("projects/77/jobs")
    assert again["name"] == shop.thing("projects/77/jobs", 301)["name"]


@job(18, "Retry job 301 of acme/shop and tell me when it is done.", leaves=retried)
async def retry_job(do: Do, shop: Shop) -> None:
    ended = await do("manage_job", "retry", **SHOP, job_id=301, wait=True)
    assert ended["job"]["id"] != 301 and ended["job"]["status"] == "success"


@job(20, 'Is there an issue about "gift card" anywhere?', says=("7", "Gift cards"))
async def issue_anywhere(do: Do, shop: Shop) -> None:
    await do("browse_issues", "list", search="gift card")


@job(21, "Which merge requests of acme/shop wait for my review?", says=("6", "12", "19", "25"))
async def waiting_for_review(do: Do, shop: Shop) -> None:
    found = await do("browse_merge_requests", "list", reviewer_username="me", state="opened")
    assert {item["iid"] for item in found["items"] if item["project"] == "acme/shop"} == {6, 12, 19, 25}


@job(25, "What is on my plate today?", caller="bob")
async def my_plate(do: Do, shop: Shop) -> None:
    found = await do("browse_users", "inbox")
    assert {each["iid"] for each in found["reviews_asked_of_me"]["items"]} >= {16, 24}
    assert found["my_issues"]["items"][0]["title"] == "Gift cards"
    assert found["mentions"]["total"] == 1


@job(28, "Give me an overview of project acme/shop.", says=("Python", "v1.1.0"))
async def overview(do: Do, shop: Shop) -> None:
    await do("browse_projects", "overview", **SHOP)


def closed_with_a_comment(shop: Shop) -> None:
    blocked = [
        issue["iid"]
        for issue in shop.recorded_in("projects/77/issues")
        if issue["state"] == "opened" and "workflow::blocked" in issue["labels"]
    ]
    assert blocked
    for iid in blocked:
        assert shop.thing("projects/77/issues", iid)["state"] == "closed"
        assert shop.made_in(f"projects/77/issues/{iid}/notes")


@job(
    29,
    "Close every open issue of acme/shop labelled workflow::blocked with a friendly comment.",
    leaves=closed_with_a_comment,
)
async def close_stale(do: Do, shop: Shop) -> None:
    closed = await do(
        "manage_issue",
        "bulk_update",
        **SHOP,
        with_labels=["workflow::blocked"],
        state_event="close",
        body="Closing for now: tell us when it is unblocked.",
    )
    assert closed["changed"]


@job(32, "Roll production of acme/shop back to what was there before.")
async def roll_back(do: Do, shop: Shop) -> None:
    deployments = shop.things["projects/77/deployments"]
    bad = {
        "id": 60,
        "sha": "b" * 40,
        "deployable": {"id": 999, "name": "deploy_production", "status": "success"},
    }
    deployments["60"] = {**deployments["51"], **bad}
    shop.written.add("deployments")
    shop.things["projects/77/jobs"]["265"] = {"id": 265, "name": "deploy_production", "status": "success"}
    answer = await do("manage_environment", "roll_back", **SHOP, environment="production")
    assert answer["to"]["sha"] == deployments["51"]["sha"]
    assert answer["job"]["status"] == "pending"
    assert shop.thing("projects/77/jobs", answer["job"]["id"])["status"] == "success"


def released(shop: Shop) -> None:
    assert shop.thing("projects/77/releases", "v1.3.0")["description"]
    assert "v1.3.0" in shop.things["projects/77/repository/tags"]


@job(33, "Cut release v1.3.0 of acme/shop from main with notes.", leaves=released)
async def cut_release(do: Do, shop: Shop) -> None:
    answer = await do("manage_release", "create", **SHOP, tag_name="v1.3.0", ref="main", prepared=True)
    assert answer["url"].endswith("/acme/shop/-/releases/v1.3.0")


def picked(shop: Shop) -> None:
    sha = shop.as_recorded("projects/77/merge_requests", 5)["merge_commit_sha"]
    head = shop.thing("projects/77/repository/branches", "release/1.0")["commit"]["id"]
    assert shop.thing("projects/77/repository/commits", head)["parent_ids"] == [sha]


@job(
    34,
    "In acme/shop, make branch release/1.0 from v1.0.0 and cherry-pick the commit of !5 to it.",
    leaves=picked,
)
async def cherry_pick(do: Do, shop: Shop) -> None:
    await do("manage_commit", "cherry_pick", **SHOP, sha="!5", branch="release/1.0", start_ref="v1.0.0")


@job(35, "Which merge requests are open without review, in the whole group?")
async def without_review(do: Do, shop: Shop) -> None:
    found = await do(
        "browse_merge_requests", "list", group_id="acme", state="opened", reviewer_username="None"
    )
    listed = {item["iid"] for item in found["items"] if item["project"] == "acme/shop"}
    waiting = shop.named("projects/77/merge_requests", state="opened", reviewers=[])
    assert listed == {each["iid"] for each in waiting} != set()
    assert all(item["created_at"] for item in [found["every_item"], *found["items"]][:1])


@job(36, "What did the team do yesterday in acme/shop?")
async def what_the_team_did(do: Do, shop: Shop) -> None:
    found = await do("browse_projects", "events", **SHOP)
    assert len(found["items"]) == 20


def revert_is_asked_for(shop: Shop) -> None:
    [request] = shop.made_in("projects/77/merge_requests")
    head = shop.thing("projects/77/repository/branches", request["source_branch"])["commit"]["id"]
    assert (request["state"], request["target_branch"]) == ("opened", "main")
    assert "6c9b44ea" in shop.thing("projects/77/repository/commits", head)["title"]


@job(37, "Revert !5 of acme/shop by a merge request to main.", leaves=revert_is_asked_for)
async def revert(do: Do, shop: Shop) -> None:
    await do("manage_merge_request", "revert", **SHOP, merge_request_iid=5)


@job(
    38, "By whom, and in which commit, was src/shop/pricing.py of acme/shop last changed?", says=("e2c01d71",)
)
async def last_changed(do: Do, shop: Shop) -> None:
    await do("browse_commits", "list", **SHOP, path="src/shop/pricing.py", ref_name="main")


def all_resolved(shop: Shop) -> None:
    threads = shop.things["projects/77/merge_requests/12/discussions"].values()
    notes = [note for thread in threads for note in thread["notes"] if note.get("resolvable")]
    assert notes and all(note["resolved"] for note in notes)


@job(39, "Resolve all open threads of !12 of acme/shop.", leaves=all_resolved)
async def resolve_threads(do: Do, shop: Shop) -> None:
    await do("manage_discussion", "resolve_all", **SHOP, merge_request_iid=12)


def ready(shop: Shop) -> None:
    assert shop.thing("projects/77/merge_requests", 19)["title"] == "Everything is wrong"


@job(41, "Mark the draft !19 of acme/shop as ready.", leaves=ready)
async def mark_ready(do: Do, shop: Shop) -> None:
    await do("manage_merge_request", "update", **SHOP, merge_request_iid=19, draft=False)


def protected(shop: Shop) -> None:
    branch = shop.thing("projects/77/protected_branches", "hotfix/*")
    assert branch["push_access_levels"][0]["access_level"] == 40
    assert branch["merge_access_levels"][0]["access_level"] == 30


@job(
    44,
    "Protect the branches hotfix/* of acme/shop so that maintainers push and developers merge.",
    leaves=protected,
)
async def protect(do: Do, shop: Shop) -> None:
    await do(
        "manage_protected_branch",
        "create",
        **SHOP,
        name="hotfix/*",
        push_access_level=40,
        merge_access_level=30,
    )


def marked_for_deletion(shop: Shop) -> None:
    assert shop.thing("projects", 78)["marked_for_deletion_on"]


@job(45, "Delete the test project acme/shop-ff for good.", leaves=marked_for_deletion)
async def delete_project(do: Do, shop: Shop) -> None:
    answer = await do("manage_project", "delete", project_id="acme/shop-ff")
    assert answer["deleted"] is False and answer["marked_for_deletion_on"]


@job(61, "How many open issues does everybody have in acme/shop?")
async def issues_of_each(do: Do, shop: Shop) -> None:
    found = await do("browse_issues", "list", **SHOP, state="opened", count_by="assignee")
    counts = {each["assignee"]: each["count"] for each in found["items"]}
    opened = shop.named("projects/77/issues", state="opened")
    assert counts["bob"] == sum(
        "bob" in [person["username"] for person in issue["assignees"]] for issue in opened
    )


@job(62, "How does milestone v1.1 stand?")
async def how_it_stands(do: Do, shop: Shop) -> None:
    found = await do("browse_milestones", "report", **SHOP, milestone_id="v1.1")
    assert found["issues"]["done"] == 6
    assert found["late_issues"][0]["iid"] == 11


@job(
    66,
    "Why is `add` in src/shop/cart.py of acme/shop as it is?",
    says=("2", "Negative quantities are accepted"),
)
async def why_a_function(do: Do, shop: Shop) -> None:
    await do("browse_files", "why", **SHOP, file_path="src/shop/cart.py", symbol="add")

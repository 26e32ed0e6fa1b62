"""Jobs in people's words, each done through the server, with a check of the end state.

The calls are those of somebody who knows the tools; what a model makes of them is another question. GitLab is the
recorded acme/shop that keeps what is written to it (`tests.support.standin.shop`).
"""

from __future__ import annotations

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


@dataclass(frozen=True, slots=True)
class Job:
    number: int
    said: str
    play: Play
    caller: str = "alice"
    beside: Callable[[], Part] | None = None
    """Makes what the shop does not have, and answers before it."""


@dataclass(frozen=True, slots=True)
class Declares:
    """Puts the jobs of one file into its list."""

    jobs: list[Job]

    def __call__(
        self, number: int, said: str, *, caller: str = "alice", beside: Callable[[], Part] | None = None
    ) -> Callable[[Play], Play]:
        def declare(play: Play) -> Play:
            self.jobs.append(Job(number, said, play, caller, beside))
            return play

        return declare


JOBS: list[Job] = []
job = Declares(JOBS)


@job(1, "Why is main red in acme/shop?")
async def why_red(do: Do, shop: Shop) -> None:
    found = await do("browse_pipelines", "failure_digest", **SHOP, ref="main")
    assert found["pipeline"]["id"] == 202
    assert [each["name"] for each in found["failed_jobs"]] == ["unit", "integration", "e2e: [firefox]"]
    assert [each["iid"] for each in found["culprits"][0]["merge_requests"]] == [5]


@job(2, "Review !25 and leave comments at the lines that matter.")
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


@job(3, "Bump the version in README.md on a branch and open a merge request.")
async def bump(do: Do, shop: Shop) -> None:
    before = shop.content("main", "README.md") or ""
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
    assert shop.content("bump-version", "README.md") == before.replace("# Shop\n", "# Shop 1.3.0\n") != before
    assert shop.named("projects/77/merge_requests", source_branch="bump-version", state="opened")


@job(4, "Rename branch ci/stuck to ci/waiting.")
async def rename_branch(do: Do, shop: Shop) -> None:
    head = shop.thing("projects/77/repository/branches", "ci/stuck")["commit"]["id"]
    await do("manage_branch", "rename", **SHOP, branch="ci/stuck", new_branch="ci/waiting")
    branches = shop.things["projects/77/repository/branches"]
    assert branches["ci/waiting"]["commit"]["id"] == head and "ci/stuck" not in branches


@job(5, "Write release notes for what changed between v1.0.0 and v1.1.0.")
async def release_notes(do: Do, shop: Shop) -> None:
    notes = await do(
        "browse_releases", "changelog", **SHOP, version="1.1.0", from_ref="v1.0.0", to_ref="v1.1.0"
    )
    assert "Add coupons" in notes["text"]


@job(6, "Approve !6 and merge it when the pipeline is green.")
async def approve_and_merge(do: Do, shop: Shop) -> None:
    await do("manage_merge_request", "approve", **SHOP, merge_request_iid=6)
    await do("manage_merge_request", "merge", **SHOP, merge_request_iid=6)
    request = shop.thing("projects/77/merge_requests", 6)
    assert request["state"] == "merged"
    assert request["approved_by"][0]["user"]["username"] == "alice"


@job(7, "Move all open issues from milestone v1.1 to v1.2.")
async def move_issues(do: Do, shop: Shop) -> None:
    moved = await do("manage_issue", "bulk_update", **SHOP, with_milestone="v1.1", milestone_id="v1.2")
    opened = shop.named("projects/77/issues", state="opened")
    titles = [(issue.get("milestone") or {}).get("title") for issue in opened]
    assert "v1.1" not in titles and titles.count("v1.2") >= len(moved["changed"]) > 3


@job(8, "Who owns src/shop/pricing.py?")
async def who_owns(do: Do, shop: Shop) -> None:
    found = await do("browse_code_owners", "owners", **SHOP, file_path="src/shop/pricing.py")
    assert found["owned_by"][0]["owners"] == ["@alice"]


@job(10, "Create an epic for the relaunch. (Free)")
async def epic_on_free(do: Do, shop: Shop) -> None:
    refusal = await do.refused("manage_epic", "create", group_id="acme", title="Relaunch")
    assert (refusal["error_code"], refusal["tier_required"]) == ("TIER_RESTRICTED", "Premium")
    assert refusal["alternatives"]


@job(11, "Set the weight of issue 7 to 5. (Free)")
async def weight_on_free(do: Do, shop: Shop) -> None:
    changed = await do("manage_issue", "update", **SHOP, issue_iid=7, weight=5)
    assert [warning["code"] for warning in changed["warnings"]] == ["TIER_IGNORED"]


@job(12, "What is this about: …/acme/shop/-/merge_requests/25#note_…?")
async def what_is_this_url(do: Do, shop: Shop) -> None:
    notes = shop.things["projects/77/merge_requests/25/notes"].values()
    note = next(note for note in notes if not note["system"])
    url = f"{do.gitlab}/acme/shop/-/merge_requests/25#note_{note['id']}"
    found = await do("browse_discussions", "get_note", url=url)
    assert (found["id"], found["author"]) == (note["id"], note["author"]["username"])


@job(13, "What is different between pipelines 201 and 202?")
async def two_pipelines(do: Do, shop: Shop) -> None:
    found = await do("browse_pipelines", "compare", **SHOP, pipeline_id=201, other_pipeline_id=202)
    assert [each["name"] for each in found["failed_newly"]] == ["integration", "e2e: [firefox]"]


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


@job(16, "File this bug, label it, assign it to me, link it to issue 3.")
async def file_a_bug(do: Do, shop: Shop) -> None:
    made = await do(
        "manage_issue", "create", **SHOP, title="Total is off by one", labels=["bug"], assignee_ids=["me"]
    )
    await do("manage_issue", "add_link", **SHOP, issue_iid=made["iid"], target_issue_iid=3)
    issue = shop.thing("projects/77/issues", made["iid"])
    assert (issue["labels"], issue["assignees"][0]["username"]) == (["bug"], "alice")
    assert shop.things[f"projects/77/issues/{made['iid']}/links"]["3"]


@job(17, "Where is the coupon applied, anywhere in acme/shop?")
async def where_is_it(do: Do, shop: Shop) -> None:
    found = await do("search", "code", **SHOP, search="coupon")
    assert any(item["path"].startswith("src/shop/") for item in found["items"])


@job(18, "Retry the flaky job and tell me when it is done.")
async def retry_job(do: Do, shop: Shop) -> None:
    again = await do("manage_job", "retry", **SHOP, job_id=301)
    assert again["status"] == "pending"
    ended = await do("browse_pipelines", "wait", **SHOP, job_id=again["id"])
    assert ended["job"]["status"] == "success"


@job(20, 'Is there an issue about "gift card" anywhere?')
async def issue_anywhere(do: Do, shop: Shop) -> None:
    found = await do("browse_issues", "list", search="gift card")
    assert [item["iid"] for item in found["items"]] == [7]


@job(21, "Which merge requests wait for my review?")
async def waiting_for_review(do: Do, shop: Shop) -> None:
    found = await do("browse_merge_requests", "list", reviewer_username="me", state="opened")
    assert {item["iid"] for item in found["items"] if item["project"] == "acme/shop"} == {6, 12, 19, 25}


@job(25, "What is on my plate today?", caller="bob")
async def my_plate(do: Do, shop: Shop) -> None:
    found = await do("browse_users", "inbox")
    assert {each["iid"] for each in found["reviews_asked_of_me"]["items"]} >= {16, 24}
    assert found["my_issues"]["items"][0]["title"] == "Gift cards"
    assert found["mentions"]["total"] == 1


@job(28, "Give me an overview of project acme/shop.")
async def overview(do: Do, shop: Shop) -> None:
    calls: list[Data] = [
        {"tool": "browse_projects", "arguments": {"action": "get", **SHOP}},
        {"tool": "browse_projects", "arguments": {"action": "languages", **SHOP}},
        {"tool": "browse_pipelines", "arguments": {"action": "latest", **SHOP}},
        {"tool": "browse_releases", "arguments": {"action": "list", **SHOP}},
        {"tool": "browse_merge_requests", "arguments": {"action": "list", **SHOP, "state": "opened"}},
    ]
    found = await do("run_batch", "run", calls=calls)
    assert "v1.1.0" in str(found) and "Python" in str(found)


@job(29, "Close every issue labelled workflow::blocked with a friendly comment.")
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
    for iid in closed["changed"]:
        assert shop.thing("projects/77/issues", iid)["state"] == "closed"
        assert shop.things[f"projects/77/issues/{iid}/notes"]
    blocked = [
        each
        for each in shop.named("projects/77/issues", state="opened")
        if "workflow::blocked" in each["labels"]
    ]
    assert not blocked


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


@job(33, "Cut release v1.3.0 from main with notes.")
async def cut_release(do: Do, shop: Shop) -> None:
    await do("manage_release", "create", **SHOP, tag_name="v1.3.0", ref="main", description="Wish lists.")
    assert shop.thing("projects/77/releases", "v1.3.0")["description"] == "Wish lists."
    assert "v1.3.0" in shop.things["projects/77/repository/tags"]


@job(34, "Cherry-pick the commit of !5 to release/1.0.")
async def cherry_pick(do: Do, shop: Shop) -> None:
    request = await do("browse_merge_requests", "get", **SHOP, merge_request_iid=5)
    sha = request.get("merge_commit_sha") or request["sha"]
    await do("manage_branch", "create", **SHOP, branch="release/1.0", ref="v1.0.0")
    picked = await do("manage_commit", "cherry_pick", **SHOP, sha=sha, branch="release/1.0")
    assert shop.thing("projects/77/repository/branches", "release/1.0")["commit"]["id"] == picked["id"]


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


@job(37, "Revert !5 on main by a merge request.")
async def revert(do: Do, shop: Shop) -> None:
    opened = await do("manage_merge_request", "revert", **SHOP, merge_request_iid=5)
    request = shop.thing("projects/77/merge_requests", opened["iid"])
    assert (request["state"], request["target_branch"]) == ("opened", "main")
    assert "6c9b44ea" in shop.thing("projects/77/repository/commits", opened["commit_id"])["title"]


@job(38, "When and by whom was src/shop/pricing.py last changed?")
async def last_changed(do: Do, shop: Shop) -> None:
    found = await do("browse_commits", "list", **SHOP, path="src/shop/pricing.py", ref_name="main")
    assert found["items"]


@job(39, "Resolve all open threads of !12.")
async def resolve_threads(do: Do, shop: Shop) -> None:
    found = await do("browse_discussions", "list", **SHOP, merge_request_iid=12, unresolved=True)
    calls = [
        {
            "tool": "manage_discussion",
            "arguments": {
                "action": "resolve",
                **SHOP,
                "merge_request_iid": 12,
                "discussion_id": thread["id"],
            },
        }
        for thread in found["items"]
    ]
    await do("run_batch", "run", calls=calls)
    threads = shop.things["projects/77/merge_requests/12/discussions"].values()
    notes = [note for thread in threads for note in thread["notes"] if note.get("resolvable")]
    assert notes and all(note["resolved"] for note in notes)


@job(41, "Mark the draft !19 as ready.")
async def mark_ready(do: Do, shop: Shop) -> None:
    await do("manage_merge_request", "update", **SHOP, merge_request_iid=19, draft=False)
    assert shop.thing("projects/77/merge_requests", 19)["title"] == "Everything is wrong"


@job(44, "Protect hotfix/* so that only maintainers push and developers merge.")
async def protect(do: Do, shop: Shop) -> None:
    await do(
        "manage_protected_branch",
        "create",
        **SHOP,
        name="hotfix/*",
        push_access_level=40,
        merge_access_level=30,
    )
    branch = shop.thing("projects/77/protected_branches", "hotfix/*")
    assert branch["merge_access_levels"][0]["access_level"] == 30


@job(45, "Delete the test project acme/shop-ff for good.")
async def delete_project(do: Do, shop: Shop) -> None:
    answer = await do("manage_project", "delete", project_id="acme/shop-ff")
    assert answer["deleted"] is False and answer["marked_for_deletion_on"]
    assert shop.thing("projects", 78)["marked_for_deletion_on"]


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

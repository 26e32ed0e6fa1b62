"""Write merge requests, from their creation to the merge."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import Field

from gitlab_mcp.actions.action import DELETE, POST, PUT, Danger, Role, fill, something_to_change
from gitlab_mcp.actions.action_facts import Differs
from gitlab_mcp.actions.ask import Ask
from gitlab_mcp.actions.danger import Risk, equals
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.fields import (
    AlsoCalled,
    Branch,
    Flag,
    Labels,
    MilestoneOrZero,
    Needs,
    NonEmpty,
    NotSent,
    Only,
    ProjectNumber,
    SentAs,
    Time,
    Title,
    UserIds,
)
from gitlab_mcp.actions.other_names import Instead
from gitlab_mcp.actions.quick_actions import DescriptionText
from gitlab_mcp.actions.recovery_lookup import LostWrite, RecoveryLookup, made, new
from gitlab_mcp.actions.result import Notice, Result
from gitlab_mcp.actions.scopes import AtHead, InProject, OfMergeRequest
from gitlab_mcp.actions.server import Server
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.actions.undo import CLOSED_AND_REOPENED, FORMER, Undo, between
from gitlab_mcp.failures.codes import Code, NoticeCode
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.gitlab.faults import FAULTS, Refused
from gitlab_mcp.refusals.merge_blockers import refuse_blocked_merge
from gitlab_mcp.workflows.merge_requests.approved_merge import approve_and_merge
from gitlab_mcp.workflows.merge_requests.merge_request_revert import MergeRequestRevert
from gitlab_mcp.workflows.repository.branch_existence import require_branches
from gitlab_mcp.workflows.unchanged_since import IfUnchanged

manage = Tool(
    "manage_merge_request",
    "Create, change, approve and merge merge requests.",
    also=(
        "mr",
        "pull_request",
        "pr",
    ),
    instead={
        "close": Instead("update", {"state_event": "close"}),
        "reopen": Instead("update", {"state_event": "reopen"}),
        "accept": "merge",
        "auto_merge set_auto_merge enable_auto_merge merge_when_pipeline_succeeds": Instead(
            "merge", {"auto_merge": True}
        ),
        "cancel_merge disable_auto_merge cancel_merge_when_pipeline_succeeds": "cancel_auto_merge",
        "assign": Instead("update", needs=("assignee_ids",)),
        "add_assignee add_assignees": Instead(
            "update",
            needs=("assignee_ids",),
            advice="Use action update with "
            "assignee_ids: it replaces the assignees, so name everybody who shall be one.",
        ),
        "add_reviewer add_reviewers request_review assign_reviewer": Instead(
            "update",
            needs=("reviewer_ids",),
            advice="Use action update with "
            "reviewer_ids: it replaces the reviewers, so name everybody who shall be one.",
        ),
        "mark_ready ready mark_as_ready undraft unmark_draft": Instead("update", {"draft": False}),
        "draft mark_draft mark_as_draft": Instead("update", {"draft": True}),
        "label tag": Instead(
            "update", needs=("add_labels",), renames={"label": "add_labels", "labels": "add_labels"}
        ),
        "unlabel untag": Instead(
            "update", needs=("remove_labels",), renames={"label": "remove_labels", "labels": "remove_labels"}
        ),
        "lock": Instead("update", {"discussion_locked": True}),
        "unlock": Instead("update", {"discussion_locked": False}),
        "retarget change_target": Instead(
            "update", needs=("target_branch",), renames={"branch": "target_branch"}
        ),
        "rename": Instead(
            "update", needs=("title",), renames={"name": "title", "new_title": "title", "new_name": "title"}
        ),
        "comment add_comment create_comment post_comment note add_note create_note": Instead(
            "manage_discussion create_note", needs=("body",)
        ),
        "reply": Instead("manage_discussion reply", needs=("discussion_id",)),
        "resolve resolve_discussion resolve_thread": Instead(
            "manage_discussion resolve", needs=("discussion_id",)
        ),
        "review submit_review": Instead(
            "manage_review submit_review",
            advice="Call manage_review with action submit_review and verdict, or action approve here.",
        ),
        "request_changes": Instead(
            "manage_review submit_review",
            {"verdict": "request_changes"},
            advice="Call manage_review with action "
            "submit_review and verdict=request_changes; it publishes your drafts too.",
        ),
        "undo roll_back rollback undo_merge": "revert",
        "cherry_pick": Instead(
            "manage_commit cherry_pick",
            advice="Call manage_commit with action cherry_pick, sha (merge_commit_sha of "
            "browse_merge_requests get) and branch.",
        ),
        "revoke_approval disapprove": "unapprove",
        "run_pipeline trigger_pipeline": "create_pipeline",
        "spend spend_time log_time add_time track_time": "manage_time_tracking add_spent_time",
        "estimate set_estimate": "manage_time_tracking set_time_estimate",
        "todo add_todo": "manage_subscription create_todo",
        "follow watch": "manage_subscription subscribe",
        "unfollow unwatch mute": "manage_subscription unsubscribe",
    },
)

MR = "/projects/{project_id}/merge_requests/{merge_request_iid}"
MERGE_REQUEST = "iid title state draft detailed_merge_status web_url"
UPDATED = (
    "iid title state draft target_branch labels assignees reviewers milestone detailed_merge_status web_url"
)
MERGED = (
    "iid state auto_merge=merge_when_pipeline_succeeds merge_commit_sha squash_commit_sha merge_error web_url"
)
EXAMPLE = {"project_id": "writes/app", "merge_request_iid": 1}
APPROVED = "approved approvals_required approvals_left approved_by=approved_by.user.username"
COMMIT = "id=short_id title"

Users = Annotated[UserIds, Needs("multiple_mr_assignees_reviewers")]
Draft = Annotated[Flag, AlsoCalled("is_draft", "wip", "work_in_progress")]
_MARKS_OF_DRAFTS = re.compile(r"\s*(?:draft:|\[draft\]|\(draft\))\s*", re.IGNORECASE)


def _title(title: str, draft: bool | None) -> str:
    """GitLab knows a draft by its title alone."""
    if draft is None:
        return title
    bare = title
    while mark := _MARKS_OF_DRAFTS.match(bare):
        bare = bare[mark.end() :]
    return f"Draft: {bare}" if draft else bare


ADDING = {
    "add_reviewers": "reviewer_ids replaces the reviewers: send everybody who shall be one",
    "add_reviewer_ids": "reviewer_ids replaces the reviewers: send everybody who shall be one",
    "add_assignees": "assignee_ids replaces the assignees: send everybody who shall be one",
    "add_assignee_ids": "assignee_ids replaces the assignees: send everybody who shall be one",
}
NOTHING_TO_MERGE = Notice(
    NoticeCode.NOT_APPLIED,
    "It was made, and there is nothing in it: both branches end with the same commit. Push to source_branch.",
    {"field": "source_branch"},
)
MergeAfter = Annotated[Time, Only(since="19.3")]


@manage.action(
    "create",
    POST("/projects/{project_id}/merge_requests"),
    danger=Danger.REVERSIBLE,
    example={
        "project_id": "acme/website",
        "source_branch": "feature/conflict",
        "target_branch": "main",
        "title": "Change the README",
    },
    shows=MERGE_REQUEST,
    recover_with=RecoveryLookup(
        "browse_merge_requests list",
        "project_id project_id=target_project_id source_branch target_branch",
        {"state": "opened", "scope": "created_by_me"},
        proof=made("source_branch", "target_branch"),
    ),
    seldom_given="target_project_id allow_collaboration remove_source_branch",
)
class CreateMergeRequest(InProject):
    """Create a merge request between two branches that exist."""

    source_branch: Branch
    target_branch: Branch
    title: Title
    draft: Draft | None = None
    description: DescriptionText | None = None
    target_project_id: Annotated[ProjectNumber, Field(description="Where a fork's changes go")] | None = None
    assignee_ids: Users | None = None
    reviewer_ids: Users | None = None
    labels: Labels | None = None
    milestone_id: MilestoneOrZero | None = None
    remove_source_branch: Flag | None = None
    squash: Flag | None = None
    merge_after: MergeAfter | None = None
    allow_collaboration: Flag | None = None

    async def run(self, gitlab: GitLab) -> Answer:
        source, target = await require_branches(
            gitlab,
            source_branch=(self.project_id, self.source_branch),
            target_branch=(self.target_project_id or self.project_id, self.target_branch),
        )
        answer = await gitlab.send(self.request(draft=None, title=_title(self.title, self.draft)))
        return (
            replace(answer, warnings=(NOTHING_TO_MERGE,))
            if source is not None and source == target
            else answer
        )


@manage.action(
    "update",
    PUT(MR),
    danger=Danger.REVERSIBLE,
    example={**EXAMPLE, "title": "Draft: Add login and logout"},
    shows=UPDATED,
    not_taken=ADDING,
    seldom_given="allow_collaboration discussion_locked remove_source_branch expected_updated_at",
    undo=Undo(
        "update",
        "project_id merge_request_iid",
        turned={**CLOSED_AND_REOPENED, "draft": between(True, False)},
        former=FORMER,
        changed_at="updated_at",
    ),
)
class UpdateMergeRequest(IfUnchanged, OfMergeRequest):
    """Change, close or reopen a merge request."""

    state_event: Literal["close", "reopen"] | None = None
    title: Title | None = None
    draft: Draft | None = None
    description: DescriptionText | None = None
    target_branch: Branch | None = None
    assignee_ids: Users | None = None
    reviewer_ids: Users | None = None
    labels: Labels | None = None
    add_labels: Labels | None = None
    remove_labels: Labels | None = None
    milestone_id: MilestoneOrZero | None = None
    remove_source_branch: Flag | None = None
    squash: Flag | None = None
    merge_after: MergeAfter | None = None
    discussion_locked: Flag | None = None
    allow_collaboration: Flag | None = None

    _changes_something = something_to_change("title")

    async def run(self, gitlab: GitLab) -> Answer:
        if self.target_branch is not None:
            await require_branches(gitlab, target_branch=(self.project_id, self.target_branch))
        # GitLab takes [0], not [], for nobody.
        nobody = {name: [0] for name in ("assignee_ids", "reviewer_ids") if getattr(self, name) == []}
        return await gitlab.send(self.request(**nobody, draft=None, title=await self._new_title(gitlab)))

    async def _new_title(self, gitlab: GitLab) -> str | None:
        if self.title is not None:
            return _title(self.title, self.draft)
        if self.draft is None:
            return None
        present = await gitlab.get(
            fill(MR, project_id=self.project_id, merge_request_iid=self.merge_request_iid)
        )
        return _title(present.body["title"], self.draft)


def _merged(write: LostWrite, found: Mapping[str, Any]) -> bool:
    by_itself = found["merge_when_pipeline_succeeds"] and write.action.auto_merge
    return found["state"] == "merged" or bool(by_itself)


@manage.action(
    "merge",
    PUT(f"{MR}/merge"),
    danger=Danger.DESTRUCTIVE,
    example={
        "project_id": "writes/app",
        "merge_request_iid": 4,
        "sha": "52d8993f9745fd8a429d3f078741603483b36686",
        "squash": True,
        "squash_commit_message": "Add r (squashed)",
        "should_remove_source_branch": True,
    },
    shows=MERGED,
    repeatable=False,
    recover_with=RecoveryLookup("browse_merge_requests get", "project_id merge_request_iid", proof=_merged),
    seldom_given="merge_commit_message squash_commit_message should_remove_source_branch approve",
)
class Merge(AtHead):
    """Merge, now or (auto_merge) as soon as its pipeline has succeeded; with approve, approve it first."""

    approve: (
        Annotated[
            Flag,
            NotSent(),
            Field(description="First"),
            Risk(Danger.DESTRUCTIVE, "true", "you vouch for the change", equals(True)),
        ]
        | None
    ) = None

    auto_merge: Annotated[Flag, SentAs("merge_when_pipeline_succeeds")] | None = None
    squash: Flag | None = None
    should_remove_source_branch: Flag | None = None
    merge_commit_message: NonEmpty | None = None
    squash_commit_message: NonEmpty | None = None

    async def refuse_before_asking(self, ask: Ask) -> None:
        lifted = ("not_approved",) if self.approve else ()
        await refuse_blocked_merge(
            self.project_id, self.merge_request_iid, bool(self.auto_merge), ask, lifted
        )

    async def run_with(self, server: Server) -> Answer | Result:
        if not self.approve:
            return await super().run_with(server)
        given = {name: value for name, value in self.given().items() if name != "approve"}
        return await approve_and_merge(server, fill(MR, **self._named()), given)

    async def run(self, gitlab: GitLab) -> Answer:
        try:
            return await gitlab.send(self.request())
        except Refused as refused:
            if refused.status != 405 or not self.auto_merge or not await self._has_succeeded(gitlab):
                raise
        # GitLab has nothing to wait for: what it should wait for has happened.
        return await gitlab.send(self.request(merge_when_pipeline_succeeds=None))

    async def _has_succeeded(self, gitlab: GitLab) -> bool:
        try:
            found = (await gitlab.get(fill(MR, **self._named()))).body
        except FAULTS:
            return False
        head = found.get("head_pipeline") or {}
        is_ready = found.get("state") == "opened" and found.get("detailed_merge_status") == "mergeable"
        return is_ready and head.get("status") == "success" and head.get("sha") == found.get("sha")

    def _named(self) -> dict[str, Any]:
        return {"project_id": self.project_id, "merge_request_iid": self.merge_request_iid}


@manage.action(
    "revert",
    POST("/projects/{project_id}/merge_requests"),
    danger=Danger.REVERSIBLE,
    example={"project_id": "writes/app", "merge_request_iid": 2},
    # What a call before it made is found and gone on with.
    repeatable=True,
    seldom_given="source_branch",
)
class RevertMergeRequest(OfMergeRequest):
    """Take a merged one back by another merge request, of a branch with the revert; an open one is found again."""

    source_branch: Annotated[Branch, AlsoCalled("branch", "new_branch")] | None = None

    async def run_with(self, server: Server) -> Result:
        name = self.source_branch or f"revert-merge-request-{self.merge_request_iid}"
        return await MergeRequestRevert(self.project_id, self.merge_request_iid, name).run(server)


@manage.action(
    "cancel_auto_merge",
    POST(f"{MR}/cancel_merge_when_pipeline_succeeds"),
    danger=Danger.REVERSIBLE,
    example={"project_id": "writes/sub-one/second-renamed", "merge_request_iid": 1},
    role=Differs(Role.DEVELOPER, "measured on a protected branch"),
    recover_with=RecoveryLookup(
        "browse_merge_requests get",
        "project_id merge_request_iid",
        proof=lambda _, found: found["merge_when_pipeline_succeeds"] is False,
    ),
    has_line=True,
)
class CancelAutoMerge(OfMergeRequest):
    """Take back that it merges by itself."""

    async def run(self, gitlab: GitLab) -> Answer:
        # GitLab answers 201 also when there was nothing to cancel, with an error in the body.
        answer = await gitlab.send(self.request())
        body = answer.body if isinstance(answer.body, Mapping) else {}
        if body.get("status") == "error" or body.get("http_status") == 406:
            raise CallFailed(_nothing_to_cancel(body))
        return answer


def _nothing_to_cancel(body: Mapping[str, Any]) -> Failure:
    message = body.get("message")
    return Failure(
        Code.CONFLICT, "It was not set to merge by itself, so there is nothing to cancel."
    ).knowing(
        http_status=body.get("http_status"),
        confidence="likely",
        evidence=["GitLab answered 201 with an error inside"],
        gitlab_message=message if isinstance(message, str) else None,
        suggested_fix="Read merge_when_pipeline_succeeds and state: browse_merge_requests get.",
    )


@manage.action(
    "rebase",
    PUT(f"{MR}/rebase"),
    danger=Danger.DESTRUCTIVE,
    example={"project_id": "acme/shop-ff", "merge_request_iid": 2},
    role=Role.DEVELOPER,
    repeatable=False,
    recover_with=RecoveryLookup(
        "browse_merge_requests get",
        "project_id merge_request_iid",
        {"include_rebase_in_progress": True},
        proof=lambda _, found: found.get("rebase_in_progress") is True,
    ),
    seldom_given="skip_ci",
)
class Rebase(OfMergeRequest):
    """Rebase the source branch onto the target branch; GitLab does it in the background."""

    skip_ci: Flag | None = None

    async def run(self, gitlab: GitLab) -> Result:
        body = (await gitlab.send(self.request())).body
        see = "browse_merge_requests get with include_rebase_in_progress; merge_error says why it failed"
        # GitLab goes on to say need_rebase for a moment after a rebase that worked.
        then = "need_rebase may stay for a moment after it worked: do not rebase again at once"
        in_progress = body.get("rebase_in_progress", True)
        return Result(data={"rebase_in_progress": in_progress, "how_it_went": see, "then": then})


def _approved_by_me(write: LostWrite, found: Mapping[str, Any]) -> bool:
    return write.user_id in [each["user"]["id"] for each in found["approved_by"]]


@manage.action(
    "approve",
    POST(f"{MR}/approve"),
    danger=Danger.DESTRUCTIVE,
    example={
        "project_id": "acme/shop",
        "merge_request_iid": 25,
        "sha": "e9a02b999ff53785a56eb6a4807765f8d29dd38d",
    },
    shows=APPROVED,
    recover_with=RecoveryLookup(
        "browse_merge_requests approvals", "project_id merge_request_iid", proof=_approved_by_me
    ),
    undo=Undo("unapprove", "project_id merge_request_iid"),
)
class Approve(AtHead):
    """Approve it: vouch for the change, which can let it be merged."""


@manage.action(
    "unapprove",
    POST(f"{MR}/unapprove"),
    danger=Danger.REVERSIBLE,
    example={"project_id": "acme/shop", "merge_request_iid": 25},
    shows=APPROVED,
    recover_with=RecoveryLookup(
        "browse_merge_requests approvals",
        "project_id merge_request_iid",
        proof=lambda write, found: not _approved_by_me(write, found),
    ),
    undo=Undo("approve", "project_id merge_request_iid"),
)
class Unapprove(OfMergeRequest):
    """Take back your approval."""


@manage.action(
    "create_pipeline",
    POST(f"{MR}/pipelines"),
    danger=Danger.REVERSIBLE,
    example={"project_id": "writes/sub-one/second-renamed", "merge_request_iid": 2},
    shows="id status ref web_url",
    switch=Differs("builds", "what it makes is a pipeline"),
    recover_with=RecoveryLookup(
        "browse_merge_requests pipelines", "project_id merge_request_iid", proof=new()
    ),
)
class CreatePipeline(OfMergeRequest):
    """Run a pipeline for it; the CI configuration must have jobs for merge requests."""


@manage.action(
    "delete",
    DELETE(MR),
    danger=Danger.DESTRUCTIVE,
    example={"project_id": "writes/app", "merge_request_iid": 3},
    role=Role.OWNER,
)
class DeleteMergeRequest(OfMergeRequest):
    """Delete it for good; closing keeps it."""

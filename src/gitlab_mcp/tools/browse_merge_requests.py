"""Merge requests: lists, diffs, approvals, pipelines, and whether they can be merged."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from gitlab_mcp.actions.action import GET, Endpoint
from gitlab_mcp.actions.action_facts import Differs
from gitlab_mcp.actions.exchange import Answer, GitLab, Request
from gitlab_mcp.actions.fields import (
    ME,
    Branch,
    FilePath,
    Flag,
    Iids,
    Integer,
    Labels,
    Needs,
    NonEmpty,
    Only,
    Search,
    SearchIn,
    SentAs,
    Sort,
    Time,
    UserId,
    Username,
    Usernames,
    UserOrNone,
    broken_rule,
)
from gitlab_mcp.actions.other_names import Instead
from gitlab_mcp.actions.result import Result
from gitlab_mcp.actions.scopes import InProjectOrGroupOrOwn, OfMergeRequest, Paged
from gitlab_mcp.actions.server import Server
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.results.diffs import diff_result
from gitlab_mcp.results.list_pages import list_page
from gitlab_mcp.workflows.counts import Countable, counted_by_totals
from gitlab_mcp.workflows.merge_requests.merge_readiness import merge_readiness
from gitlab_mcp.workflows.merge_requests.merge_readiness_facts import read_merge_facts
from gitlab_mcp.workflows.merge_requests.merge_request_diffs import read_file_diff
from gitlab_mcp.workflows.merge_requests.review_bundle import read_review_bundle
from gitlab_mcp.workflows.merge_requests.review_states import with_review_states

browse = Tool(
    "browse_merge_requests",
    "Read merge requests.",
    also=(
        "mr",
        "pull_request",
        "pr",
    ),
    instead={
        "diff changes changed_files files patch list_changes": "diffs",
        "discussions threads comments list_comments": "browse_discussions list",
        "notes": "browse_discussions list_notes",
        "drafts draft_notes": "browse_discussions list_drafts",
        "mergeability merge_status can_merge checks blockers conflicts merge_checks": "merge_readiness",
        "issues": Instead(
            "closes_issues",
            advice="Use action closes_issues for those it closes; browse_merge_request_details related_issues has "
            "those it names, too.",
        ),
        "approvers approval": "approvals",
        "approval_rules": "browse_approval_rules list",
        "review": "review_bundle",
        "wait watch await poll wait_for_merge": "browse_pipelines wait",
        "jobs failed_jobs": Instead(
            "browse_pipelines failure_digest",
            advice="Call browse_pipelines with action failure_digest and "
            "merge_request_iid for what failed, or action jobs with pipeline_id.",
        ),
        "time time_tracking": "browse_time_tracking get",
        "count counts statistics stats": Instead("list", {"count_by": "state"}),
        "mine my_merge_requests": Instead(
            "list",
            {"scope": "created_by_me"},
            advice="Use action list with scope: created_by_me or assigned_to_me.",
        ),
    },
)

MR = "/projects/{project_id}/merge_requests/{merge_request_iid}"
EXAMPLE = {"project_id": "acme/website", "merge_request_iid": 1}

MERGE_REQUEST = (
    "iid title state draft:mark author=author.username reviewers=reviewers.username reviews source_branch"
    " target_branch detailed_merge_status:mark created_at:date updated_at:date merged_at:date web_url"
    " | description labels assignees=assignees.username milestone=milestone.title sha"
    " head_pipeline_id=head_pipeline.id head_pipeline=head_pipeline.status has_conflicts"
    " blocking_discussions_resolved changes_count user_notes_count merge_when_pipeline_succeeds"
    " merge_error rebase_in_progress diverged_commits_count squash source_project_id"
    " merged_by=merge_user.username merge_commit_sha squash_commit_sha closed_at"
)
COUNTED_BY = {
    "label": "labels",
    "author": "author.username",
    "assignee": "assignees.username",
    "reviewer": "reviewers.username",
    "milestone": "milestone.title",
    "state": "state",
    "target_branch": "target_branch",
    "week": "created_at",
    "month": "created_at",
}
"""Where a row has what is counted by."""
STATES = ("opened", "merged", "closed", "locked")
COMMIT = "id=short_id title author=author_name created_at | message"
ISSUE = "iid title state labels assignees=assignees.username web_url"
PIPELINE = "id status ref sha source updated_at | web_url"
APPROVALS = (
    "approved approvals_required approvals_left approved_by=approved_by.user.username"
    " user_has_approved user_can_approve rules_left=approval_rules_left.name"
)


@browse.action(
    "list",
    GET("/projects/{project_id}/merge_requests", "/groups/{group_id}/merge_requests", "/merge_requests"),
    docs=Differs("api/merge_requests/#list-merge-requests", "the widest of its endpoints"),
    example={"project_id": "acme/website"},
    shows=MERGE_REQUEST,
    not_taken={"milestone_id": "milestone takes the title of the milestone, None or Any"},
    seldom_given="search_in author_id assignee_id reviewer_id merge_user_username approved_by_usernames milestone"
    " environment iids count_by",
)
class ListMergeRequests(InProjectOrGroupOrOwn, Countable):
    """List merge requests of a project or a group; naming neither, your own, or with a person or a text everybody's."""

    counts = ("merge requests", COUNTED_BY)

    state: Literal["opened", "closed", "locked", "merged", "all"] | None = None
    scope: Literal["created_by_me", "assigned_to_me", "reviews_for_me", "all"] | None = None
    search: Search | None = None
    search_in: SearchIn | None = None
    author_username: Username | None = None
    author_id: UserId | None = None
    assignee_username: Usernames | None = None
    assignee_id: UserOrNone | None = None
    reviewer_username: Username | None = None
    reviewer_id: UserOrNone | None = None
    merge_user_username: Username | None = None
    approved_by_usernames: Annotated[Usernames, Needs("mr_approver_filters")] | None = None
    approved: Annotated[Literal["yes", "no"], Only(until="17.2")] | None = None
    labels: Labels | None = None
    milestone: Annotated[NonEmpty, Field(description="Title, None or Any")] | None = None
    source_branch: Branch | None = None
    target_branch: Branch | None = None
    draft: Annotated[Flag, SentAs("wip")] | None = None
    environment: NonEmpty | None = None
    deployed_after: Time | None = None
    deployed_before: Time | None = None
    iids: Iids | None = None
    created_after: Time | None = None
    created_before: Time | None = None
    updated_after: Time | None = None
    updated_before: Time | None = None
    merged_after: Annotated[Time, Only(since="19.3")] | None = None
    merged_before: Annotated[Time, Only(since="19.3")] | None = None
    not_labels: Annotated[Labels, SentAs("not[labels]")] | None = None
    not_author_username: Annotated[Username, SentAs("not[author_username]")] | None = None
    not_assignee_username: Annotated[Usernames, SentAs("not[assignee_username]")] | None = None
    not_reviewer_username: Annotated[Username, SentAs("not[reviewer_username]")] | None = None
    not_milestone: Annotated[NonEmpty, SentAs("not[milestone]")] | None = None
    count_by: (
        Literal[
            "label",
            "author",
            "assignee",
            "reviewer",
            "milestone",
            "state",
            "target_branch",
            "week",
            "month",
        ]
        | None
    ) = None
    order_by: (
        Literal[
            "created_at",
            "updated_at",
            "merged_at",
            "title",
            "priority",
            "label_priority",
            "milestone_due",
            "popularity",
        ]
        | None
    ) = None
    sort: Sort | None = None

    @model_validator(mode="before")
    @classmethod
    def _reviews_for_me(cls, given: Any) -> Any:
        # Only newer versions of GitLab know the word; all know what it means.
        if not isinstance(given, dict) or given.get("scope") != "reviews_for_me":
            return given
        if given.keys() & {"reviewer_username", "reviewer_id"}:
            raise broken_rule("all, where a reviewer is named", field="scope")
        return {**given, "scope": "all", "reviewer_username": ME}

    def request_to(self, endpoint: Endpoint, **changes: Any) -> Request:
        # Newer versions of GitLab know draft as well; all know wip.
        if self.draft is not None:
            changes["wip"] = "yes" if self.draft else "no"
        return super().request_to(endpoint, **changes)

    async def counted(self, gitlab: GitLab, by: str) -> Result:
        if by == "state" and self.state in (None, "all"):
            return await counted_by_totals(gitlab, self, "state", STATES, "merge requests")
        return await super().counted(gitlab, by)

    async def completed(self, gitlab: GitLab, answer: Answer) -> Answer:
        """Whoever asks for a reviewer wants to know who still has to review."""
        asked_for_reviewer = self.model_fields_set & {"reviewer_username", "reviewer_id"}
        return await with_review_states(gitlab, answer) if asked_for_reviewer else answer


@browse.action(
    "get",
    GET(MR),
    example=EXAMPLE,
    shows=MERGE_REQUEST,
    seldom_given="include_diverged_commits_count include_rebase_in_progress",
)
class GetMergeRequest(OfMergeRequest):
    """Read one merge request."""

    include_diverged_commits_count: Flag | None = None
    include_rebase_in_progress: Flag | None = None


@browse.action(
    "commits",
    GET(f"{MR}/commits"),
    example=EXAMPLE,
    shows=COMMIT,
)
class ListCommits(OfMergeRequest, Paged):
    """List the commits, the newest first."""


@browse.action(
    "diffs",
    GET(f"{MR}/diffs"),
    example=EXAMPLE,
    lists=False,
)
class ReadDiffs(OfMergeRequest, Paged):
    """List the changed files with their sizes, and show their diffs; with file_path those of one file."""

    file_path: FilePath | None = None
    # Above 30, GitLab 17.2 answers 500.
    per_page: Annotated[Integer, Field(ge=1, le=30)] | None = None

    @model_validator(mode="after")
    def _a_file_or_a_page(self) -> Self:
        if self.file_path is not None and (self.page is not None or self.per_page is not None):
            raise broken_rule("page and per_page only without file_path", field="file_path")
        return self

    async def run(self, gitlab: GitLab) -> Result:
        source = f"diffs of merge request !{self.merge_request_iid}"
        if self.file_path is None:
            answer = await gitlab.send(self.request())
            facts = list_page(self, answer, answer.body)
            del facts["items"]
            return diff_result(answer.body, source=source, facts=facts)
        diff = await read_file_diff(gitlab, self.request().path.removesuffix("/diffs"), self.file_path)
        if diff is None:
            raise CallFailed(self._not_changed())
        return diff_result([diff], source=source)

    def _not_changed(self) -> Failure:
        return Failure(Code.NOT_FOUND, "The merge request does not change this file.").knowing(
            missing="file_path",
            confidence="certain",
            evidence=["the list of changed files does not name it"],
            suggested_fix="Call diffs without file_path to see which files it changes.",
        )


@browse.action(
    "pipelines",
    GET(f"{MR}/pipelines"),
    example=EXAMPLE,
    shows=PIPELINE,
)
class ListPipelines(OfMergeRequest, Paged):
    """List the pipelines, the newest first."""


@browse.action(
    "approvals",
    GET(f"{MR}/approvals"),
    example=EXAMPLE,
    shows=APPROVALS,
)
class ReadApprovals(OfMergeRequest):
    """Read who approved, and how many approvals are left."""


@browse.action(
    "closes_issues",
    GET(f"{MR}/closes_issues"),
    example=EXAMPLE,
    shows=ISSUE,
)
class ListClosedIssues(OfMergeRequest, Paged):
    """List the issues that its merge closes."""


@browse.action(
    "merge_readiness",
    GET(MR),
    docs=Differs(
        "user/project/merge_requests/auto_merge/", "the page about the job, not about its first request"
    ),
    example={"project_id": "acme/shop", "merge_request_iid": 19},
    has_line=True,
)
class AssessReadiness(OfMergeRequest):
    """Everything that keeps it from merging, and what lifts each."""

    async def run_with(self, server: Server) -> Result:
        return merge_readiness(await read_merge_facts(server.gitlab, server.may_reach, self.request().path))


@browse.action(
    "review_bundle",
    GET(MR),
    docs=Differs(
        "user/project/merge_requests/reviews/", "the page about the job, not about its first request"
    ),
    example={"project_id": "acme/shop", "merge_request_iid": 6},
    has_line=True,
)
class BundleReview(OfMergeRequest):
    """All a reviewer needs: the request, its commits, open threads, approvals and diffs."""

    async def run(self, gitlab: GitLab) -> Result:
        return await read_review_bundle(gitlab, self.request().path)

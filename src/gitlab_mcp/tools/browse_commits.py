"""Commits: history, diffs, comments, statuses and signatures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from gitlab_mcp.actions.action import GET, fill
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.fields import (
    Flag,
    NonEmpty,
    Only,
    ProjectNumber,
    Ref,
    SentAs,
    Time,
    broken_rule,
)
from gitlab_mcp.actions.other_names import Instead
from gitlab_mcp.actions.result import Omission, Result
from gitlab_mcp.actions.scopes import InProject, OfCommit, Paged
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.gitlab.faults import Refused
from gitlab_mcp.results.diffs import diff_result
from gitlab_mcp.results.list_pages import list_page, next_page
from gitlab_mcp.results.shown_fields import pick_fields, shown_fields
from gitlab_mcp.workflows.counts import Countable

browse = Tool(
    "browse_commits",
    "Read commits of a repository and compare refs.",
    instead={
        "log history": "list",
        "count counts statistics stats": Instead("list", {"count_by": "author"}),
        "show": "get",
        "changes patch files": "diff",
        "status": "browse_commit_details statuses",
        "branches tags": Instead("refs"),
        "mrs": "merge_requests",
        "range compare_refs": "compare",
        "notes discussions": "browse_commit_details comments",
        "verify": "browse_commit_details signature",
    },
)

COMMIT = (
    "sha=short_id title author=author_name committed=committed_date stats"
    " | id message author_email committer_name parent_ids status last_pipeline=last_pipeline.id web_url"
)

COUNTED_BY = {"author": "author_name", "week": "created_at", "month": "created_at"}
"""Where a row has what is counted by."""

COMPARISON_TIMED_OUT = Omission(
    "files: GitLab gave up on so large a comparison",
    None,
    "compare refs that are nearer to each other",
)


@browse.action(
    "list",
    GET("/projects/{project_id}/repository/commits"),
    example={"project_id": "acme/website"},
    shows=COMMIT,
    seldom_given="all with_stats first_parent order count_by",
)
class ListCommits(InProject, Countable):
    """History of a branch, the newest first; with path, of a file or directory."""

    counts = ("commits", COUNTED_BY)

    ref_name: Ref | None = None
    path: Annotated[NonEmpty, Field(description="File or directory")] | None = None
    author: NonEmpty | None = None
    since: Time | None = None
    until: Time | None = None
    all: Annotated[Flag, Field(description="Of all branches")] | None = None
    follow: Annotated[Flag, Only(since="19.3")] | None = None
    with_stats: Flag | None = None
    first_parent: Flag | None = None
    order: Literal["default", "topo"] | None = None
    count_by: Literal["author", "week", "month"] | None = None

    def filters_not_asked_for(self) -> Mapping[str, str]:
        return {} if self.all or self.ref_name is not None else {"ref_name": "the default branch"}

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if self.all and self.ref_name is not None:
            raise broken_rule("left out where all is true", field="ref_name")
        return self

    async def run(self, gitlab: GitLab) -> Answer | Result:
        if self.count_by is not None:
            return await self.counted(gitlab, self.count_by)
        answer = await gitlab.send(self.request())
        if answer.body or self.ref_name is None or await self._ref_exists(gitlab):
            return answer
        why = "There is no branch, tag or commit of the name in ref_name."
        return Result(data={**list_page(self, answer, []), "why_empty": why})

    async def _ref_exists(self, gitlab: GitLab) -> bool:
        """GitLab lists no commits for a ref that does not exist, as if it had none."""
        path = "/projects/{project_id}/repository/commits/{sha}"
        try:
            await gitlab.get(fill(path, project_id=self.project_id, sha=self.ref_name))
        except Refused as refused:
            if refused.status == 404:
                return False
            raise
        return True


@browse.action(
    "get",
    GET("/projects/{project_id}/repository/commits/{sha}"),
    example={"project_id": "acme/website", "sha": "dbc35632b7b69fd93edcc32d714d59617c7b5790"},
    shows=COMMIT,
    seldom_given="stats",
)
class GetCommit(OfCommit):
    """Read one commit."""

    stats: Flag | None = None


@browse.action(
    "diff",
    GET("/projects/{project_id}/repository/commits/{sha}/diff"),
    example={"project_id": "acme/website", "sha": "dbc35632b7b69fd93edcc32d714d59617c7b5790"},
    lists=False,
)
class CommitDiff(OfCommit, Paged):
    """What a commit changed: the files, then the diff of each."""

    async def run(self, gitlab: GitLab) -> Result:
        answer = await gitlab.send(self.request())
        following = next_page(answer.headers)
        facts = {} if following is None else {"next_page": following}
        return diff_result(answer.body, source=f"diff of commit {self.sha}", facts=facts)


@browse.action(
    "compare",
    GET("/projects/{project_id}/repository/compare"),
    example={"project_id": "acme/website", "from_ref": "main", "to_ref": "feature/login"},
    seldom_given="straight from_project_id diffs",
    has_line=True,
)
class Compare(InProject):
    """Commits and diffs that to_ref has beyond from_ref; straight also shows what it lacks."""

    from_ref: Annotated[NonEmpty, SentAs("from")]
    to_ref: Annotated[NonEmpty, SentAs("to")]
    straight: Flag | None = None
    diffs: Annotated[Flag, Field(description="false: commits and file names only")] | None = None
    from_project_id: ProjectNumber | None = None

    async def run(self, gitlab: GitLab) -> Result:
        body = (await gitlab.send(self.request(diffs=None))).body
        fields = shown_fields("sha=short_id title author=author_name").in_a_list
        facts: dict[str, Any] = {
            "commits": [pick_fields(commit, fields) for commit in reversed(body["commits"])],
            "web_url": body.get("web_url"),
        }
        if body.get("compare_same_ref"):
            facts["same_ref"] = True
        source = f"diff of {self.to_ref} against {self.from_ref}"
        if self.diffs is False:
            result = Result(data={**facts, "files": [diff["new_path"] for diff in body["diffs"]]})
        else:
            result = diff_result(body["diffs"], source=source, facts=facts)
        return (
            replace(result, truncated=(*result.truncated, COMPARISON_TIMED_OUT))
            if body.get("compare_timeout")
            else result
        )


@browse.action(
    "refs",
    GET("/projects/{project_id}/repository/commits/{sha}/refs"),
    example={"project_id": "acme/website", "sha": "dbc35632b7b69fd93edcc32d714d59617c7b5790"},
    shows="type name",
    seldom_given="type",
    has_line=True,
)
class CommitRefs(OfCommit, Paged):
    """Branches and tags that hold a commit."""

    type: Literal["branch", "tag", "all"] | None = None


@browse.action(
    "merge_requests",
    GET("/projects/{project_id}/repository/commits/{sha}/merge_requests"),
    example={"project_id": "acme/website", "sha": "dbc35632b7b69fd93edcc32d714d59617c7b5790"},
    shows="iid title state author=author.username source_branch target_branch web_url",
)
class CommitMergeRequests(OfCommit, Paged):
    """Merge requests that brought a commit."""

"""What is seldom asked about a merge request: its versions, people, rules and order of merging."""

from __future__ import annotations

from gitlab_mcp.actions.action import GET, Role
from gitlab_mcp.actions.exchange import GitLab
from gitlab_mcp.actions.fields import (
    Id,
)
from gitlab_mcp.actions.result import Result
from gitlab_mcp.actions.scopes import OfMergeRequest, Paged
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.results.diffs import diff_result
from gitlab_mcp.results.shown_fields import pick_fields, shown_fields

browse = Tool(
    "browse_merge_request_details",
    "Read what is seldom asked about a merge request.",
    toolset="delivery",
    also=("merge_train", "context_commit", "merge_request_dependency"),
)


MR = "/projects/{project_id}/merge_requests/{merge_request_iid}"


EXAMPLE = {"project_id": "acme/website", "merge_request_iid": 1}


COMMIT = "id=short_id title author=author_name created_at | message"


ISSUE = "iid title state labels assignees=assignees.username web_url"


VERSION = "id head_commit_sha real_size created_at | base_commit_sha start_commit_sha"


DEPENDENCY = (
    "id iid=blocking_merge_request.iid title=blocking_merge_request.title"
    " state=blocking_merge_request.state project_id=blocking_merge_request.project_id"
    " web_url=blocking_merge_request.web_url"
)


@browse.action(
    "versions",
    GET(f"{MR}/versions"),
    example=EXAMPLE,
    shows=VERSION,
    moved_from="browse_merge_requests",
    has_line=True,
)
class ListVersions(OfMergeRequest, Paged):
    """List what was pushed, one version for each push."""


@browse.action(
    "version",
    GET(f"{MR}/versions/{{version_id}}"),
    example={**EXAMPLE, "version_id": 1},
    moved_from="browse_merge_requests",
)
class ReadVersion(OfMergeRequest):
    """Read one version with all its diffs, also those that are collapsed elsewhere."""

    version_id: Id

    async def run(self, gitlab: GitLab) -> Result:
        body = (await gitlab.send(self.request())).body
        facts = {
            **pick_fields(body, shown_fields(VERSION).alone),
            "commits": [
                pick_fields(commit, shown_fields(COMMIT).in_a_list) for commit in body.get("commits") or ()
            ],
        }
        source = f"version {self.version_id} of merge request !{self.merge_request_iid}"
        return diff_result(body.get("diffs") or (), source=source, facts=facts)


@browse.action(
    "participants",
    GET(f"{MR}/participants"),
    example=EXAMPLE,
    shows="id username name",
    moved_from="browse_merge_requests",
)
class ListParticipants(OfMergeRequest, Paged):
    """List who took part."""


@browse.action(
    "reviewers",
    GET(f"{MR}/reviewers"),
    example=EXAMPLE,
    shows="id=user.id username=user.username state created_at",
    moved_from="browse_merge_requests",
)
class ListReviewers(OfMergeRequest, Paged):
    """List the reviewers and what each has said."""


@browse.action(
    "approval_state",
    GET(f"{MR}/approval_state"),
    example={"project_id": "acme/shop", "merge_request_iid": 6},
    role=Role.REPORTER,
    moved_from="browse_merge_requests",
    has_line=True,
)
class ReadApprovalState(OfMergeRequest):
    """Read the approval rules, and by whom each is met."""


@browse.action(
    "related_issues",
    GET(f"{MR}/related_issues"),
    example=EXAMPLE,
    shows=ISSUE,
    moved_from="browse_merge_requests",
)
class ListRelatedIssues(OfMergeRequest, Paged):
    """List the issues that it mentions or closes."""


@browse.action(
    "context_commits",
    GET(f"{MR}/context_commits"),
    example=EXAMPLE,
    shows=COMMIT,
    moved_from="browse_merge_requests",
    has_line=True,
)
class ListContextCommits(OfMergeRequest, Paged):
    """List merged commits that were added to help reviewers."""


@browse.action(
    "dependencies",
    GET(f"{MR}/blocks"),
    example={"project_id": "acme/shop", "merge_request_iid": 6},
    shows=DEPENDENCY,
    role=Role.REPORTER,
    moved_from="browse_merge_requests",
)
class ListDependencies(OfMergeRequest, Paged):
    """List the merge requests that must be merged before this one."""


@browse.action(
    "merge_train",
    GET("/projects/{project_id}/merge_trains/merge_requests/{merge_request_iid}"),
    example=EXAMPLE,
    shows="id status target_branch pipeline_id=pipeline.id pipeline=pipeline.status created_at merged_at",
    role=Role.DEVELOPER,
    moved_from="browse_merge_requests",
)
class ReadMergeTrain(OfMergeRequest):
    """Read where it stands on a merge train."""

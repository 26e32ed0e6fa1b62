"""Scopes: what an action is about, as base classes with the fields that name it.

`In…` is the place something is looked for or made in, `Of…` is one thing, `With…` is a project or group of which the
group alone needs a paid feature. A scope that only one tool uses is declared in that tool's file.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Self

from gitlab_mcp.actions.action import Action, Endpoint, fill
from gitlab_mcp.actions.ask import Look
from gitlab_mcp.actions.exchange import Request
from gitlab_mcp.actions.fields import (
    FULL_SHA,
    AlsoCalled,
    CommitOrRef,
    GroupId,
    HeadSha,
    Id,
    Iid,
    IssueIid,
    JobId,
    MergeRequestIid,
    MilestoneId,
    Needs,
    NonEmpty,
    Page,
    PerPage,
    PipelineId,
    ProjectId,
    TagName,
    Within,
)
from gitlab_mcp.actions.names import fields_that_name


class Paged(Action):
    """A list that GitLab answers page by page. To be combined: `class ListBranches(InProject, Paged)`."""

    page: Page | None = None
    per_page: PerPage | None = None

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        super().__pydantic_init_subclass__(**kwargs)
        # pydantic puts the fields of a base class first; the page is listed last.
        for name in ("page", "per_page"):
            cls.model_fields[name] = cls.model_fields.pop(name)


class InProject(Action):
    project_id: ProjectId


class InGroup(Action):
    group_id: GroupId


class InProjectOrGroup(Action):
    project_id: ProjectId | None = None
    group_id: GroupId | None = None


class InProjectOrGroupOrOwn(InProjectOrGroup):
    """Without a place GitLab lists what the caller created, whomever the other filters name, unless `scope` says
    otherwise. Whoever asks for a person or a text means everybody's."""

    def filters_not_asked_for(self) -> Mapping[str, str]:
        given, defaults = self.model_fields_set, super().filters_not_asked_for()
        if given & {"project_id", "group_id", "scope"}:
            return defaults
        people = {
            name for name, mark in fields_that_name(type(self)).items() if mark.kind in ("user", "username")
        }
        return {"scope": "all" if given & {*people, "search"} else "created_by_me", **defaults}

    def request_to(self, endpoint: Endpoint, **changes: Any) -> Request:
        everybodys = {"scope": "all"} if self.filters_not_asked_for().get("scope") == "all" else {}
        return super().request_to(endpoint, **{**everybodys, **changes})


class InGroupOrInstance(Action):
    """In the whole instance where no group is given. On GitLab.com only a top-level group will do."""

    group_id: GroupId | None = None


class OfIssue(InProject):
    issue_iid: IssueIid


class OfMergeRequest(InProject):
    merge_request_iid: MergeRequestIid


class AtHead(OfMergeRequest):
    """Acts on the last commit of the source branch. Where no `sha` is given it is the one that is there now: a person
    then confirms that commit, and GitLab refuses where the branch moved. Groups made on GitLab 19.3 demand it."""

    sha: HeadSha | None = None

    async def pinned(self, ask: Look) -> Self:
        return self if self.sha is not None else self.model_copy(update=await self._head(ask))

    async def _head(self, ask: Look) -> Mapping[str, str]:
        path = fill(
            "/projects/{project}/merge_requests/{iid}", project=self.project_id, iid=self.merge_request_iid
        )
        found = await ask.look(path)
        sha = found.get("sha") if isinstance(found, Mapping) else None
        return {"sha": sha} if isinstance(sha, str) and FULL_SHA.fullmatch(sha) else {}


class OfIssueOrMergeRequest(InProject):
    issue_iid: IssueIid | None = None
    merge_request_iid: MergeRequestIid | None = None


class OfCommit(InProject):
    sha: CommitOrRef


class OfPipeline(InProject):
    pipeline_id: PipelineId


class OfJob(InProject):
    job_id: JobId


class OfSchedule(InProject):
    schedule_id: Annotated[Id, Within()]


class OfTag(InProject):
    tag_name: TagName


class OfRelease(OfTag):
    """GitLab knows a release by its tag."""


class OfProtectedTag(InProject):
    name: Annotated[NonEmpty, AlsoCalled("tag", "tag_name")]


class OfEpic(InGroup):
    epic_iid: Iid


class OfMilestone(InProjectOrGroup):
    milestone_id: MilestoneId


class WithProtectedBranches(InProjectOrGroup):
    group_id: Annotated[GroupId, Needs("group_protected_branches")] | None = None


class OfProtectedBranch(WithProtectedBranches):
    name: Annotated[NonEmpty, AlsoCalled("branch", "branch_name")]


class WithProtectedEnvironments(InProjectOrGroup):
    group_id: Annotated[GroupId, Needs("group_protected_environments")] | None = None


class WithPushRules(InProjectOrGroup):
    group_id: Annotated[GroupId, Needs("push_rules_group")] | None = None


class WithWebhooks(InProjectOrGroup):
    group_id: Annotated[GroupId, Needs("group_webhooks")] | None = None


class OfWebhook(WithWebhooks):
    hook_id: Id


class WithWiki(InProjectOrGroup):
    group_id: Annotated[GroupId, Needs("group_wikis")] | None = None


class OfWikiPage(WithWiki):
    slug: NonEmpty

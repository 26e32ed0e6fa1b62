"""Search in all of GitLab, in a group or in a project."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from gitlab_mcp.actions.action import GET, Action
from gitlab_mcp.actions.action_facts import Differs
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.fields import (
    Expects,
    Flag,
    GroupId,
    NeededEverywhere,
    Needs,
    Only,
    Page,
    PerPage,
    ProjectId,
    Ref,
    broken_rule,
)
from gitlab_mcp.actions.other_names import Instead
from gitlab_mcp.actions.result import Result, Text
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.gitlab.faults import Refused
from gitlab_mcp.results.list_pages import list_page
from gitlab_mcp.workflows.repository.group_code_search import (
    MOST_HITS,
    excerpt,
    groups_are_not_searched,
    search_projects_of_group,
)

find = Tool(
    "search",
    "Search everywhere, in a group_id or in a project_id.",
    instead={
        "blobs files blob file": "code",
        "mrs mr pull_requests": "merge_requests",
        "wiki_blobs wikis wiki_pages": "wiki",
        "comments": "notes",
        "repositories repos repository": "projects",
        "people user": "users",
        "snippet_titles": "snippets",
        "epics": Instead("browse_epics list", needs=("group_id", "search")),
        "labels": Instead("browse_labels list", needs=("search",)),
        "branches": Instead("browse_branches list", needs=("project_id", "search")),
        "groups": Instead("browse_project_details namespaces", needs=("search",)),
        "all everything global": Instead(
            "",
            advice="Name what to search for: projects, issues, merge_requests, code, commits, "
            "notes, wiki, milestones, users or snippets.",
        ),
    },
)

EVERYWHERE = GET("/search", "/groups/{group_id}/search", "/projects/{project_id}/search")

# GitLab finds nothing for a single character, and everything for a blank.
SearchText = Annotated[
    str,
    Field(min_length=2, max_length=4096, pattern=r"\S\s*\S"),
    Expects("text of at least 2 characters that are no blanks"),
]
IncludeArchived = Annotated[Flag, Only(since="19.3")]
AdvancedGroup = Annotated[GroupId, Needs("advanced_search_scopes")]

PAGE = Differs("api/search/", "a section each for the instance, a group and a project")


class ScopedSearch(Action):
    """The fields of every search. `scope` is GitLab's name for what is searched."""

    scope: ClassVar[str]

    search: SearchText
    include_archived: IncludeArchived | None = None
    page: Page | None = None
    per_page: PerPage | None = None

    async def run(self, gitlab: GitLab) -> Answer | Result:
        return await gitlab.send(self.request(scope=self.scope))


class SearchInGroupOrProject(ScopedSearch):
    group_id: GroupId | None = None
    project_id: ProjectId | None = None


class SearchInRepository(ScopedSearch):
    """In more than one project this needs GitLab's advanced search."""

    group_id: AdvancedGroup | None = None
    project_id: ProjectId | None = None
    ref: Ref | None = None

    def filters_not_asked_for(self) -> Mapping[str, str]:
        return {} if self.ref is not None else {"ref": "the default branch"}

    @model_validator(mode="after")
    def _a_ref_of_one_project(self) -> Self:
        if self.ref is not None and self.project_id is None:
            raise broken_rule("left out where project_id is", field="ref")
        return self


@find.action(
    "projects",
    GET("/search", "/groups/{group_id}/search"),
    docs=PAGE,
    example={"search": "shop"},
    shows="id path_with_namespace description last_activity_at web_url",
    seldom_given="include_archived confidential",
)
class SearchProjects(ScopedSearch):
    """Projects by name, path or description."""

    scope = "projects"

    group_id: GroupId | None = None


@find.action(
    "issues",
    EVERYWHERE,
    docs=PAGE,
    example={"search": "login"},
    shows="project_id iid title state author=author.username updated_at web_url",
    switch="issues",
    seldom_given="include_archived confidential",
)
class SearchIssues(SearchInGroupOrProject):
    """Issues by words of their title or description."""

    scope = "issues"

    state: Literal["opened", "closed", "all"] | None = None
    confidential: Flag | None = None


@find.action(
    "merge_requests",
    EVERYWHERE,
    docs=PAGE,
    example={"search": "cart"},
    shows="project_id iid title state author=author.username source_branch updated_at web_url",
    switch="merge_requests",
    seldom_given="include_archived confidential",
)
class SearchMergeRequests(SearchInGroupOrProject):
    """Merge requests by words of their title or description."""

    scope = "merge_requests"

    state: Literal["opened", "closed", "merged", "all"] | None = None


@find.action(
    "code",
    EVERYWHERE,
    docs=PAGE,
    example={"project_id": "acme/website", "search": "route_1"},
    switch="repository",
    seldom_given="include_archived confidential",
)
class SearchCode(SearchInRepository):
    """Lines of files; `filename:`, `path:` and `extension:` in the words narrow it.

    In a group GitLab searches code only where it has advanced search. Elsewhere its projects are searched one by one,
    those that changed last first, twenty in a call."""

    scope = "blobs"

    group_id: Annotated[GroupId, NeededEverywhere("advanced_search_scopes")] | None = None

    async def run(self, gitlab: GitLab) -> Result:
        if self.group_id is not None:
            # What is counted are the projects, should it come to that.
            gitlab.report(0, None, "groups")
        try:
            answer = await gitlab.send(self.request(scope=self.scope))
        except Refused as refused:
            if self.group_id is None or not groups_are_not_searched(refused):
                raise
            return await search_projects_of_group(
                gitlab,
                self.group_id,
                self.search,
                page=self.page or 1,
                most_hits=self.per_page or MOST_HITS,
                archived=bool(self.include_archived),
            )
        why = "Nothing matches, or this token may not read the code: guests find nothing."
        return _excerpts(self, answer, "code found", why)


@find.action(
    "commits",
    EVERYWHERE,
    docs=PAGE,
    example={"project_id": "acme/shop", "search": "coupons"},
    shows="project_id sha=short_id title author=author_name committed=committed_date web_url",
    switch="repository",
    seldom_given="include_archived confidential",
)
class SearchCommits(SearchInRepository):
    """Commits by words of their message."""

    scope = "commits"


@find.action(
    "notes",
    EVERYWHERE,
    docs=PAGE,
    example={"project_id": "acme/shop", "search": "integer"},
    shows="project_id noteable_type noteable_iid id author=author.username created_at body",
    seldom_given="include_archived confidential",
)
class SearchNotes(ScopedSearch):
    """Comments by their words."""

    scope = "notes"

    group_id: AdvancedGroup | None = None
    project_id: ProjectId | None = None


@find.action(
    "wiki",
    EVERYWHERE,
    docs=PAGE,
    example={"project_id": "acme/shop", "search": "install"},
    switch="wiki",
    seldom_given="include_archived confidential",
)
class SearchWiki(ScopedSearch):
    """Lines of wiki pages."""

    scope = "wiki_blobs"

    group_id: AdvancedGroup | None = None
    project_id: ProjectId | None = None

    async def run(self, gitlab: GitLab) -> Result:
        answer = await gitlab.send(self.request(scope=self.scope))
        return _excerpts(self, answer, "wiki pages found", None)


@find.action(
    "milestones",
    EVERYWHERE,
    docs=PAGE,
    example={"search": "v1"},
    shows="project_id group_id id iid title state due_date web_url",
    switch="issues or merge_requests",
    seldom_given="include_archived confidential",
)
class SearchMilestones(SearchInGroupOrProject):
    """Milestones by words of their title or description."""

    scope = "milestones"


@find.action(
    "users",
    EVERYWHERE,
    docs=PAGE,
    example={"search": "bob"},
    shows="id username name state",
    seldom_given="include_archived confidential",
)
class SearchUsers(SearchInGroupOrProject):
    """People by name or username."""

    scope = "users"


@find.action(
    "snippets",
    GET("/search"),
    example={"search": "shop"},
    shows="id title file_name author=author.username visibility web_url",
    seldom_given="include_archived confidential",
)
class SearchSnippets(ScopedSearch):
    """Snippets by words of their title."""

    scope = "snippet_titles"


def _excerpts(action: Action, answer: Answer, source: str, why_empty: str | None) -> Result:
    """The places of the hits as data, their lines as text."""
    in_one_project = "project_id" in action.model_fields_set
    items = [_place(hit, in_one_project) for hit in answer.body]
    data = list_page(action, answer, items)
    if not items:
        return Result(data={**data, "why_empty": why_empty or data["why_empty"]})
    return Result(data=data, text=Text("\n".join(map(excerpt, answer.body)), source))


def _place(hit: Mapping[str, Any], in_one_project: bool) -> dict[str, Any]:
    place = {"path": hit["path"], "start_line": hit["startline"], "ref": hit["ref"]}
    return place if in_one_project else {"project_id": hit["project_id"], **place}

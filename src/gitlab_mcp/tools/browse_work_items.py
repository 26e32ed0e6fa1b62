"""Work items: tasks, issues, incidents, objectives, key results, epics, and what is under them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from gitlab_mcp.actions.action import POST, Role
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.fields import Flag, Iid, Labels, NonEmpty, PerPage, Search, Username, Usernames
from gitlab_mcp.actions.other_names import Instead
from gitlab_mcp.actions.result import Omission, Result
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.gitlab.graphql import value_at
from gitlab_mcp.results.shown_fields import pick_fields, shown_fields
from gitlab_mcp.workflows.planning.work_item_scopes import InPlace, OfWorkItem
from gitlab_mcp.workflows.planning.work_items import (
    CHILDREN,
    LIST_QUERIES,
    TYPE_QUERIES,
    WorkItemId,
    WorkItemType,
    as_rest,
    global_id,
    node_by_id,
    node_by_iid,
    type_name,
    with_paid_widgets,
)

browse = Tool(
    "browse_work_items",
    "Read work items: tasks, objectives, key results, incidents, epics, and what is under them.",
    toolset="planning",
    also=("task", "subtask", "checklist", "okr", "objective", "key result", "child item"),
    instead={
        "list": Instead("children", only_with="parent_iid", renames={"parent_iid": "work_item_iid"}),
        "list_children list_tasks subtasks tasks hierarchy": "children",
        "links list_links relations parent": Instead("get"),
    },
)

IN_A_LIST = (
    "iid type title state place confidential:mark assignees=assignees.username labels milestone=milestone.title"
    " start_date due_date parent(iid type title) has_children:mark created_at web_url"
)
ALONE = (
    "iid type title state confidential:mark assignees=assignees.username labels milestone=milestone.title"
    " start_date due_date parent(iid type title place) weight health_status progress iteration=iteration.title"
    " discussion_locked:mark web_url | id place description author=author.username created_at updated_at closed_at"
    " children(iid type title state) links(link_type iid type title state place) time_estimate total_time_spent"
)
_DOCS = "user/work_items/"
_PAGE = 20

Cursor = Annotated[NonEmpty, Field(description="next_cursor of the page before")]


@browse.action(
    "list",
    POST("/graphql"),
    docs=_DOCS,
    example={"project_id": "acme/website", "type": "task", "state": "opened"},
    switch="issues",
    role=Role.GUEST,
    lists=True,
)
class ListWorkItems(InPlace):
    """List work items of a project, or of a group and all below it."""

    type: WorkItemType | None = None
    state: Literal["opened", "closed", "all"] | None = None
    assignee_usernames: Usernames | None = None
    author_username: Username | None = None
    labels: Labels | None = None
    milestone: NonEmpty | None = None
    confidential: Flag | None = None
    search: Search | None = None
    sort: Literal["created_desc", "created_asc", "updated_desc", "updated_asc"] | None = None
    after: Cursor | None = None
    per_page: PerPage | None = None

    async def run(self, gitlab: GitLab) -> Result:
        place = self.place
        variables = {
            "path": await self.path(gitlab),
            "first": self.per_page or _PAGE,
            "after": self.after,
            "state": self.state,
            "types": [self.type.upper()] if self.type else None,
            "search": self.search,
            "labels": self.labels,
            "assignees": self.assignee_usernames,
            "author": self.author_username,
            "milestone": [self.milestone] if self.milestone else None,
            "confidential": self.confidential,
            "sort": self.sort,
        }
        asked = {name: value for name, value in variables.items() if value is not None}
        data = await gitlab.graphql(LIST_QUERIES[place], asked)
        there = value_at(data, place)
        if there["workItems"] is None:
            raise CallFailed(_not_for_groups())
        return _page(there["workItems"])


@browse.action(
    "get",
    POST("/graphql"),
    docs=_DOCS,
    example={"project_id": "acme/website", "work_item_iid": 6},
    shows=ALONE,
    switch="issues",
    role=Role.GUEST,
)
class GetWorkItem(InPlace):
    """Read one with its description, parent, children and links."""

    named_by = ("project_id+work_item_iid", "group_id+work_item_iid", "global_id")

    work_item_iid: Iid | None = None
    global_id: WorkItemId | None = None

    async def run(self, gitlab: GitLab) -> Answer:
        if self.global_id is not None:
            node = await node_by_id(gitlab, global_id(self.global_id))
        else:
            node = await node_by_iid(gitlab, await self.path(gitlab), self.work_item_iid or 0)
        shown = await with_paid_widgets(gitlab, node)
        children, total = shown.get("children") or (), shown.get("children_total") or 0
        left = total - len(children)
        more = Omission("children", left, "browse_work_items children lists them page by page.")
        return Answer(200, body=shown, left_out=(more,) if left > 0 else ())


@browse.action(
    "children",
    POST("/graphql"),
    docs=_DOCS,
    example={"project_id": "acme/website", "work_item_iid": 6},
    switch="issues",
    role=Role.GUEST,
    lists=True,
)
class ListChildren(OfWorkItem):
    """List what is under a work item, in its order."""

    after: Cursor | None = None
    per_page: PerPage | None = None

    async def run(self, gitlab: GitLab) -> Result:
        variables = {"id": await self.gid(gitlab), "first": self.per_page or _PAGE, "after": self.after}
        widgets = value_at(await gitlab.graphql(CHILDREN, variables), "workItem", "widgets")
        found = next((each["children"] for each in widgets if each.get("children")), None)
        if found is None:
            return Result(
                data={"items": [], "total": 0, "why_empty": "This type of work item has no children."}
            )
        return _page(found)


@browse.action(
    "types",
    POST("/graphql"),
    docs=_DOCS,
    example={"project_id": "acme/website"},
    role=Role.GUEST,
    lists=True,
)
class ListTypes(InPlace):
    """List the types there are here, and which widgets (fields) each has."""

    async def run(self, gitlab: GitLab) -> Result:
        data = await gitlab.graphql(TYPE_QUERIES[self.place], {"path": await self.path(gitlab)})
        types = value_at(data, self.place, "workItemTypes")["nodes"]
        items = [
            {
                "type": type_name(each["name"]),
                "widgets": [widget["type"].lower() for widget in each["widgetDefinitions"] or ()],
            }
            for each in types
        ]
        return Result(data={"items": items, "total": len(items)})


def _page(found: Mapping[str, Any]) -> Result:
    fields = shown_fields(IN_A_LIST).in_a_list
    page = found["pageInfo"]
    return Result(
        data={
            "items": [pick_fields(as_rest(node), fields) for node in found["nodes"] if node],
            "total": found["count"],
            **({"next_cursor": page["endCursor"]} if page["hasNextPage"] else {}),
        }
    )


def _not_for_groups() -> Failure:
    return Failure(
        Code.FEATURE_UNAVAILABLE, "This GitLab lists the work items of projects only, not those of a group."
    ).knowing(
        confidence="likely",
        evidence=["GitLab answered null to the work items of the group, as versions before 18 do"],
        suggested_fix="Ask for one of its projects with project_id, or use browse_issues list with group_id.",
    )

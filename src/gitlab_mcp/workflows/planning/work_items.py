"""Work items (tasks, issues, incidents, objectives, key results, epics) as GraphQL knows them, in the words of REST.

GitLab's REST form of them is behind a flag, so that GraphQL is the only way. Every document here is understood by both
editions: what only the Enterprise Edition knows is asked for where a licence shows it (`PAID_WIDGETS`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Annotated, Any, Final, Literal, get_args

from pydantic import Field

from gitlab_mcp.actions.action import fill
from gitlab_mcp.actions.exchange import GitLab, Request
from gitlab_mcp.actions.fields import Anywhere, Id, any_spelling
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.gitlab.address import GRAPHQL_PATH
from gitlab_mcp.gitlab.concurrently import all_at_once
from gitlab_mcp.gitlab.faults import Withheld
from gitlab_mcp.gitlab.graphql import numeric_id, value_at

_Type = Literal[
    "issue",
    "task",
    "incident",
    "epic",
    "objective",
    "key_result",
    "ticket",
    "requirement",
    "test_case",
]
WorkItemType = Annotated[_Type, any_spelling(*get_args(_Type))]

WorkItemId = Annotated[Id, Anywhere("work item"), Field(description="The global number")]
"""REST has no address at which its project could be looked up."""

_REFERENCE: Final = "id iid title state workItemType { name } namespace { fullPath }"
_IN_A_LIST: Final = f"""{_REFERENCE} confidential createdAt webUrl author {{ id username name }}
  widgets {{ type
    ... on WorkItemWidgetAssignees {{ assignees {{ nodes {{ id username name }} }} }}
    ... on WorkItemWidgetLabels {{ labels {{ nodes {{ id title }} }} }}
    ... on WorkItemWidgetMilestone {{ milestone {{ id title }} }}
    ... on WorkItemWidgetStartAndDueDate {{ startDate dueDate }}
    ... on WorkItemWidgetHierarchy {{ hasChildren parent {{ {_REFERENCE} }} }}
  }}"""
_ITEM: Final = f"""{_REFERENCE} confidential createdAt updatedAt closedAt webUrl
  author {{ id username name }}
  widgets {{ type
    ... on WorkItemWidgetAssignees {{ assignees {{ nodes {{ id username name }} }} }}
    ... on WorkItemWidgetLabels {{ labels {{ nodes {{ id title }} }} }}
    ... on WorkItemWidgetMilestone {{ milestone {{ id title }} }}
    ... on WorkItemWidgetStartAndDueDate {{ startDate dueDate }}
    ... on WorkItemWidgetDescription {{ description }}
    ... on WorkItemWidgetHierarchy {{
      parent {{ {_REFERENCE} }} children(first: 100) {{ count nodes {{ {_REFERENCE} }} }}
    }}
    ... on WorkItemWidgetLinkedItems {{
      linkedItems(first: 100) {{ nodes {{ linkType workItem {{ {_REFERENCE} }} }} }}
    }}
    ... on WorkItemWidgetTimeTracking {{ timeEstimate totalTimeSpent }}
    ... on WorkItemWidgetNotes {{ discussionLocked }}
  }}"""

BY_IID: Final = f"""query($path: ID!, $iid: String!) {{
  namespace(fullPath: $path) {{ workItem(iid: $iid) {{ {_ITEM} }} }}
}}"""
BY_ID: Final = f"query($id: WorkItemID!) {{ workItem(id: $id) {{ {_ITEM} }} }}"
PAID_WIDGETS: Final = """query($id: WorkItemID!) { workItem(id: $id) { widgets { type
    ... on WorkItemWidgetWeight { weight }
    ... on WorkItemWidgetHealthStatus { healthStatus }
    ... on WorkItemWidgetProgress { progress }
    ... on WorkItemWidgetIteration { iteration { id title startDate dueDate } }
  } } }"""
CHILDREN: Final = f"""query($id: WorkItemID!, $first: Int, $after: String) {{ workItem(id: $id) {{ widgets {{
    ... on WorkItemWidgetHierarchy {{ children(first: $first, after: $after) {{
      count nodes {{ {_IN_A_LIST} }} pageInfo {{ endCursor hasNextPage }}
    }} }}
  }} }} }}"""
REFERENCES: Final = f"""query($path: ID!, $iid: String!) {{
  namespace(fullPath: $path) {{ workItem(iid: $iid) {{ {_REFERENCE} }} }}
}}"""


def _list_query(place: str) -> str:
    below = ", includeDescendants: true" if place == "group" else ""
    return f"""query($path: ID!, $first: Int, $after: String, $state: IssuableState, $types: [IssueType!],
  $search: String, $labels: [String!], $assignees: [String!], $author: String, $milestone: [String!],
  $confidential: Boolean, $sort: WorkItemSort) {{
  {place}(fullPath: $path) {{
    workItems(first: $first, after: $after, state: $state, types: $types, search: $search, labelName: $labels,
      assigneeUsernames: $assignees, authorUsername: $author, milestoneTitle: $milestone,
      confidential: $confidential, sort: $sort{below}) {{
      count nodes {{ {_IN_A_LIST} }} pageInfo {{ endCursor hasNextPage }}
    }}
  }}
}}"""


def _types_query(place: str) -> str:
    return f"""query($path: ID!) {{ {place}(fullPath: $path) {{
  workItemTypes {{ nodes {{ id name widgetDefinitions {{ type }} }} }}
}} }}"""


LIST_QUERIES: Final[Mapping[str, str]] = {place: _list_query(place) for place in ("project", "group")}
TYPE_QUERIES: Final[Mapping[str, str]] = {place: _types_query(place) for place in ("project", "group")}


def _mutation(name: str, shows: str = f"workItem {{ {_ITEM} }}") -> str:
    kind = name[0].upper() + name[1:]
    return f"mutation($input: {kind}Input!) {{ {name}(input: $input) {{ errors {shows} }} }}"


CREATE: Final = _mutation("workItemCreate")
UPDATE: Final = _mutation("workItemUpdate")
CONVERT: Final = _mutation("workItemConvert")
DELETE: Final = _mutation("workItemDelete", "")
ADD_LINKS: Final = _mutation("workItemAddLinkedItems")
REMOVE_LINKS: Final = _mutation("workItemRemoveLinkedItems")
REORDER: Final = (
    "mutation($input: workItemsHierarchyReorderInput!) "
    "{ workItemsHierarchyReorder(input: $input) { errors workItem { id } } }"
)
"""Since 17.3. Before, `UPDATE` takes the neighbour."""

_PAID_TYPES: Final = frozenset({"epic", "objective", "key_result"})
_PAID: Final = frozenset({"WEIGHT", "HEALTH_STATUS", "PROGRESS", "ITERATION"})
FOUND_AGAIN: Final = "as_rest"
"""The member of a made-up node that holds the work item as it was found by looking, in the words of REST."""


def global_id(number: int | str) -> str:
    return f"gid://gitlab/WorkItem/{number}"


def type_name(name: str) -> str:
    """`key_result` of GitLab's `Key Result`."""
    return name.lower().replace(" ", "_")


def as_rest(node: Mapping[str, Any]) -> dict[str, Any]:
    """A work item of GraphQL with the names and forms that REST has for issues."""
    if FOUND_AGAIN in node:
        return dict(node[FOUND_AGAIN])
    shown = {
        **_reference(node),
        "confidential": node.get("confidential"),
        "author": _person(node.get("author")),
        "created_at": node.get("createdAt"),
        "updated_at": node.get("updatedAt"),
        "closed_at": node.get("closedAt"),
        "web_url": node.get("webUrl"),
    }
    for widget in node.get("widgets") or ():
        shown |= _widget(widget)
    return shown


def widget_types(node: Mapping[str, Any]) -> frozenset[str]:
    return frozenset(str(widget.get("type")) for widget in node.get("widgets") or ())


async def with_paid_widgets(gitlab: GitLab, node: Mapping[str, Any]) -> dict[str, Any]:
    """The work item as in REST, with what a licence adds. GitLab lists a paid widget only where it is paid for."""
    shown = as_rest(node)
    if widget_types(node) & _PAID:
        found = value_at(await gitlab.graphql(PAID_WIDGETS, {"id": node["id"]}), "workItem", "widgets")
        for widget in found:
            shown |= _widget(widget)
    return shown


def _reference(node: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": numeric_id(node["id"]),
        "iid": int(node["iid"]),
        "type": type_name(node["workItemType"]["name"]),
        "title": node["title"],
        "state": "closed" if node["state"] == "CLOSED" else "opened",
        "place": (node.get("namespace") or {}).get("fullPath"),
    }


def _widget(widget: Mapping[str, Any]) -> dict[str, Any]:
    shown: dict[str, Any] = {}
    if "assignees" in widget:
        shown["assignees"] = [_person(each) for each in _nodes(widget["assignees"])]
    if "labels" in widget:
        shown["labels"] = [each["title"] for each in _nodes(widget["labels"])]
        shown["label_ids"] = {each["title"]: each["id"] for each in _nodes(widget["labels"])}
    if "milestone" in widget:
        shown["milestone"] = _titled(widget["milestone"])
    if "iteration" in widget:
        shown["iteration"] = _titled(widget["iteration"])
    if "linkedItems" in widget:
        shown["links"] = [
            {"link_type": each["linkType"], **_reference(each["workItem"])}
            for each in _nodes(widget["linkedItems"])
            if each["workItem"]
        ]
    if "parent" in widget:
        shown["parent"] = _reference(widget["parent"]) if widget["parent"] else None
    if "children" in widget:
        shown["children"] = [_reference(each) for each in _nodes(widget["children"])]
        shown["children_total"] = (widget["children"] or {}).get("count")
    if "hasChildren" in widget:
        shown["has_children"] = widget["hasChildren"]
    if "healthStatus" in widget:
        shown["health_status"] = _HEALTH.get(widget["healthStatus"], widget["healthStatus"])
    return shown | {ours: widget[theirs] for theirs, ours in _PLAIN.items() if theirs in widget}


_PLAIN: Final[Mapping[str, str]] = {
    "startDate": "start_date",
    "dueDate": "due_date",
    "description": "description",
    "timeEstimate": "time_estimate",
    "totalTimeSpent": "total_time_spent",
    "discussionLocked": "discussion_locked",
    "weight": "weight",
    "progress": "progress",
}


_HEALTH: Final[Mapping[Any, str]] = {
    "onTrack": "on_track",
    "needsAttention": "needs_attention",
    "atRisk": "at_risk",
}


def _nodes(connection: Mapping[str, Any] | None) -> Sequence[Any]:
    return [node for node in (connection or {}).get("nodes") or () if node]


def _person(user: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return {**user, "id": numeric_id(user["id"])} if user else None


def _titled(thing: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return {"id": numeric_id(thing["id"]), "title": thing["title"]} if thing else None


async def node_by_iid(gitlab: GitLab, path: str, iid: int) -> Mapping[str, Any]:
    data = await gitlab.graphql(BY_IID, {"path": path, "iid": str(iid)})
    found: Mapping[str, Any] = value_at(data, "namespace", "workItem", asked_by="work_item_iid")
    return found


async def node_by_id(gitlab: GitLab, gid: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = value_at(await gitlab.graphql(BY_ID, {"id": gid}), "workItem")
    return found


async def gid_of(gitlab: GitLab, path: str, iid: int, asked_by: str) -> str:
    """`asked_by` is the field of the caller that has the iid."""
    data = await gitlab.graphql(REFERENCES, {"path": path, "iid": str(iid)})
    return str(value_at(data, "namespace", "workItem", asked_by=asked_by)["id"])


async def type_gid(gitlab: GitLab, place: str, path: str, wanted: str) -> str:
    """The number of a type differs from one GitLab to the next, so that it is looked up by its name."""
    types = value_at(await gitlab.graphql(TYPE_QUERIES[place], {"path": path}), place, "workItemTypes")
    by_name = {type_name(each["name"]): str(each["id"]) for each in types["nodes"]}
    if wanted in by_name:
        return by_name[wanted]
    if wanted in _PAID_TYPES:
        raise Withheld(Request("POST", GRAPHQL_PATH), (), (place, "workItemTypes"), asked_by="type")
    there = ", ".join(sorted(by_name))
    raise CallFailed(
        Failure(
            Code.INVALID_VALUE, f"There is no type {wanted} here: this tier or version of GitLab lacks it."
        ).knowing(
            invalid_fields=[{"field": "type", "expected": f"one of {there}", "received": wanted}],
            suggested_fix=f"Give as type one of {there}.",
        )
    )


async def label_gids(gitlab: GitLab, names: Sequence[str], field: str, **place: str | None) -> list[str]:
    """Work items take labels by number and, unlike issues, do not make those that are missing."""
    where, given = next((name, value) for name, value in place.items() if value)
    path = fill(f"/{where.removesuffix('_id')}s/{{place}}/labels", place=given)
    found: dict[str, str] = {}
    asked = list(dict.fromkeys(names))
    query = {"include_ancestor_groups": True, "per_page": 100}
    answers = await all_at_once([partial(gitlab.get, path, search=name, **query) for name in asked])
    for name, answer in zip(asked, answers, strict=True):
        for label in answer.body:
            if str(label["name"]).casefold() == name.casefold():
                kind = "ProjectLabel" if label.get("is_project_label") else "GroupLabel"
                found[name] = f"gid://gitlab/{kind}/{label['id']}"
    missing = [name for name in names if name not in found]
    if missing:
        raise CallFailed(
            Failure(Code.NOT_FOUND, f"There is no label of the name in {field}. Nothing was sent.").knowing(
                missing=field,
                confidence="certain",
                evidence=["GitLab was asked for labels of these names"],
                suggested_fix="Make it first with manage_label create, or use one of browse_labels list.",
            )
        )
    return [found[name] for name in names]

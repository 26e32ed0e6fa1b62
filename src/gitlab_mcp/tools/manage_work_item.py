"""Write work items: make them, change them, put them under each other, link them, give them another type."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from gitlab_mcp.actions.action import POST, Danger, Role
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.fields import (
    Anywhere,
    Date,
    DateOrEmpty,
    Expects,
    Flag,
    FromJson,
    GroupId,
    Id,
    Iid,
    Integer,
    Labels,
    MilestoneOrZero,
    Needs,
    NoLongerConfidential,
    ProjectId,
    Title,
    UserIds,
    broken_rule,
)
from gitlab_mcp.actions.other_names import Instead
from gitlab_mcp.actions.quick_actions import DescriptionText
from gitlab_mcp.actions.recovery_lookup import ME, LostWrite, RecoveryLookup
from gitlab_mcp.actions.result import Notice, Result
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.actions.undo import Undo
from gitlab_mcp.failures.codes import Code, NoticeCode
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.gitlab.concurrently import all_at_once
from gitlab_mcp.gitlab.faults import FAULTS, GraphQLRefused, may_have_happened
from gitlab_mcp.gitlab.graphql import full_path, mutate, value_at
from gitlab_mcp.results.shown_fields import pick_fields, shown_fields
from gitlab_mcp.workflows.planning.work_item_scopes import InPlace, OfWorkItem
from gitlab_mcp.workflows.planning.work_items import (
    ADD_LINKS,
    CONVERT,
    CREATE,
    DELETE,
    FOUND_AGAIN,
    REMOVE_LINKS,
    REORDER,
    UPDATE,
    WorkItemType,
    as_rest,
    gid_of,
    global_id,
    label_gids,
    node_by_id,
    type_gid,
    with_paid_widgets,
)
from gitlab_mcp.workflows.unchanged_since import ExpectsUpdatedAt

manage = Tool(
    "manage_work_item",
    "Create and change work items: tasks under issues, objectives, key results, incidents, epics (Premium).",
    toolset="planning",
    also=("task", "subtask", "checklist", "okr", "objective", "key result", "child item"),
    instead={
        "close": Instead("update", {"state_event": "close"}),
        "reopen": Instead("update", {"state_event": "reopen"}),
        "create_task create_tasks add_task add_tasks add_child create_child create_subtask add_subtask": Instead(
            "create", {"type": "task"}
        ),
        "assign": Instead("update", needs=("assignee_ids",)),
        "add_children move_under reparent": "set_parent",
        "unparent remove_child detach": "remove_parent",
        "promote change_type": Instead("convert", needs=("type",)),
        "link": "add_link",
        "unlink": "remove_link",
        "reorder_children move_child": "reorder",
    },
)

SHOWN = (
    "iid type title state confidential:mark assignees=assignees.username labels milestone=milestone.title"
    " start_date due_date parent(iid type title) web_url id"
)
_DOCS = "user/work_items/"
_MOST_TITLES = 30

Titles = Annotated[
    list[Title],
    BeforeValidator(lambda value: value.splitlines() if isinstance(value, str) else value),
    FromJson,
    Field(min_length=1, max_length=_MOST_TITLES, description="Several at once, instead of title"),
    Expects(f"an array of up to {_MOST_TITLES} titles"),
]
Assignees = Annotated[UserIds, Needs("multiple_issue_assignees")]
PaidType = Annotated[WorkItemType, Needs("okrs")]
LinkType = Annotated[Literal["relates_to", "blocks", "is_blocked_by"], Needs("issue_links_blocking")]
ParentGroup = Annotated[GroupId, Field(description="Where the parent is an epic of a group")]
HealthStatus = Annotated[Literal["on_track", "needs_attention", "at_risk"], Needs("issue_health_status")]
_LINK_TYPES: Mapping[str, str] = {"relates_to": "RELATED", "blocks": "BLOCKS", "is_blocked_by": "BLOCKED_BY"}
_HEALTH: Mapping[str, str] = {
    "on_track": "onTrack",
    "needs_attention": "needsAttention",
    "at_risk": "atRisk",
}
_NOT_IN_THIS_VERSION = frozenset({"undefinedField", "undefinedType", "argumentNotAccepted"})


def _found_again(mutation: str, proof: Any) -> RecoveryLookup:
    return RecoveryLookup(
        "browse_work_items get",
        "project_id group_id work_item_iid",
        proof=proof,
        answer=lambda found: {mutation: {"workItem": {FOUND_AGAIN: found}}},
    )


def _made(write: LostWrite, found: Mapping[str, Any]) -> bool:
    return write.is_new(found) and bool(found["title"] == write.sent["input"]["title"])


def _has_parent(action: Any, found: Mapping[str, Any]) -> bool:
    return bool((found.get("parent") or {}).get("iid") == action.parent_iid)


class WithParent(InPlace):
    parent_iid: Iid | None = None
    parent_group_id: ParentGroup | None = None

    async def parent_gid(self, gitlab: GitLab, path: str) -> str | None:
        if self.parent_iid is None:
            return None
        above = await full_path(gitlab, group_id=self.parent_group_id) if self.parent_group_id else path
        return await gid_of(gitlab, above, self.parent_iid, "parent_iid")

    @model_validator(mode="after")
    def _parent_has_a_number(self) -> Self:
        if self.parent_group_id is not None and self.parent_iid is None:
            raise broken_rule("given with parent_group_id", field="parent_iid")
        return self


@manage.action(
    "create",
    POST("/graphql"),
    danger=Danger.REVERSIBLE,
    docs=_DOCS,
    example={
        "project_id": "acme/website",
        "type": "task",
        "parent_iid": 1,
        "titles": ["Write it", "Test it", "Ship it"],
    },
    shows=SHOWN,
    switch="issues",
    role=Role.GUEST,
    not_taken=dict.fromkeys(
        ("weight", "health_status", "iteration_id", "progress"), "update sets it once the work item is there"
    ),
    recover_with=RecoveryLookup(
        "browse_work_items list",
        "project_id group_id",
        {"author_username": ME},
        proof=_made,
        inside="items",
        answer=lambda found: {"workItemCreate": {"workItem": {FOUND_AGAIN: found}}},
    ),
)
class CreateWorkItem(WithParent):
    """Create one, or with titles several, for example tasks under an issue."""

    group_id: Annotated[GroupId, Needs("epics")] | None = None
    type: PaidType
    title: Title | None = None
    titles: Titles | None = None
    description: DescriptionText | None = None
    labels: Labels | None = None
    assignee_ids: Assignees | None = None
    milestone_id: MilestoneOrZero | None = None
    start_date: Date | None = None
    due_date: Date | None = None
    confidential: Flag | None = None

    @model_validator(mode="after")
    def _titled_once(self) -> Self:
        if (self.title is None) is (self.titles is None):
            raise broken_rule("one of title, titles", field="title")
        if self.type == "epic" and self.project_id is not None:
            raise broken_rule(
                "left out for an epic, which belongs to a group: give group_id", field="project_id"
            )
        return self

    async def run(self, gitlab: GitLab) -> Answer | Result:
        path = await self.path(gitlab)
        shared = await self._shared(gitlab, path)
        if self.title is not None:
            return Answer(201, body=await _create(gitlab, shared, self.title))
        return await self._several(gitlab, shared, self.titles or [])

    async def _shared(self, gitlab: GitLab, path: str) -> dict[str, Any]:
        """What all of them have in common, as `workItemCreate` takes it."""
        places = {"project_id": self.project_id, "group_id": self.group_id}
        asks: list[Callable[[], Awaitable[Any]]] = [
            partial(self.parent_gid, gitlab, path),
            partial(type_gid, gitlab, self.place, path, self.type),
            partial(label_gids, gitlab, self.labels or (), "labels", **places),
        ]
        parent, type_id, label_ids = await all_at_once(asks)
        shared: dict[str, Any] = {
            "namespacePath": path,
            "workItemTypeId": type_id,
            "confidential": self.confidential,
            "descriptionWidget": {"description": self.description} if self.description else None,
            "assigneesWidget": _assignees(self.assignee_ids),
            "milestoneWidget": _milestone(self.milestone_id),
            "startAndDueDateWidget": _dates(self),
            "hierarchyWidget": {"parentId": parent} if parent else None,
            "labelsWidget": {"labelIds": label_ids} if label_ids else None,
        }
        return {name: value for name, value in shared.items() if value is not None}

    async def _several(self, gitlab: GitLab, shared: Mapping[str, Any], titles: Sequence[str]) -> Result:
        made: list[dict[str, Any]] = []
        gitlab.report(0, len(titles), "work items")
        for title in titles:
            try:
                made.append(await _create(gitlab, shared, title))
            except FAULTS as fault:
                if not made:
                    raise
                lost = not isinstance(fault, GraphQLRefused) and may_have_happened(fault)  # type: ignore[arg-type]
                return self._some(made, titles, lost=lost)
            gitlab.report(len(made), len(titles), "work items")
        return self._some(made, titles, lost=False)

    def _some(self, made: Sequence[Mapping[str, Any]], titles: Sequence[str], *, lost: bool) -> Result:
        fields = shown_fields(SHOWN).in_a_list
        data: dict[str, Any] = {"items": [pick_fields(each, fields) for each in made], "total": len(made)}
        warnings = _not_kept(self, made)
        if left := list(titles[len(made) :]):
            data["not_created"] = left
            unsure = (
                " Whether the first of them was made is not known: look with browse_work_items list."
                if lost
                else ""
            )
            message = f"GitLab made {len(made)} of {len(titles)}; not_created holds the titles of the others.{unsure}"
            warnings = [*warnings, Notice(NoticeCode.PARTIAL, message, {"field": "titles"})]
        return Result(data=data, warnings=warnings)


def _not_kept(action: CreateWorkItem, made: Sequence[Mapping[str, Any]]) -> list[Notice]:
    """What GitLab took without a word and did otherwise. Of a single one the checks of every write find it."""
    notices = []
    if any(each.get("type") != action.type for each in made):
        message = f"GitLab made another type of it: this tier or version has no {action.type}."
        notices.append(Notice(NoticeCode.NOT_APPLIED, message, {"field": "type"}))
    wanted = set(action.assignee_ids or ())
    if any(wanted - {0} - {each["id"] for each in item.get("assignees") or ()} for item in made):
        message = (
            "GitLab did not keep all of assignee_ids: several people at once need Premium, and a role here."
        )
        notices.append(Notice(NoticeCode.NOT_APPLIED, message, {"field": "assignee_ids"}))
    return notices


async def _create(gitlab: GitLab, shared: Mapping[str, Any], title: str) -> dict[str, Any]:
    sent = {**shared, "title": title}
    try:
        return as_rest(value_at(await mutate(gitlab, CREATE, "workItemCreate", sent), "workItem"))
    except GraphQLRefused as refused:
        if "startAndDueDateWidget" not in sent or not _lacks_dates(refused):
            raise
    # GitLab 17.2 takes dates only for what is there.
    dates = sent.pop("startAndDueDateWidget")
    made = value_at(await mutate(gitlab, CREATE, "workItemCreate", sent), "workItem")
    changes = {"id": made["id"], "startAndDueDateWidget": dates}
    return as_rest(value_at(await mutate(gitlab, UPDATE, "workItemUpdate", changes), "workItem"))


def _lacks_dates(refused: GraphQLRefused) -> bool:
    return any(
        "startAndDueDateWidget (Field is not defined" in str(each.get("message")) for each in refused.errors
    )


def _assignees(ids: Sequence[Any] | None) -> dict[str, Any] | None:
    if ids is None:
        return None
    return {"assigneeIds": [f"gid://gitlab/User/{each}" for each in ids if each != 0]}


def _milestone(number: Any) -> dict[str, Any] | None:
    if number is None:
        return None
    return {"milestoneId": f"gid://gitlab/Milestone/{number}" if number else None}


def _dates(action: Any) -> dict[str, Any] | None:
    dates = {"startDate": action.start_date, "dueDate": action.due_date}
    return {name: value or None for name, value in dates.items() if value is not None} or None


@manage.action(
    "update",
    POST("/graphql"),
    danger=Danger.REVERSIBLE,
    docs=_DOCS,
    example={"project_id": "acme/website", "work_item_iid": 7, "state_event": "close"},
    shows=SHOWN,
    switch="issues",
    role=Role.GUEST,
    recover_with=_found_again("workItemUpdate", lambda write, found: write.action.is_done(found)),
    seldom_given="expected_updated_at",
)
class UpdateWorkItem(ExpectsUpdatedAt, OfWorkItem):
    """Change, close or reopen one."""

    state_event: Literal["close", "reopen"] | None = None
    title: Title | None = None
    description: DescriptionText | None = None
    labels: Labels | None = None
    add_labels: Labels | None = None
    remove_labels: Labels | None = None
    assignee_ids: Assignees | None = None
    milestone_id: MilestoneOrZero | None = None
    start_date: DateOrEmpty | None = None
    due_date: DateOrEmpty | None = None
    confidential: NoLongerConfidential | None = None
    discussion_locked: Flag | None = None
    weight: Annotated[Annotated[Integer, Field(ge=0, le=2**31 - 1)], Needs("issue_weight")] | None = None
    health_status: HealthStatus | None = None
    iteration_id: Annotated[Id, Needs("iterations"), Anywhere("iteration")] | None = None
    progress: (
        Annotated[Annotated[Integer, Field(ge=0, le=100)], Needs("okrs"), Field(description="Percent")] | None
    ) = None

    @model_validator(mode="after")
    def _changes_something(self) -> Self:
        if self.model_fields_set <= {"project_id", "group_id", "work_item_iid", "expected_updated_at"}:
            raise broken_rule("at least one thing to change", field="state_event")
        return self

    async def run(self, gitlab: GitLab) -> Answer:
        before = await self.node(gitlab)
        present = as_rest(before)
        await self.refuse_if_changed(gitlab, present)
        if (
            self.state_event == "reopen"
            and present.get("discussion_locked")
            and self.discussion_locked is not False
        ):
            raise CallFailed(_locked())
        sent = {"id": before["id"], **await self._changes(gitlab, present)}
        node = value_at(await mutate(gitlab, UPDATE, "workItemUpdate", sent), "workItem")
        if FOUND_AGAIN not in node and not self.is_done(as_rest(node)):
            # Unlocked and reopened at once, GitLab answers with the state from before.
            node = await node_by_id(gitlab, before["id"])
        paid = {"weight", "health_status", "iteration_id", "progress"} & self.model_fields_set
        return Answer(200, body=await with_paid_widgets(gitlab, node) if paid else as_rest(node))

    async def _changes(self, gitlab: GitLab, present: Mapping[str, Any]) -> dict[str, Any]:
        changes = {
            "title": self.title,
            "confidential": self.confidential,
            "stateEvent": self.state_event.upper() if self.state_event else None,
            "descriptionWidget": None if self.description is None else {"description": self.description},
            "assigneesWidget": _assignees(self.assignee_ids),
            "milestoneWidget": _milestone(self.milestone_id),
            "startAndDueDateWidget": _dates(self),
            "labelsWidget": await self._labels(gitlab, present),
            "notesWidget": (
                None if self.discussion_locked is None else {"discussionLocked": self.discussion_locked}
            ),
            "weightWidget": None if self.weight is None else {"weight": self.weight},
            "healthStatusWidget": self.health_status and {"healthStatus": _HEALTH[self.health_status]},
            "iterationWidget": self.iteration_id
            and {"iterationId": f"gid://gitlab/Iteration/{self.iteration_id}"},
            "progressWidget": None if self.progress is None else {"currentValue": self.progress},
        }
        return {name: value for name, value in changes.items() if value is not None}

    async def _labels(self, gitlab: GitLab, present: Mapping[str, Any]) -> dict[str, Any] | None:
        has: Mapping[str, str] = present.get("label_ids") or {}
        add = [*(self.add_labels or ()), *(self.labels or ())]
        remove = list(self.remove_labels or ())
        if self.labels is not None:
            kept = {name.casefold() for name in self.labels}
            remove += [name for name in has if name.casefold() not in kept]
        if not add and not remove:
            return None
        gone = {name.casefold() for name in remove}
        field = "labels" if self.labels is not None else "add_labels"
        places = {"project_id": self.project_id, "group_id": self.group_id}
        return {
            "addLabelIds": await label_gids(gitlab, add, field, **places) if add else [],
            "removeLabelIds": [gid for name, gid in has.items() if name.casefold() in gone],
        }

    def is_done(self, found: Mapping[str, Any]) -> bool:
        """Whether the work item is as it was asked for, as far as it can be compared."""
        state = {"close": "closed", "reopen": "opened"}.get(self.state_event or "")
        wanted = {
            "title": self.title,
            "confidential": self.confidential,
            "state": state,
            "discussion_locked": self.discussion_locked,
            "start_date": self.start_date,
            "due_date": self.due_date,
        }
        plain = all(
            (found.get(name) or None) == (value or None)
            for name, value in wanted.items()
            if value is not None
        )
        people = {each["id"] for each in found.get("assignees") or ()}
        milestone = (found.get("milestone") or {}).get("id") or 0
        return (
            plain
            and (self.assignee_ids is None or people == set(self.assignee_ids) - {0})
            and (self.milestone_id is None or milestone == self.milestone_id)
            and (
                self.description is None
                or (found.get("description") or "").strip() == self.description.strip()
            )
            and self._labels_are_done({name.casefold() for name in found.get("labels") or ()})
            and not self.model_fields_set & {"weight", "health_status", "iteration_id", "progress"}
        )

    def _labels_are_done(self, names: set[str]) -> bool:
        def folded(labels: Sequence[str] | None) -> set[str]:
            return {name.casefold() for name in labels or ()}

        exact = self.labels is None or names == folded(self.labels) | folded(self.add_labels)
        return exact and folded(self.add_labels) <= names and not folded(self.remove_labels) & names


def _locked() -> Failure:
    return Failure(
        Code.CONFLICT, "Its discussion is locked: GitLab would say yes and leave it closed. Nothing was sent."
    ).knowing(
        state="locked",
        confidence="certain",
        evidence=["discussion_locked is true"],
        suggested_fix="Send discussion_locked=false along with state_event=reopen.",
    )


@manage.action(
    "set_parent",
    POST("/graphql"),
    danger=Danger.REVERSIBLE,
    docs=_DOCS,
    example={"project_id": "acme/website", "work_item_iid": 7, "parent_iid": 2},
    shows=SHOWN,
    switch="issues",
    role=Role.GUEST,
    recover_with=_found_again("workItemUpdate", lambda write, found: _has_parent(write.action, found)),
)
class SetParent(WithParent, OfWorkItem):
    """Put one under another: a task under an issue, an issue under an epic."""

    parent_iid: Iid

    async def run(self, gitlab: GitLab) -> Answer:
        path = await self.path(gitlab)
        asks: list[Callable[[], Awaitable[str | None]]] = [
            partial(gid_of, gitlab, path, self.work_item_iid, "work_item_iid"),
            partial(self.parent_gid, gitlab, path),
        ]
        gid, parent = await all_at_once(asks)
        sent = {"id": gid, "hierarchyWidget": {"parentId": parent}}
        body = as_rest(value_at(await mutate(gitlab, UPDATE, "workItemUpdate", sent), "workItem"))
        kept = _has_parent(self, body)
        message = "GitLab said yes and did not put it under that parent."
        notice = Notice(NoticeCode.NOT_APPLIED, message, {"field": "parent_iid"})
        return Answer(200, body=body, warnings=() if kept else (notice,))


@manage.action(
    "remove_parent",
    POST("/graphql"),
    danger=Danger.REVERSIBLE,
    docs=_DOCS,
    example={"project_id": "acme/website", "work_item_iid": 8},
    shows=SHOWN,
    switch="issues",
    role=Role.GUEST,
    recover_with=_found_again("workItemUpdate", lambda write, found: not found.get("parent")),
)
class RemoveParent(OfWorkItem):
    """Take one out from under its parent."""

    async def run(self, gitlab: GitLab) -> Answer:
        sent = {"id": await self.gid(gitlab), "hierarchyWidget": {"parentId": None}}
        return Answer(
            200, body=as_rest(value_at(await mutate(gitlab, UPDATE, "workItemUpdate", sent), "workItem"))
        )


@manage.action(
    "reorder",
    POST("/graphql"),
    danger=Danger.REVERSIBLE,
    docs=_DOCS,
    example={"project_id": "acme/website", "work_item_iid": 8, "before_iid": 7},
    switch="issues",
    role=Role.GUEST,
    recover_with=RecoveryLookup(
        "browse_work_items get",
        "project_id group_id work_item_iid",
        because="where it stood before is not known",
    ),
)
class Reorder(OfWorkItem):
    """Put one before or after another child of the same parent."""

    before_iid: Iid | None = None
    after_iid: Iid | None = None

    @model_validator(mode="after")
    def _one_neighbour(self) -> Self:
        if (self.before_iid is None) is (self.after_iid is None):
            raise broken_rule("one of before_iid, after_iid", field="before_iid")
        return self

    async def run(self, gitlab: GitLab) -> Result:
        node = await self.node(gitlab)
        parent = as_rest(node).get("parent")
        if not parent:
            raise CallFailed(_no_parent())
        children = as_rest(await node_by_id(gitlab, global_id(parent["id"])))["children"]
        neighbour_iid = self.before_iid or self.after_iid
        neighbour = next((each for each in children if each["iid"] == neighbour_iid), None)
        if neighbour is None:
            raise CallFailed(_no_such_child("before_iid" if self.before_iid else "after_iid"))
        await _move(gitlab, node["id"], parent, neighbour, "BEFORE" if self.before_iid else "AFTER")
        order = [
            each["iid"] for each in as_rest(await node_by_id(gitlab, global_id(parent["id"])))["children"]
        ]
        data = {"parent": {name: parent[name] for name in ("iid", "type", "title")}, "order": order}
        return Result(data=data, warnings=() if self._is_in_order(order) else (_not_in_order(),))

    def _is_in_order(self, order: Sequence[int]) -> bool:
        neighbour = self.before_iid or self.after_iid
        if self.work_item_iid not in order or neighbour not in order:
            return False
        steps = order.index(self.work_item_iid) - order.index(neighbour)
        return steps == -1 if self.before_iid else steps == 1


async def _move(
    gitlab: GitLab, gid: str, parent: Mapping[str, Any], neighbour: Mapping[str, Any], position: str
) -> None:
    place = {"adjacentWorkItemId": global_id(neighbour["id"]), "relativePosition": position}
    sent = {"id": gid, "parentId": global_id(parent["id"]), **place}
    try:
        await mutate(gitlab, REORDER, "workItemsHierarchyReorder", sent)
    except GraphQLRefused as refused:
        codes = {(each.get("extensions") or {}).get("code") for each in refused.errors}
        if not codes & _NOT_IN_THIS_VERSION:
            raise
        await mutate(gitlab, UPDATE, "workItemUpdate", {"id": gid, "hierarchyWidget": place})


def _not_in_order() -> Notice:
    return Notice(
        NoticeCode.NOT_APPLIED, "GitLab said yes and left the order as it was.", {"field": "work_item_iid"}
    )


def _no_parent() -> Failure:
    return Failure(Code.CONFLICT, "It has no parent, so that there is nothing to order it among.").knowing(
        state="no parent",
        confidence="certain",
        suggested_fix="Give it a parent first: manage_work_item set_parent.",
    )


def _no_such_child(field: str) -> Failure:
    return Failure(Code.NOT_FOUND, f"{field} is no child of the same parent. Nothing was sent.").knowing(
        missing=field,
        confidence="certain",
        evidence=["GitLab was asked for the children of the parent"],
        suggested_fix="Look with browse_work_items children.",
    )


class OfLink(OfWorkItem):
    target_iid: Iid
    target_project: ProjectId | None = None

    async def target_gid(self, gitlab: GitLab) -> str:
        elsewhere = self.target_project
        path = await full_path(gitlab, project_id=elsewhere) if elsewhere else await self.path(gitlab)
        return await gid_of(gitlab, path, self.target_iid, "target_iid")

    def links_in(self, found: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        return [
            each
            for each in found.get("links") or ()
            if each["iid"] == self.target_iid
            and (not self.target_project or self.target_project in (each["place"], ""))
        ]


@manage.action(
    "add_link",
    POST("/graphql"),
    danger=Danger.REVERSIBLE,
    docs=_DOCS,
    example={"project_id": "acme/website", "work_item_iid": 6, "target_iid": 8},
    shows="iid title links(link_type iid type title state place) web_url",
    switch="issues",
    role=Role.GUEST,
    recover_with=_found_again("workItemAddLinkedItems", lambda write, found: write.action.is_linked(found)),
    undo=Undo("remove_link", "project_id group_id work_item_iid target_iid target_project"),
)
class AddLink(OfLink):
    """Link one to another."""

    link_type: LinkType | None = None

    async def run(self, gitlab: GitLab) -> Answer:
        target, gid = await all_at_once([partial(self.target_gid, gitlab), partial(self.gid, gitlab)])
        sent = {
            "id": gid,
            "workItemsIds": [target],
            "linkType": _LINK_TYPES[self.link_type or "relates_to"],
        }
        payload = await mutate(gitlab, ADD_LINKS, "workItemAddLinkedItems", sent)
        body = as_rest(value_at(payload, "workItem"))
        if not self.is_linked(body):
            body = as_rest(await node_by_id(gitlab, gid))
        message = "GitLab said yes and did not link them in this way."
        notice = Notice(NoticeCode.NOT_APPLIED, message, {"field": "target_iid"})
        return Answer(200, body=body, warnings=() if self.is_linked(body) else (notice,))

    def is_linked(self, found: Mapping[str, Any]) -> bool:
        return any(each["link_type"] == (self.link_type or "relates_to") for each in self.links_in(found))


@manage.action(
    "remove_link",
    POST("/graphql"),
    danger=Danger.REVERSIBLE,
    docs=_DOCS,
    example={"project_id": "acme/website", "work_item_iid": 6, "target_iid": 8},
    shows="iid title links(link_type iid type title state place) web_url",
    switch="issues",
    role=Role.GUEST,
    recover_with=_found_again(
        "workItemRemoveLinkedItems", lambda write, found: not write.action.links_in(found)
    ),
)
class RemoveLink(OfLink):
    """Remove the link between two."""

    async def run(self, gitlab: GitLab) -> Answer:
        node = await self.node(gitlab)
        linked = self.links_in(as_rest(node))
        if not linked:
            return Answer(304)
        sent = {"id": node["id"], "workItemsIds": [global_id(linked[0]["id"])]}
        await mutate(gitlab, REMOVE_LINKS, "workItemRemoveLinkedItems", sent)
        return Answer(200, body=as_rest(await node_by_id(gitlab, node["id"])))


@manage.action(
    "convert",
    POST("/graphql"),
    # Back to what it was takes one more call; what the new type has no place for is told.
    danger=Danger.REVERSIBLE,
    docs=_DOCS,
    example={"project_id": "acme/website", "work_item_iid": 8, "type": "issue"},
    shows=SHOWN,
    switch="issues",
    role=Role.GUEST,
    recover_with=_found_again(
        "workItemConvert", lambda write, found: bool(found["type"] == write.action.type)
    ),
)
class ConvertWorkItem(OfWorkItem):
    """Give it another type: a task becomes an issue, an issue an incident or an epic."""

    type: PaidType

    async def run(self, gitlab: GitLab) -> Answer:
        before = await self.node(gitlab)
        present = await with_paid_widgets(gitlab, before)
        if present["type"] == self.type:
            return Answer(304)
        path = present["place"] or await self.path(gitlab)
        sent = {"id": before["id"], "workItemTypeId": await type_gid(gitlab, self.place, path, self.type)}
        await mutate(gitlab, CONVERT, "workItemConvert", sent)
        after = await with_paid_widgets(gitlab, await node_by_id(gitlab, before["id"]))
        return replace(Answer(200, body=after), warnings=_lost(present, after))


_KEPT_OR_LOST = (
    "description", "assignees", "labels", "milestone", "start_date", "due_date", "parent", "children", "links",
    "weight", "health_status", "progress", "iteration", "time_estimate", "total_time_spent",
)  # fmt: skip


def _lost(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[Notice, ...]:
    lost = [name for name in _KEPT_OR_LOST if before.get(name) and not after.get(name)]
    if not lost:
        return ()
    message = f"The new type has no place for {', '.join(lost)}: GitLab shows them no longer."
    return (Notice(NoticeCode.NOT_APPLIED, message, {"field": "type", "lost": lost}),)


@manage.action(
    "delete",
    POST("/graphql"),
    danger=Danger.DESTRUCTIVE,
    docs=_DOCS,
    example={"project_id": "acme/website", "work_item_iid": 7},
    switch="issues",
    role=Role.OWNER,
    recover_with=RecoveryLookup(
        "browse_work_items get",
        "project_id group_id work_item_iid",
        because="GitLab answers the same to what is gone and to what is hidden",
    ),
)
class DeleteWorkItem(OfWorkItem):
    """Delete one for good; closing keeps it."""

    async def run(self, gitlab: GitLab) -> Answer:
        await mutate(gitlab, DELETE, "workItemDelete", {"id": await self.gid(gitlab)})
        return Answer(204)

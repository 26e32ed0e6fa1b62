"""Write issues, their links and their time tracking."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from gitlab_mcp.actions.action import DELETE, POST, PUT, Danger, Role, fill, something_to_change
from gitlab_mcp.actions.action_facts import Differs
from gitlab_mcp.actions.ask import Ask, Look
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.fields import (
    Anywhere,
    Date,
    DateOrEmpty,
    Flag,
    Id,
    Iids,
    Integer,
    IssueIid,
    Labels,
    MilestoneOrZero,
    Needs,
    NoLongerConfidential,
    NonEmpty,
    Only,
    ProjectId,
    ProjectNumber,
    Search,
    Title,
    UserIds,
    Username,
    Within,
    Words,
    broken_rule,
)
from gitlab_mcp.actions.other_names import Instead
from gitlab_mcp.actions.quick_actions import CommentText, DescriptionText
from gitlab_mcp.actions.recovery_lookup import LostWrite, RecoveryLookup, made
from gitlab_mcp.actions.references import project_of
from gitlab_mcp.actions.result import Result
from gitlab_mcp.actions.scopes import InProject, OfIssue
from gitlab_mcp.actions.server import Server
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.actions.undo import CLOSED_AND_REOPENED, FORMER, Undo, between
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.counted import counted
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.gitlab.paging import items_of
from gitlab_mcp.workflows.attached_files import WithFiles
from gitlab_mcp.workflows.planning.issue_bulk_update import MOST, WantedChange, bulk_update, too_many
from gitlab_mcp.workflows.unchanged_since import IfUnchanged

manage = Tool(
    "manage_issue",
    "Create and change issues and their links.",
    instead={
        "close": Instead("update", {"state_event": "close"}),
        "reopen open_again": Instead("update", {"state_event": "reopen"}),
        "assign": Instead("update", needs=("assignee_ids",)),
        "unassign": Instead(
            "update",
            {"assignee_ids": []},
            advice="Use action update: assignee_ids=[] removes all, a shorter list keeps the others.",
        ),
        "add_assignee add_assignees": Instead(
            "update",
            needs=("assignee_ids",),
            advice="Use action update with "
            "assignee_ids: it replaces the assignees, so name everybody who shall be one.",
        ),
        "label tag": Instead(
            "update", needs=("add_labels",), renames={"label": "add_labels", "labels": "add_labels"}
        ),
        "unlabel untag": Instead(
            "update", needs=("remove_labels",), renames={"label": "remove_labels", "labels": "remove_labels"}
        ),
        "lock": Instead("update", {"discussion_locked": True}),
        "unlock": Instead("update", {"discussion_locked": False}),
        "make_confidential": Instead("update", {"confidential": True}),
        "rename": Instead(
            "update", needs=("title",), renames={"name": "title", "new_title": "title", "new_name": "title"}
        ),
        "comment add_comment create_comment post_comment note add_note create_note": Instead(
            "manage_discussion create_note", needs=("body",)
        ),
        "reply": Instead("manage_discussion reply", needs=("discussion_id",)),
        "link relate link_issue create_link": "add_link",
        "unlink remove_link": "delete_link",
        "bulk_edit update_many mass_update bulk_close update_all": "bulk_update",
        "copy": "clone",
        "transfer": "move",
        "spend spend_time log_time add_time track_time": "manage_time_tracking add_spent_time",
        "estimate set_estimate": "manage_time_tracking set_time_estimate",
        "todo add_todo": "manage_subscription create_todo",
        "follow watch": "manage_subscription subscribe",
        "unfollow unwatch mute": "manage_subscription unsubscribe",
        "promote": Instead(
            "",
            advice="Promoting an issue is not offered yet. manage_epic create makes an epic.",
        ),
    },
)

CREATED = "id iid title state web_url"
UPDATED = "id iid state title labels assignees milestone due_date confidential web_url"

IssueType = Annotated[
    Literal["issue", "incident", "test_case", "requirement", "task", "ticket"], Needs("requirements")
]
LinkType = Annotated[Literal["relates_to", "blocks", "is_blocked_by"], Needs("issue_links_blocking")]
Weight = Annotated[Annotated[Integer, Field(ge=0, le=2**31 - 1)], Needs("issue_weight")]
Assignees = Annotated[UserIds, Needs("multiple_issue_assignees")]
EpicId = Annotated[Id, Needs("issue_epic_param"), Anywhere("epic")]

_TURNED = {**CLOSED_AND_REOPENED, "discussion_locked": between(True, False)}


@manage.action(
    "create",
    POST("/projects/{project_id}/issues"),
    danger=Danger.REVERSIBLE,
    example={
        "project_id": "acme/website",
        "title": "Add dark mode",
        "description": "Please.",
        "labels": ["feature"],
    },
    shows=CREATED,
    recover_with=RecoveryLookup(
        "browse_issues list", "project_id", {"scope": "created_by_me"}, proof=made("title")
    ),
    seldom_given="start_date epic_id issue_type weight due_date confidential attached_files",
)
class CreateIssue(WithFiles):
    """Open an issue."""

    text_field = "description"

    title: Title
    description: DescriptionText | None = None
    labels: Labels | None = None
    assignee_ids: Assignees | None = None
    milestone_id: MilestoneOrZero | None = None
    start_date: Annotated[Date, Only(since="19.3")] | None = None
    due_date: Date | None = None
    confidential: Flag | None = None
    issue_type: IssueType | None = None
    weight: Weight | None = None
    epic_id: EpicId | None = None


@manage.action(
    "update",
    PUT("/projects/{project_id}/issues/{issue_iid}"),
    danger=Danger.REVERSIBLE,
    example={"project_id": "acme/website", "issue_iid": 4, "state_event": "close"},
    shows=UPDATED,
    not_taken=dict.fromkeys(
        ("add_assignees", "add_assignee_ids"),
        "assignee_ids replaces the assignees: send everybody who shall be one",
    ),
    seldom_given="start_date epic_id issue_type discussion_locked weight due_date confidential expected_updated_at",
    undo=Undo(
        "update",
        "project_id issue_iid",
        turned=_TURNED,
        former=FORMER,
        changed_at="updated_at",
    ),
)
class UpdateIssue(IfUnchanged, OfIssue):
    """Change, close or reopen an issue."""

    state_event: Literal["close", "reopen"] | None = None
    title: Title | None = None
    description: DescriptionText | None = None
    labels: Labels | None = None
    add_labels: Labels | None = None
    remove_labels: Labels | None = None
    assignee_ids: Assignees | None = None
    milestone_id: MilestoneOrZero | None = None
    start_date: Annotated[DateOrEmpty, Only(since="19.3")] | None = None
    due_date: DateOrEmpty | None = None
    confidential: NoLongerConfidential | None = None
    discussion_locked: Flag | None = None
    issue_type: IssueType | None = None
    weight: Weight | None = None
    epic_id: EpicId | None = None

    _changes_something = something_to_change("state_event")

    async def run(self, gitlab: GitLab) -> Answer:
        # GitLab takes [0], not [], for nobody.
        nobody = {"assignee_ids": [0]} if self.assignee_ids == [] else {}
        return await gitlab.send(self.request(**nobody))


_CHANGES = ("add_labels", "remove_labels", "milestone_id", "assignee_ids", "state_event")
_FILTERS = {
    "with_labels": "labels",
    "with_milestone": "milestone",
    "with_assignee": "assignee_username",
    "search": "search",
}
"""What GitLab calls them."""
_USUAL_LIMIT = 50


@manage.action(
    "bulk_update",
    POST("/projects/{project_id}/issues"),
    # Whoever follows one of the issues hears of it; a person sees how many there are.
    danger=Danger.DESTRUCTIVE,
    example={"project_id": "acme/website", "issue_iids": [1, 2], "add_labels": ["bug"]},
    role=Differs(Role.REPORTER, "each issue is changed as update does it"),
    repeatable=True,
    lists=False,
    not_taken={
        "labels": "add_labels and remove_labels change issues, with_labels chooses them",
        "author_username": "issues are chosen by with_labels, with_milestone, with_assignee, search, or issue_iids",
    },
    seldom_given="issue_iids with_labels with_milestone with_assignee search limit dry_run body",
)
class BulkUpdate(InProject):
    """Change many issues alike: those of issue_iids, or that fit with_labels, with_milestone, with_assignee, search.

    Only open ones are chosen, or closed ones to reopen. body is a comment on each that is changed. dry_run lists what
    would change. More than limit (50) are refused. Sent again, it leaves out what is changed already.
    """

    issue_iids: Annotated[Iids, Field(min_length=1, max_length=MOST)] | None = None
    with_labels: Words | None = None
    with_milestone: NonEmpty | None = None
    with_assignee: Username | None = None
    search: Search | None = None
    state_event: Literal["close", "reopen"] | None = None
    add_labels: Labels | None = None
    remove_labels: Labels | None = None
    assignee_ids: Assignees | None = None
    milestone_id: MilestoneOrZero | None = None
    body: CommentText | None = None
    limit: Annotated[Integer, Field(ge=1, le=MOST)] | None = None
    dry_run: Flag | None = None

    @model_validator(mode="after")
    def _which_and_what(self) -> Self:
        given = self.model_fields_set
        if "issue_iids" not in given and not given & _FILTERS.keys():
            raise broken_rule("the issues to change, or a filter such as with_labels", field="issue_iids")
        if "issue_iids" in given and given & _FILTERS.keys():
            raise broken_rule("left out beside a filter", field="issue_iids")
        if not given & set(_CHANGES):
            raise broken_rule(
                "a change, such as state_event or add_labels; a comment alone is none", field="add_labels"
            )
        return self

    @property
    def danger(self) -> Danger:
        return Danger.REVERSIBLE if self.dry_run or self.issue_iids == [] else super().danger

    async def pinned(self, ask: Look) -> Self:
        if self.issue_iids is not None:
            return self
        found = await ask.look(self.request().path, **self._query())
        if not isinstance(found, list) or len(found) > self._limit:
            # Told when it is run, or before a person is asked.
            return self
        return self.model_copy(update={"issue_iids": [each["iid"] for each in found]})

    async def refuse_before_asking(self, ask: Ask) -> None:
        if self.issue_iids is None:
            self._refuse_too_many(await ask.look(self.request().path, **self._query()))

    async def foretold(self, ask: Ask) -> str:
        if self.issue_iids is None:
            return ""
        named = ", ".join(f"#{iid}" for iid in self.issue_iids)
        return f"{counted(len(self.issue_iids), 'issue')} at most, and those who follow them hear of it: {named}."

    async def run_with(self, server: Server) -> Result:
        path, iids = self.request().path, self.issue_iids
        if iids is None:
            found = items_of(await server.gitlab.get(path, **self._query()), path)
            self._refuse_too_many(found)
            raise CallFailed(_not_read_before())
        changes = {
            name: value for name, value in self.given().items() if name in _CHANGES and value is not None
        }
        chosen = None
        if self.model_fields_set & _FILTERS.keys():
            chosen = "closed issues only" if self._state == "closed" else "open issues only"
        wanted = WantedChange(changes, self.body, chosen)
        return await bulk_update(
            server, self.project_id, path, list(dict.fromkeys(iids)), wanted, dry_run=bool(self.dry_run)
        )

    @property
    def _limit(self) -> int:
        return self.limit or _USUAL_LIMIT

    @property
    def _state(self) -> str:
        return "closed" if self.state_event == "reopen" else "opened"

    def _query(self) -> dict[str, str]:
        filters = {
            theirs: ",".join(value) if isinstance(value, list) else str(value)
            for name, theirs in _FILTERS.items()
            if (value := getattr(self, name)) is not None
        }
        return {
            **filters,
            "state": self._state,
            "order_by": "created_at",
            "sort": "asc",
            "per_page": str(MOST),
        }

    def _refuse_too_many(self, found: Any) -> None:
        if isinstance(found, list) and len(found) > self._limit:
            raise CallFailed(too_many(self._limit, len(found)))


def _not_read_before() -> Failure:
    return Failure(
        Code.SERVER_ERROR, "Which issues fit could not be read at first. Nothing was done."
    ).knowing(confidence="certain", suggested_fix="Send the same call again.", retryable=True)


@manage.action(
    "delete",
    DELETE("/projects/{project_id}/issues/{issue_iid}"),
    danger=Danger.DESTRUCTIVE,
    example={"project_id": "writes/app", "issue_iid": 5},
    role=Role.OWNER,
)
class DeleteIssue(OfIssue):
    """Delete an issue for good; closing keeps it."""


class ToOtherProject(OfIssue):
    to_project_id: ProjectId

    async def run(self, gitlab: GitLab) -> Answer:
        # GitLab takes only a number here.
        target = self.to_project_id
        if not target.isdigit():
            target = (await gitlab.get(fill("/projects/{target}", target=target))).body["id"]
        return await gitlab.send(self.request(to_project_id=int(target)))


@manage.action(
    "move",
    POST("/projects/{project_id}/issues/{issue_iid}/move"),
    danger=Danger.REVERSIBLE,
    example={"project_id": "writes/app", "issue_iid": 4, "to_project_id": "24"},
    shows="id iid project_id web_url",
    role=Role.REPORTER,
    recover_with=RecoveryLookup(
        "browse_issues get",
        "project_id issue_iid",
        proof=lambda _, found: found.get("moved_to_id") is not None,
        answer=lambda found: {"id": found["moved_to_id"]},
    ),
)
class MoveIssue(ToOtherProject):
    """Move an issue to another project; the old one stays behind, closed."""


@manage.action(
    "clone",
    POST("/projects/{project_id}/issues/{issue_iid}/clone"),
    danger=Danger.REVERSIBLE,
    example={"project_id": "writes/app", "issue_iid": 3, "to_project_id": "24", "with_notes": True},
    shows="id iid project_id web_url",
    recover_with=RecoveryLookup(
        "browse_issues list",
        "project_id=to_project_id",
        {"scope": "created_by_me"},
        because="a copy does not say of what",
    ),
    seldom_given="with_notes",
)
class CloneIssue(ToOtherProject):
    """Copy an issue to the same or another project."""

    with_notes: Flag | None = None


@manage.action(
    "reorder",
    PUT("/projects/{project_id}/issues/{issue_iid}/reorder"),
    danger=Danger.REVERSIBLE,
    example={"project_id": "writes/app", "issue_iid": 2, "move_after_id": 103},
    seldom_given="move_after_id move_before_id",
)
class ReorderIssue(OfIssue):
    """Put an issue before or after another in manually sorted lists."""

    move_after_id: Annotated[Id, Within()] | None = None
    move_before_id: Annotated[Id, Within()] | None = None

    @model_validator(mode="after")
    def _has_a_neighbour(self) -> ReorderIssue:
        if self.move_after_id is None and self.move_before_id is None:
            raise broken_rule(
                "the id of the issue to stand behind (or move_before_id)", field="move_after_id"
            )
        return self


def _links_to(write: LostWrite, found: Mapping[str, Any]) -> bool:
    project = str(write.sent["target_project_id"])
    there = (str(found["project_id"]), project_of(found))
    return found["iid"] == write.sent["target_issue_iid"] and project in there


@manage.action(
    "add_link",
    POST("/projects/{project_id}/issues/{issue_iid}/links"),
    danger=Danger.REVERSIBLE,
    example={"project_id": "acme/website", "issue_iid": 1, "target_project_id": 1, "target_issue_iid": 2},
    shows="link_type target=target_issue.web_url",
    role=Role.GUEST,
    recover_with=RecoveryLookup(
        "browse_issues links",
        "project_id issue_iid",
        proof=_links_to,
        answer=lambda found: {"link_type": found["link_type"], "target_issue": found},
    ),
    not_taken=dict.fromkeys(
        ("merge_request_iid", "target_merge_request_iid", "mr_iid", "epic_iid", "epic_id"),
        "issue links link issues: send target_issue_iid; a merge request is linked by naming the issue in its "
        "description (manage_merge_request update), an epic by manage_epic add_issue",
    ),
    seldom_given="target_project_id",
    undo=Undo("delete_link", "project_id issue_iid", "issue_link_id=id"),
)
class AddLink(OfIssue):
    """Link an issue to another one, of the same project unless told otherwise."""

    target_issue_iid: IssueIid
    target_project_id: ProjectNumber | None = None
    link_type: LinkType | None = None

    async def run(self, gitlab: GitLab) -> Answer:
        return await gitlab.send(self.request(target_project_id=self.target_project_id or self.project_id))


@manage.action(
    "delete_link",
    DELETE("/projects/{project_id}/issues/{issue_iid}/links/{issue_link_id}"),
    danger=Danger.REVERSIBLE,
    example={"project_id": "writes/app", "issue_iid": 1, "issue_link_id": 4},
    shows="link_type target=target_issue.web_url",
    role=Role.GUEST,
    recover_with=RecoveryLookup("browse_issues links", "project_id issue_iid"),
    undo=Undo(
        "add_link",
        "project_id issue_iid",
        "target_issue_iid=target_issue.iid target_project_id=target_issue.project_id link_type",
    ),
)
class DeleteLink(OfIssue):
    """Remove the link between two issues; both stay."""

    issue_link_id: Id

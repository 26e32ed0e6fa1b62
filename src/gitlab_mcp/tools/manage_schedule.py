"""Write pipeline schedules with their variables and inputs, and play them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from gitlab_mcp.actions.action import DELETE, GET, POST, PUT, Danger, Role, fill, something_to_change
from gitlab_mcp.actions.cron import Cron, TimeZone
from gitlab_mcp.actions.danger import Risk
from gitlab_mcp.actions.exchange import Answer, GitLab, Request
from gitlab_mcp.actions.fields import AlsoCalled, Flag, NonEmpty, Only, broken_rule
from gitlab_mcp.actions.job_variables import Inputs, Key, Variables, VariableType
from gitlab_mcp.actions.other_names import Instead
from gitlab_mcp.actions.recovery_lookup import LostWrite, RecoveryLookup
from gitlab_mcp.actions.result import Notice, Result
from gitlab_mcp.actions.scopes import InProject, OfSchedule
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.actions.undo import Undo
from gitlab_mcp.failures.codes import Code, NoticeCode
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.gitlab.faults import FAULTS, Refused
from gitlab_mcp.results.secret_redaction import keep_visible
from gitlab_mcp.results.short_refs import with_short_ref
from gitlab_mcp.workflows.unchanged_since import IfUnchanged

manage = Tool(
    "manage_schedule",
    "Schedule pipelines by cron, with variables; play, pause and take over schedules.",
    toolset="ci",
    also=("pipeline_schedule", "cron", "nightly", "scheduled_pipeline", "cron_job"),
    instead={
        "run run_now trigger start execute": "play",
        "deactivate disable pause stop": Instead("update", {"active": False}),
        "activate enable resume": Instead("update", {"active": True}),
        "own claim transfer_ownership": "take_ownership",
        "create_variable add_variable update_variable": "set_variable",
        "remove_variable": "delete_variable",
    },
)

SCHEDULE = "id ref cron cron_timezone active next_run_at"
SCHEDULES = "/projects/{project_id}/pipeline_schedules"
ONE = f"{SCHEDULES}/{{schedule_id}}"
CHANGES_JOBS = Risk(Danger.DESTRUCTIVE, "any", "they change what the jobs do", bool)
FIND = RecoveryLookup("browse_schedules get", "project_id schedule_id")

Description = Annotated[NonEmpty, Field(max_length=255), AlsoCalled("name", "title")]
Target = Annotated[NonEmpty, Field(description="Branch or tag")]
ScheduleInputs = Annotated[Inputs, Only(since="19.3"), CHANGES_JOBS]
ScheduleVariables = Annotated[Variables, Field(max_length=100), CHANGES_JOBS]


def _is_mine(write: LostWrite, found: Mapping[str, Any]) -> bool:
    """The answer calls who made it the owner. What was lost may also be one of its variables."""
    same = "cron" in write.sent and write.is_new(found) and write.has(found, "description", "cron")
    return same and bool(found["owner"]["id"] == write.user_id)


class WithInputs(InProject):
    """GitLab takes the inputs as a list, and one without a value as one to be removed."""

    inputs: Annotated[ScheduleInputs, Field(description="{name: value}")] | None = None

    def inputs_sent(self) -> list[dict[str, Any]] | None:
        if self.inputs is None:
            return None
        return [
            {"name": name, "destroy": True} if value is None else {"name": name, "value": value}
            for name, value in self.inputs.items()
        ]


@manage.action(
    "create",
    POST(SCHEDULES),
    danger=Danger.REVERSIBLE,
    example={
        "project_id": "writes/sub-one/second-renamed",
        "description": "Nightly",
        "ref": "main",
        "cron": "0 1 * * *",
        "cron_timezone": "UTC",
        "active": False,
    },
    shows=SCHEDULE,
    recover_with=RecoveryLookup("browse_schedules list", "project_id", proof=_is_mine, every_page=True),
    undo=Undo("delete", "project_id", "schedule_id=id"),
)
class CreateSchedule(WithInputs):
    """Run a pipeline again and again, as the caller; the answer has the next run."""

    description: Description
    ref: Target
    cron: Cron
    cron_timezone: Annotated[TimeZone, Field(description="UTC if absent")] | None = None
    active: Flag | None = None
    variables: ScheduleVariables | None = None

    @model_validator(mode="after")
    def _each_key_once(self) -> Self:
        keys = [each.key for each in self.variables or ()]
        if len(keys) > len(set(keys)):
            raise broken_rule("each key once", field="variables")
        if any(value is None for value in (self.inputs or {}).values()):
            raise broken_rule("a value for each name", field="inputs")
        return self

    async def run(self, gitlab: GitLab) -> Answer:
        variables = self.variables or []
        # It must not run before its variables are there.
        waits = {"active": False} if variables else {}
        request = self.request(variables=None, inputs=self.inputs_sent(), **waits)
        made = await gitlab.send(request)
        schedule = with_short_ref(made.body)
        if not variables:
            return replace(made, body=schedule)
        path = f"{request.path}/{schedule['id']}"
        left = [each.key for each in variables]
        try:
            for each in variables:
                body = each.model_dump(exclude_unset=True)
                await gitlab.send(Request("POST", f"{path}/variables", body=body))
                left.remove(each.key)
            if self.active is not False:
                schedule["active"] = (await gitlab.send(_activation(path))).body["active"]
        except FAULTS as fault:
            return replace(made, body=schedule, warnings=(_half_made(left, fault),))
        return replace(made, body={**schedule, "variables": [each.key for each in variables]})


def _activation(path: str) -> Request:
    return Request("PUT", path, body={"active": True}, repeatable=True)


def _half_made(left: list[str], fault: Exception) -> Notice:
    message = (
        "The schedule is made and inactive: GitLab did not take all of its variables, or not its activation."
    )
    status = {"status": fault.status} if isinstance(fault, Refused) else {}
    next_step = "Set them with manage_schedule set_variable, then update with active=true; or delete it."
    return Notice(NoticeCode.PARTIAL, message, {"variables_not_set": left, **status, "next": next_step})


@manage.action(
    "update",
    PUT(ONE),
    danger=Danger.REVERSIBLE,
    example={
        "project_id": "writes/sub-one/second-renamed",
        "schedule_id": 4,
        "description": "Weekly",
        "cron": "0 2 * * 1",
        "cron_timezone": "Europe/Berlin",
        "active": False,
    },
    shows=SCHEDULE,
    not_taken={"variables": "set_variable and delete_variable change one at a time"},
    seldom_given="expected_updated_at",
)
class UpdateSchedule(IfUnchanged, OfSchedule, WithInputs):
    """Change or switch off a schedule; an input that is null is removed."""

    description: Description | None = None
    ref: Target | None = None
    cron: Cron | None = None
    cron_timezone: TimeZone | None = None
    active: Flag | None = None

    _changes_something = something_to_change("cron")

    async def run(self, gitlab: GitLab) -> Answer:
        answer = await gitlab.send(self.request(inputs=self.inputs_sent()))
        return replace(answer, body=with_short_ref(answer.body))


@manage.action(
    "delete",
    DELETE(ONE),
    danger=Danger.DESTRUCTIVE,
    example={"project_id": "writes/app", "schedule_id": 15},
)
class DeleteSchedule(OfSchedule):
    """Delete a schedule with its variables; the pipelines it started stay."""


@manage.action(
    "play",
    POST(f"{ONE}/play"),
    danger=Danger.REVERSIBLE,
    example={"project_id": "writes/app", "schedule_id": 15},
    recover_with=RecoveryLookup(
        "browse_schedules pipelines",
        "project_id schedule_id",
        because="its pipeline is made a moment later, and its own time may have come",
    ),
)
class PlaySchedule(OfSchedule):
    """Run a schedule now; its next run stays."""

    async def run(self, gitlab: GitLab) -> Result:
        try:
            await gitlab.send(self.request())
        except Refused as refused:
            if refused.status == 500 and b"Unable to schedule pipeline run" in refused.content:
                raise CallFailed(_played_already()) from None
            raise
        then = "GitLab makes the pipeline within a minute: browse_schedules pipelines shows it."
        return Result(data={"started": True, "then": then}, own_members=frozenset({"then"}))


def _played_already() -> Failure:
    return Failure(
        Code.CONFLICT, "The schedule was played a moment ago, and that run is still queued."
    ).knowing(
        state="queued",
        confidence="likely",
        evidence=["GitLab answers so to a second play while the first waits"],
        suggested_fix="Look with browse_schedules pipelines; play it again when that pipeline is there.",
        retryable=True,
    )


@manage.action(
    "take_ownership",
    POST(f"{ONE}/take_ownership"),
    # Its pipelines then run with the caller's rights, whatever others have prepared in it.
    danger=Danger.DESTRUCTIVE,
    example={"project_id": "writes/app", "schedule_id": 18},
    shows="id owner=owner.username active next_run_at",
    role=Role.MAINTAINER,
    repeatable=True,
    recover_with=FIND,
)
class TakeOwnership(OfSchedule):
    """Become the owner of a schedule: its pipelines then run with your rights."""


@manage.action(
    "set_variable",
    PUT(f"{ONE}/variables/{{key}}"),
    danger=Danger.DESTRUCTIVE,
    example={
        "project_id": "writes/sub-one/second-renamed",
        "schedule_id": 4,
        "key": "NIGHT",
        "value": "no",
        "variable_type": "file",
    },
    shows="key variable_type",
    recover_with=FIND,
)
class SetVariable(OfSchedule):
    """Add a variable to a schedule, or change it."""

    key: Key
    value: str
    variable_type: VariableType | None = None

    async def run(self, gitlab: GitLab) -> Answer:
        try:
            return await gitlab.send(self.request())
        except Refused as refused:
            if refused.status != 404:
                raise
        path = fill(f"{ONE}/variables", project_id=self.project_id, schedule_id=self.schedule_id)
        body = {"key": self.key, "value": self.value}
        more = {"variable_type": self.variable_type} if self.variable_type else {}
        return await gitlab.send(Request("POST", path, body={**body, **more}))


@manage.action(
    "show_values",
    GET(ONE),
    # A secret that was shown cannot be taken back.
    danger=Danger.DANGEROUS,
    example={"project_id": "acme/website", "schedule_id": 1},
    has_line=True,
)
class ShowValues(OfSchedule):
    """Show the values of a schedule's variables."""

    async def run(self, gitlab: GitLab) -> Result:
        variables = (await gitlab.send(self.request())).body.get("variables")
        if variables is None:
            message = (
                "GitLab does not show you the variables: the owner of the schedule and maintainers see them."
            )
            return Result(data={"id": self.schedule_id}, warnings=[Notice(NoticeCode.PARTIAL, message)])
        shown = [
            keep_visible({name: each.get(name) for name in ("key", "value", "variable_type")}, "value")
            for each in variables
        ]
        return Result(data={"id": self.schedule_id, "variables": shown})


@manage.action(
    "delete_variable",
    DELETE(f"{ONE}/variables/{{key}}"),
    danger=Danger.DESTRUCTIVE,
    example={"project_id": "writes/sub-one/second-renamed", "schedule_id": 4, "key": "NIGHT"},
    shows="key",
    recover_with=FIND,
)
class DeleteVariable(OfSchedule):
    """Remove a variable from a schedule."""

    key: Key

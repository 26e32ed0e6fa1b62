"""Create, change, assign and delete runners, and replace their tokens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from gitlab_mcp.actions.action import (
    DELETE,
    POST,
    PUT,
    Action,
    Danger,
    Role,
    fill,
    something_to_change,
)
from gitlab_mcp.actions.danger import Risk, equals
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.fields import Anywhere, Flag, Id, Integer, Words, broken_rule
from gitlab_mcp.actions.other_names import Instead
from gitlab_mcp.actions.recovery_lookup import RecoveryLookup
from gitlab_mcp.actions.scopes import InProject, InProjectOrGroup
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.actions.undo import Undo
from gitlab_mcp.results.secret_redaction import keep_visible

manage = Tool(
    "manage_runner",
    "Pause, change, assign, create and delete runners.",
    toolset="ci",
    also=("ci_runner", "gitlab_runner", "build_agent", "executor"),
    instead={
        "pause stop disable deactivate": Instead("update", {"paused": True}),
        "resume unpause start activate": Instead("update", {"paused": False}),
        "enable": "assign",
        "register add": "create",
        "remove unregister": "delete",
        "rotate_token reset_authentication_token": "reset_token",
    },
)

RunnerId = Annotated[Id, Anywhere("runner")]
RUNNER = "id description status paused tag_list run_untagged access_level"
FIND = RecoveryLookup("browse_runners get", "runner_id")
TOKEN_LOST = "only the lost answer had the token"


class OfRunner(Action):
    runner_id: RunnerId


class RunnerSettings(Action):
    description: str | None = None
    paused: Flag | None = None
    tag_list: Words | None = None
    run_untagged: Annotated[Flag, Field(description="Also jobs without tags")] | None = None
    locked: Annotated[Flag, Field(description="To its projects")] | None = None
    access_level: (
        Annotated[
            Literal["not_protected", "ref_protected"],
            Risk(
                Danger.DANGEROUS,
                "not_protected",
                "jobs of every branch can then run on it",
                equals("not_protected"),
            ),
        ]
        | None
    ) = None
    maximum_timeout: Annotated[Integer, Field(ge=600, description="Seconds")] | None = None
    maintenance_note: Annotated[str, Field(max_length=1024)] | None = None

    @model_validator(mode="after")
    def _takes_some_jobs(self) -> Self:
        if self.run_untagged is False and self.tag_list == []:
            raise broken_rule("at least one tag, or run_untagged", field="tag_list")
        return self


class ShowsToken(Action):
    async def completed(self, gitlab: GitLab, answer: Answer) -> Answer:
        # GitLab shows the token in this answer only.
        return replace(answer, body={**keep_visible(answer.body, "token"), "shown_once": True})


@manage.action(
    "create",
    POST("/user/runners"),
    danger=Danger.DANGEROUS,
    example={
        "runner_type": "project_type",
        "project_id": 24,
        "description": "played",
        "tag_list": ["linux", "example"],
        "run_untagged": True,
        "locked": False,
        "access_level": "not_protected",
        "maximum_timeout": 3600,
    },
    shows="id token shown_once token_expires_at",
    role=Role.MAINTAINER,
    recover_with=RecoveryLookup("browse_runners list", "project_id group_id", because=TOKEN_LOST),
)
class CreateRunner(InProjectOrGroup, RunnerSettings, ShowsToken):
    """Create a runner; the token for its machine is shown once."""

    runner_type: (
        Annotated[
            Literal["instance_type", "group_type", "project_type"],
            Field(description="Given only for instance_type"),
        ]
        | None
    ) = None

    @property
    def type(self) -> str:
        of_place = "project_type" if self.project_id is not None else "group_type"
        return self.runner_type or of_place

    @model_validator(mode="after")
    def _a_place_of_its_type(self) -> Self:
        if self.runner_type is None and self.project_id is None and self.group_id is None:
            raise broken_rule("instance_type, or project_id or group_id given", field="runner_type")
        wanted = {"group_type": "group_id", "project_type": "project_id"}.get(self.type)
        for name in ("project_id", "group_id"):
            if name == wanted and getattr(self, name) is None:
                raise broken_rule(f"given for {self.type}", field=name)
            if name != wanted and getattr(self, name) is not None:
                raise broken_rule(f"left out for {self.type}", field=name)
        if self.run_untagged is False and not self.tag_list:
            raise broken_rule("at least one tag, or run_untagged", field="tag_list")
        return self

    async def run(self, gitlab: GitLab) -> Answer:
        place = await self._place_by_number(gitlab)
        tags = ",".join(self.tag_list) if self.tag_list is not None else None
        return await self.completed(
            gitlab, await gitlab.send(self.request(runner_type=self.type, tag_list=tags, **place))
        )

    async def _place_by_number(self, gitlab: GitLab) -> Mapping[str, Any]:
        """GitLab takes no path here."""
        for name, root in (("project_id", "/projects/{id}"), ("group_id", "/groups/{id}")):
            given = getattr(self, name)
            if given is not None:
                number = (
                    int(given) if given.isdecimal() else (await gitlab.get(fill(root, id=given))).body["id"]
                )
                return {name: number}
        return {}


@manage.action(
    "update",
    PUT("/runners/{runner_id}"),
    danger=Danger.REVERSIBLE,
    example={"runner_id": 3, "paused": True},
    shows=RUNNER,
    recover_with=FIND,
    not_taken={"active": "paused says the same the other way round: GitLab is giving active up"},
)
class UpdateRunner(OfRunner, RunnerSettings):
    """Pause, resume or change a runner; a paused one takes no new jobs, and finishes those it has."""

    _changes_something = something_to_change("paused")


@manage.action(
    "assign",
    POST("/projects/{project_id}/runners"),
    # Whoever may push to the project can then run code on its machine.
    danger=Danger.DANGEROUS,
    example={"project_id": "writes/app", "runner_id": 3},
    shows="id description paused",
    recover_with=RecoveryLookup(
        "browse_runners list", "project_id", proof=lambda write, found: found["id"] == write.sent["runner_id"]
    ),
    undo=Undo("unassign", "project_id runner_id"),
)
class AssignRunner(InProject):
    """Let a project use a project runner of another project."""

    runner_id: RunnerId


@manage.action(
    "unassign",
    DELETE("/projects/{project_id}/runners/{runner_id}"),
    danger=Danger.DESTRUCTIVE,
    example={"project_id": "writes/app", "runner_id": 3},
    recover_with=RecoveryLookup("browse_runners list", "project_id"),
)
class UnassignRunner(InProject):
    """Take a runner away from a project; its last project cannot be taken away."""

    runner_id: RunnerId


@manage.action(
    "delete",
    DELETE("/runners/{runner_id}"),
    danger=Danger.DANGEROUS,
    example={"runner_id": 3},
    recover_with=FIND,
)
class DeleteRunner(OfRunner):
    """Delete a runner for all its projects; its machine has to be registered anew."""


@manage.action(
    "reset_token",
    POST("/runners/{runner_id}/reset_authentication_token"),
    danger=Danger.DANGEROUS,
    example={"runner_id": 3},
    shows="token shown_once token_expires_at",
    recover_with=RecoveryLookup("browse_runners get", "runner_id", because=TOKEN_LOST),
)
class ResetToken(OfRunner, ShowsToken):
    """Replace the token of a runner; the new one is shown once, and the old one stops working."""


@manage.action(
    "reset_registration_token",
    POST(
        "/runners/reset_registration_token",
        "/projects/{project_id}/runners/reset_registration_token",
        "/groups/{group_id}/runners/reset_registration_token",
    ),
    danger=Danger.DANGEROUS,
    example={"project_id": "writes/sub-one/second-renamed"},
    shows="token shown_once token_expires_at",
    role=Role.MAINTAINER,
    recover_with=RecoveryLookup("browse_runners list", "project_id group_id", because=TOKEN_LOST),
)
class ResetRegistrationToken(InProjectOrGroup, ShowsToken):
    """Replace the old kind of token that registers runners: of a project, a group or the instance."""

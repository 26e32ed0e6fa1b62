"""Write CI/CD variables."""

from __future__ import annotations

import re
from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from gitlab_mcp.actions.action import DELETE, GET, POST, PUT, Action, Danger, something_to_change
from gitlab_mcp.actions.ask import Ask
from gitlab_mcp.actions.danger import Risk, equals
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.fields import AlsoCalled, Flag, KeptBack, Needs, NonEmpty, SentAs, broken_rule
from gitlab_mcp.actions.recovery_lookup import RecoveryLookup, as_asked
from gitlab_mcp.actions.result import Notice, Result
from gitlab_mcp.actions.scopes import InProjectOrGroup
from gitlab_mcp.actions.server import Server
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.actions.undo import Undo
from gitlab_mcp.failures.codes import NoticeCode
from gitlab_mcp.gitlab.faults import Refused
from gitlab_mcp.results.secret_redaction import keep_visible
from gitlab_mcp.workflows.steps import require_steps, take, warnings_of
from gitlab_mcp.workflows.unchanged_since import IfSame, checksum_of_variable
from gitlab_mcp.workflows.variable_scopes import OfVariable, VariableKey, one_of_its_scopes

manage = Tool(
    "manage_variable",
    "Set CI/CD variables of a project, a group or the instance.",
    toolset="ci",
    also=("ci_variable", "secret", "env", "environment_variable"),
    instead={
        "add": "create",
        "upsert put create_or_update": "set",
        "edit change": "update",
        "remove unset": "delete",
        "reveal get_value": "show_value",
        # Not show_value, which is what comes nearest by its fields.
        "get read": "browse_variables get",
        "get_instance": "browse_variables get_instance",
        "list_instance": "browse_variables list_instance",
    },
)

VARIABLE = "key variable_type environment_scope protected masked hidden raw"
CREATE: Final = "manage_variable create"
EVERYWHERE: Final = "*"
"""The scope of a variable that is for all environments."""
MASKABLE: Final = re.compile(r"\S{8,}")
"""What GitLab can mask at all; where `raw` is false it takes fewer characters still."""
FIND = RecoveryLookup("browse_variables get", "project_id group_id key environment_scope", proof=as_asked)
FIND_IN_INSTANCE = RecoveryLookup("browse_variables get_instance", "key", proof=as_asked)

Masked = Annotated[Flag, Field(description="Hidden in job logs")]
Unmasked = Annotated[
    Flag, Risk(Danger.DESTRUCTIVE, "false", "job logs can then show its value", equals(False))
]
Unprotected = Annotated[
    Flag, Risk(Danger.DESTRUCTIVE, "false", "jobs of every branch can then read its value", equals(False))
]
VariableType = Annotated[Literal["env_var", "file"], AlsoCalled("type")]
Value = Annotated[str, Field(max_length=10_000), KeptBack()]


class Settings(Action):
    raw: Annotated[Flag, Field(description="$ stays as it is")] | None = None
    variable_type: VariableType | None = None
    description: Annotated[str, Field(max_length=255)] | None = None


def _check_maskable(value: str | None, masked: bool | None) -> None:
    if masked and value is not None and not MASKABLE.fullmatch(value):
        raise broken_rule(
            "one line of at least 8 characters without spaces where it is masked; leave masked out for any other",
            field="value",
        )


class NewVariable(Settings):
    key: VariableKey
    value: Value
    masked: Masked | None = None
    protected: Annotated[Flag, Field(description="Only for protected branches and tags")] | None = None


class ChangedVariable(Settings):
    value: (
        Annotated[Value, Risk(Danger.DESTRUCTIVE, "any", "its old value is gone", lambda value: True)] | None
    ) = None
    masked: Unmasked | None = None
    protected: Unprotected | None = None

    @model_validator(mode="after")
    def _can_be_masked(self) -> Self:
        _check_maskable(self.value, self.masked)
        return self


@manage.action(
    "create",
    POST("/projects/{project_id}/variables", "/groups/{group_id}/variables"),
    danger=Danger.REVERSIBLE,
    example={
        "project_id": 1,
        "key": "API_KEY",
        "value": "example-value-1",
        "masked": True,
        "protected": True,
        "environment_scope": "*",
    },
    shows=VARIABLE,
    not_taken={
        "secret": "masked hides it in job logs, masked_and_hidden in GitLab's pages and answers too",
        "variables": "one call sets one: give key and value, or several calls to run_batch",
    },
    recover_with=FIND,
    undo=Undo("delete", "project_id group_id key", "environment_scope"),
)
class CreateVariable(NewVariable, InProjectOrGroup):
    """Set a new variable; update changes one that is there."""

    environment_scope: (
        Annotated[
            NonEmpty,
            Needs("group_variables_environment_scope"),
            Field(description="Like production or review/*"),
        ]
        | None
    ) = None
    masked_and_hidden: Annotated[Flag, Field(description="Nobody can read the value again")] | None = None

    @model_validator(mode="after")
    def _can_be_masked(self) -> Self:
        _check_maskable(self.value, self.masked or self.masked_and_hidden)
        return self


@manage.action(
    "update",
    PUT("/projects/{project_id}/variables/{key}", "/groups/{group_id}/variables/{key}"),
    danger=Danger.REVERSIBLE,
    example={
        "project_id": 24,
        "key": "EXAMPLE_KEY",
        "value": "example-value-2",
        "masked": True,
        "protected": True,
    },
    shows=VARIABLE,
    not_taken={
        "masked_and_hidden": "a variable is hidden only when it is made: delete it and create it again",
        "hidden": "a variable is hidden only when it is made: delete it and create it again",
    },
    seldom_given="expected_checksum",
)
class UpdateVariable(IfSame, ChangedVariable, OfVariable):
    """Change a variable; a new value takes the place of the old one, which is gone."""

    new_environment_scope: (
        Annotated[NonEmpty, SentAs("environment_scope"), Needs("group_variables_environment_scope")] | None
    ) = None

    @model_validator(mode="after")
    def _changes_something(self) -> Self:
        named = {"project_id", "group_id", "key", "environment_scope", "expected_checksum"}
        if not self.model_fields_set - named:
            raise broken_rule("at least one thing to change", field="value")
        return self

    async def present_checksum(self, gitlab: GitLab) -> str:
        scope = self.environment_scope
        named = {"filter": {"environment_scope": scope}} if scope is not None else {}
        return checksum_of_variable((await gitlab.get(self.request().path, **named)).body)

    async def run(self, gitlab: GitLab) -> Answer:
        await _refuse_another_scope(self, gitlab)
        return await one_of_its_scopes(self, gitlab)


async def _refuse_another_scope(action: OfVariable, gitlab: GitLab) -> None:
    """GitLab 17.2 changes another variable of the group where none has this scope."""
    if action.group_id is not None and action.environment_scope is not None:
        await gitlab.get(action.request().path, filter={"environment_scope": action.environment_scope})


@manage.action(
    "set",
    PUT("/projects/{project_id}/variables/{key}", "/groups/{group_id}/variables/{key}"),
    danger=Danger.REVERSIBLE,
    example={"project_id": 111, "key": "PLAIN", "value": "prod2", "environment_scope": "production"},
    shows=VARIABLE,
    not_taken={
        "masked_and_hidden": "only create makes a variable hidden",
        "expected_checksum": "update takes it",
    },
    undo=Undo("delete", "project_id group_id key", "environment_scope=created.environment_scope"),
    has_line=True,
)
class SetVariable(ChangedVariable, OfVariable):
    """Make a variable have a value, whether or not it is there: that of its scope, or of all environments."""

    value: Annotated[Value, Risk(Danger.DESTRUCTIVE, "any", "an old value would be gone", lambda value: True)]

    async def overwrites(self, ask: Ask) -> bool:
        return await ask.exists(self.request().path) is not False

    async def run_with(self, server: Server) -> Answer | Result:
        require_steps(server, CREATE)
        here = self.model_copy(update={"environment_scope": self.environment_scope or EVERYWHERE})
        try:
            return await here.change(server.gitlab)
        except Refused as refused:
            if not _says_no_variable(refused):
                raise
        created = await take(server, CREATE, self.given())
        shown = {name: created[name] for name in VARIABLE.split() if name in created}
        return Result(data={"created": shown}, warnings=warnings_of(created))

    async def change(self, gitlab: GitLab) -> Answer:
        await _refuse_another_scope(self, gitlab)
        return await gitlab.send(self.request())


def _says_no_variable(refused: Refused) -> bool:
    told = refused.body()
    message = str(told.get("message")) if isinstance(told, dict) else ""
    return refused.status == 404 and "Variable" in message


@manage.action(
    "delete",
    DELETE("/projects/{project_id}/variables/{key}", "/groups/{group_id}/variables/{key}"),
    danger=Danger.DESTRUCTIVE,
    example={"project_id": 24, "key": "EXAMPLE_KEY"},
)
class DeleteVariable(OfVariable):
    """Delete a variable and its value."""

    async def run(self, gitlab: GitLab) -> Answer:
        return await one_of_its_scopes(self, gitlab)


@manage.action(
    "show_value",
    GET("/projects/{project_id}/variables/{key}", "/groups/{group_id}/variables/{key}"),
    # A secret that was shown cannot be taken back.
    danger=Danger.DANGEROUS,
    example={"project_id": "acme/website", "key": "PLAIN"},
    shows=VARIABLE + " value",
)
class ShowValue(OfVariable):
    """Show the value of a variable, and the checksum with which update overwrites no other."""

    async def run(self, gitlab: GitLab) -> Answer | Result:
        answer = await one_of_its_scopes(self, gitlab)
        body = answer.body
        if body.get("value") is None:
            notice = Notice(NoticeCode.PARTIAL, "The variable is hidden: GitLab shows its value to nobody.")
            return Result(data={"key": self.key, "hidden": True}, warnings=[notice])
        shown = {name: body.get(name) for name in ("key", "value", "environment_scope")}
        shown["checksum"] = checksum_of_variable(body)
        return Result(data=keep_visible(shown, "value"))


@manage.action(
    "create_instance",
    POST("/admin/ci/variables"),
    # Every job of every project reads it.
    danger=Danger.DANGEROUS,
    example={"key": "WRITES_INSTANCE_KEY", "value": "example-value-1", "raw": True},
    shows=VARIABLE,
    recover_with=FIND_IN_INSTANCE,
    undo=Undo("delete_instance", "key"),
)
class CreateInstanceVariable(NewVariable):
    """Set a new variable for every project."""

    @model_validator(mode="after")
    def _can_be_masked(self) -> Self:
        _check_maskable(self.value, self.masked)
        return self


@manage.action(
    "update_instance",
    PUT("/admin/ci/variables/{key}"),
    danger=Danger.DANGEROUS,
    example={"key": "WRITES_INSTANCE_KEY", "value": "example-value-2", "masked": True, "protected": True},
    shows=VARIABLE,
    recover_with=FIND_IN_INSTANCE,
)
class UpdateInstanceVariable(ChangedVariable):
    """Change a variable of every project."""

    key: VariableKey

    _changes_something = something_to_change("value")


@manage.action(
    "delete_instance",
    DELETE("/admin/ci/variables/{key}"),
    danger=Danger.DANGEROUS,
    example={"key": "WRITES_INSTANCE_KEY"},
    recover_with=FIND_IN_INSTANCE,
)
class DeleteInstanceVariable(Action):
    """Delete a variable of every project."""

    key: VariableKey

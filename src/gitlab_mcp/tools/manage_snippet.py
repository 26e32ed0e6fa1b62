"""Write snippets."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from gitlab_mcp.actions.action import DELETE, POST, PUT, Action, Danger
from gitlab_mcp.actions.fields import (
    AlsoCalled,
    ChangedVisibility,
    Expects,
    FilePath,
    FromJson,
    Id,
    NewVisibility,
    ProjectId,
    Title,
    broken_rule,
)
from gitlab_mcp.actions.recovery_lookup import RecoveryLookup, made
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.actions.undo import Undo
from gitlab_mcp.workflows.unchanged_since import IfUnchanged

manage = Tool(
    "manage_snippet",
    "Create, change and delete snippets of a project, or without one your own.",
    toolset="knowledge",
    also=("gist",),
    instead={"edit": "update", "remove": "delete"},
)

SNIPPET = "id title visibility files=files.path web_url | description"


class NewFile(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    file_path: FilePath
    content: Annotated[str, Field(min_length=1)]


class ChangedFile(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    action: Literal["create", "update", "delete", "move"]
    file_path: FilePath
    content: str | None = None
    previous_path: FilePath | None = None

    @model_validator(mode="after")
    def _says_what_it_takes(self) -> Self:
        if self.action in ("create", "update") and not self.content:
            raise broken_rule("content beside create and update", field="")
        if self.action == "move" and self.previous_path is None:
            raise broken_rule("previous_path beside move", field="")
        return self


class InProjectOrOwn(Action):
    project_id: ProjectId | None = None


@manage.action(
    "create",
    POST("/projects/{project_id}/snippets", "/snippets"),
    danger=Danger.REVERSIBLE,
    example={
        "project_id": 1,
        "title": "Hello",
        "visibility": "private",
        "files": [{"file_path": "hello.py", "content": "print('hello')\n"}],
    },
    shows=SNIPPET,
    not_taken=dict.fromkeys(
        ("content", "code", "text", "body", "file_name", "filename", "file_path", "path"),
        "files holds them: [{file_path, content}]",
    ),
    recover_with=RecoveryLookup("browse_snippets list_own", proof=made("title", "visibility")),
    undo=Undo("delete", "project_id", "snippet_id=id"),
)
class CreateSnippet(InProjectOrOwn):
    """Create a snippet."""

    title: Title
    visibility: NewVisibility
    files: Annotated[
        list[NewFile], FromJson, Field(min_length=1, max_length=10), Expects("an array of objects")
    ]
    description: str | None = None


@manage.action(
    "update",
    PUT("/projects/{project_id}/snippets/{snippet_id}", "/snippets/{snippet_id}"),
    danger=Danger.REVERSIBLE,
    example={
        "project_id": 23,
        "snippet_id": 3,
        "title": "Hello edited",
        "description": "Three",
        "visibility": "private",
        "files": [
            {"action": "update", "file_path": "hello.py", "content": "print('hi')\n"},
            {"action": "create", "file_path": "c.txt", "content": "c\n"},
            {"action": "move", "previous_path": "b.txt", "file_path": "d.txt"},
        ],
    },
    shows=SNIPPET,
    seldom_given="expected_updated_at",
)
class UpdateSnippet(IfUnchanged, InProjectOrOwn):
    """Change a snippet; files that are not named stay as they are."""

    snippet_id: Id
    title: Title | None = None
    description: str | None = None
    visibility: ChangedVisibility | None = None
    files: (
        Annotated[
            list[ChangedFile],
            FromJson,
            Field(min_length=1, max_length=10),
            Expects("an array of objects"),
            AlsoCalled("actions", "changes"),
        ]
        | None
    ) = None

    @model_validator(mode="after")
    def _changes_something(self) -> Self:
        if self.model_fields_set <= {"project_id", "snippet_id"}:
            raise broken_rule("at least one thing to change", field="files")
        return self


@manage.action(
    "delete",
    DELETE("/projects/{project_id}/snippets/{snippet_id}", "/snippets/{snippet_id}"),
    danger=Danger.DESTRUCTIVE,
    example={"project_id": 23, "snippet_id": 3},
)
class DeleteSnippet(InProjectOrOwn):
    """Delete a snippet with its files and comments."""

    snippet_id: Id

"""Answers out of the cassettes, and actions to present them for."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from gitlab_mcp.actions.action import DELETE, GET, POST, PUT, Action, Danger
from gitlab_mcp.actions.exchange import Answer
from gitlab_mcp.actions.fields import Id, Labels, NonEmpty, Page, PerPage, ProjectId
from gitlab_mcp.actions.tool import Tool
from tests.support.versions import OLDEST, cassettes_of

_CASSETTES = cassettes_of(OLDEST)
_API = "https://gitlab.example.com/api/v4"


@cache
def _interactions(cassette: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((_CASSETTES / f"{cassette}.json").read_text())["interactions"]
    return found


def recorded_text(cassette: str, path: str, method: str = "GET") -> tuple[int, dict[str, str], str]:
    """The first answer to this question; a test that asks for one that is not there fails."""
    for each in _interactions(cassette):
        if each["request"]["method"] == method and each["request"]["uri"] == _API + path:
            response = each["response"]
            headers = {name: values[0] for name, values in response["headers"].items()}
            return response["status"]["code"], headers, response["body"]["string"]
    raise LookupError(f"{cassette}: {method} {path}")


def recorded(cassette: str, path: str, method: str = "GET") -> Answer:
    status, headers, body = recorded_text(cassette, path, method)
    return Answer(status, headers, json.loads(body) if body else None)


browse = Tool("browse_things", "Read.")
manage = Tool("manage_thing", "Write.")

ISSUE = (
    "iid title state author=author.username labels assignees=assignees.username milestone=milestone.title web_url"
    " | description created_at"
)


@browse.action("list", GET("/projects/{project_id}/issues"), docs="x", example={}, shows=ISSUE)
class ListIssues(Action):
    project_id: ProjectId
    state: NonEmpty | None = None
    search: NonEmpty | None = None
    page: Page | None = None
    per_page: PerPage | None = None


@browse.action("list_plain", GET("/projects/{project_id}/issues"), docs="x", example={})
class ListWithoutPages(Action):
    project_id: ProjectId


@browse.action(
    "commits", GET("/projects/{project_id}/repository/commits"), docs="x", example={}, shows="short_id title"
)
class ListCommits(Action):
    project_id: ProjectId
    page: Page | None = None
    per_page: PerPage | None = None


@browse.action("get", GET("/projects/{project_id}/issues/{issue_iid}"), docs="x", example={}, shows=ISSUE)
class GetIssue(Action):
    project_id: ProjectId
    issue_iid: Id


@browse.action("get_plain", GET("/projects/{project_id}"), docs="x", example={})
class GetPlain(Action):
    project_id: ProjectId


@browse.action("file", GET("/projects/{project_id}/file"), docs="x", example={})
class GetFile(Action):
    project_id: ProjectId
    start_line: Id | None = None
    end_line: Id | None = None


@manage.action(
    "create",
    POST("/projects/{project_id}/issues"),
    danger=Danger.REVERSIBLE,
    docs="x",
    example={},
    shows="iid title labels web_url | description",
)
class CreateIssue(Action):
    project_id: ProjectId
    title: NonEmpty | None = None
    labels: Labels | None = None


@manage.action("update", PUT("/projects/{project_id}/labels"), danger=Danger.REVERSIBLE, docs="x", example={})
class UpdateLabel(Action):
    project_id: ProjectId
    name: NonEmpty | None = None
    color: NonEmpty | None = None


@manage.action("delete", DELETE("/projects/{project_id}"), danger=Danger.DANGEROUS, docs="x", example={})
class DeleteProject(Action):
    project_id: ProjectId

"""Files of a repository: reading them, and changing one or many in a commit."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal, Self
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict, Field, model_validator

from gitlab_mcp.core.action import DELETE, GET, POST, PUT, Action, Danger, Role
from gitlab_mcp.core.exchange import Answer, GitLab
from gitlab_mcp.core.fields import (
    Branch,
    Expects,
    FilePath,
    Flag,
    FromJson,
    Integer,
    Line,
    Page,
    PathOrId,
    PerPage,
    ProjectId,
    Ref,
    Sent,
    Sha,
    broken_rule,
)
from gitlab_mcp.core.result import Result, Text
from gitlab_mcp.core.tool import Tool
from gitlab_mcp.results.counts import counted
from gitlab_mcp.results.files import file_result

browse = Tool("browse_files", "Read files and directories of a repository.", switch="repository")
manage = Tool(
    "manage_file", "Change files of a repository; each call is a commit on a branch.", switch="repository"
)

COMMITTED = "file_path branch web_url"

DEFAULT_BRANCH = "HEAD"

LineNumber = Annotated[Integer, Field(ge=1, le=2**31 - 1)]
Encoding = Literal["text", "base64"]


class OfFile(Action):
    project_id: ProjectId
    file_path: FilePath
    ref: Ref | None = None


def check_lines(start_line: int | None, end_line: int | None) -> None:
    if start_line is not None and end_line is not None and end_line < start_line:
        raise broken_rule("a line that is not before start_line", field="end_line")


@browse.action(
    "tree",
    GET("/projects/{project_id}/repository/tree"),
    docs="api/repositories/#list-all-repository-trees-in-a-project",
    example={"project_id": "acme/website"},
    shows="path type",
    role=Role.REPORTER,
)
class Tree(Action):
    """List a directory, or with recursive all that is below it."""

    project_id: ProjectId
    path: Annotated[Line, Field(description="Directory")] | None = None
    ref: Ref | None = None
    recursive: Flag | None = None
    page: Page | None = None
    per_page: PerPage | None = None

    async def run(self, gitlab: GitLab) -> Answer | Result:
        answer = await gitlab.send(self.request())
        if answer.body or self.path is None or self.page not in (None, 1):
            return replace(answer, headers=counted(answer.headers, len(answer.body)))
        # Git keeps no empty directories: GitLab 17 answers so when there is none.
        why = "There is no such directory at this ref; a file is read with get."
        return Result(data={"items": [], "total": 0, "why_empty": why})


@browse.action(
    "get",
    GET("/projects/{project_id}/repository/files/{file_path}"),
    docs="api/repository_files/#retrieve-a-file-from-a-repository",
    example={"project_id": "acme/website", "file_path": "src/app.py", "ref": "main"},
    role=Role.REPORTER,
)
class GetFile(OfFile):
    """Read a file: text by lines, images as images, other binaries as size and type."""

    start_line: LineNumber | None = None
    end_line: LineNumber | None = None

    @model_validator(mode="after")
    def _lines_in_order(self) -> Self:
        check_lines(self.start_line, self.end_line)
        return self

    async def run(self, gitlab: GitLab) -> Result:
        request = self.request(ref=self.ref or DEFAULT_BRANCH, start_line=None, end_line=None)
        answer = await gitlab.send(request)
        return file_result(answer.body, start_line=self.start_line, end_line=self.end_line)


@browse.action(
    "blame",
    GET("/projects/{project_id}/repository/files/{file_path}/blame"),
    docs="api/repository_files/#retrieve-file-blame-history-from-a-repository",
    example={"project_id": "acme/website", "file_path": "src/app.py", "ref": "main"},
    role=Role.REPORTER,
)
class BlameFile(OfFile):
    """Who last changed each line, and with which commit."""

    start_line: Annotated[LineNumber, Sent("range[start]")] | None = None
    end_line: Annotated[LineNumber, Sent("range[end]")] | None = None

    @model_validator(mode="after")
    def _both_ends(self) -> Self:
        check_lines(self.start_line, self.end_line)
        if self.start_line is not None and self.end_line is None:
            raise broken_rule("a line number, as start_line is given", field="end_line")
        return self

    async def run(self, gitlab: GitLab) -> Result:
        # GitLab wants both ends of a range or none.
        start = 1 if self.end_line is not None and self.start_line is None else self.start_line
        changes = {"ref": self.ref or DEFAULT_BRANCH, "range[start]": start}
        answer = await gitlab.send(self.request(**changes))
        return blamed(answer.body, self.file_path, start or 1)


def blamed(parts: Iterable[Mapping[str, Any]], file_path: str, start_line: int) -> Result:
    """Each commit once, and the lines with the commit each is from."""
    commits: dict[str, dict[str, Any]] = {}
    lines = []
    number = start_line
    for part in parts:
        commit = part["commit"]
        sha = str(commit["id"])[:8]
        commits.setdefault(
            sha,
            {
                "sha": sha,
                "author": commit["author_name"],
                "date": str(commit["authored_date"])[:10],
                "title": commit["message"].split("\n", 1)[0],
            },
        )
        for line in part["lines"]:
            lines.append(f"{sha} {number:>4} {line}")
            number += 1
    data: dict[str, Any] = {"start_line": start_line, "lines": len(lines), "commits": list(commits.values())}
    if not lines:
        return Result(data={"lines": 0, "why_empty": "The file has no such lines."})
    return Result(data=data, text=Text("\n".join(lines), f"blame of {file_path}"))


class InCommit(Action):
    """What every commit takes."""

    project_id: ProjectId
    branch: Branch
    commit_message: Line
    start_branch: Annotated[Line, Field(description="Create branch from this one")] | None = None
    author_name: Line | None = None
    author_email: Line | None = None


class OneFile(InCommit):
    file_path: FilePath
    content: str
    encoding: Annotated[Encoding, Field(description="Of content")] | None = None
    execute_filemode: Flag | None = None

    @model_validator(mode="after")
    def _content_is_what_it_says(self) -> Self:
        check_base64(self.content, self.encoding, "content")
        return self

    async def run(self, gitlab: GitLab) -> Answer:
        answer = await gitlab.send(self.request())
        if self.project_id.isdecimal() or not isinstance(answer.body, dict):
            return answer
        # GitLab does not say where the file is seen; the path of the project tells.
        place = f"{self.project_id}/-/blob/{self.branch}/{self.file_path}"
        return replace(answer, body={**answer.body, "web_url": f"{gitlab.base_url}/{quote(place)}"})


@manage.action(
    "create",
    POST("/projects/{project_id}/repository/files/{file_path}"),
    danger=Danger.REVERSIBLE,
    docs="api/repository_files/#create-a-file-in-a-repository",
    example={
        "project_id": "acme/website",
        "file_path": "src/draft.py",
        "branch": "feature/draft",
        "content": "x = 1\n",
        "commit_message": "Draft work",
    },
    shows=COMMITTED,
    role=Role.DEVELOPER,
)
class CreateFile(OneFile):
    """Commit a new file."""


@manage.action(
    "update",
    PUT("/projects/{project_id}/repository/files/{file_path}"),
    danger=Danger.REVERSIBLE,
    docs="api/repository_files/#update-a-file-in-a-repository",
    example={
        "project_id": "acme/website",
        "file_path": "README.md",
        "branch": "main",
        "content": "# Website\n\nChanged on main.\n",
        "commit_message": "Change README on main",
    },
    shows=COMMITTED,
    role=Role.DEVELOPER,
    repeatable=False,
)
class UpdateFile(OneFile):
    """Commit new content for a file; last_commit_id refuses it if somebody else changed the file since."""

    last_commit_id: Sha | None = None


@manage.action(
    "delete",
    DELETE("/projects/{project_id}/repository/files/{file_path}"),
    danger=Danger.DESTRUCTIVE,
    docs="api/repository_files/#delete-a-file-in-a-repository",
    example={
        "project_id": "writes/app",
        "file_path": "bin/data.bin",
        "branch": "main",
        "commit_message": "Remove data",
    },
    shows=COMMITTED,
    role=Role.DEVELOPER,
    repeatable=False,
)
class DeleteFile(InCommit):
    """Commit the removal of a file."""

    file_path: FilePath


class FileChange(BaseModel):
    """One file in a commit."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    action: Literal["create", "update", "move", "delete", "chmod"]
    file_path: Line
    previous_path: Line | None = None
    content: str | None = None
    encoding: Encoding | None = None
    last_commit_id: Sha | None = None
    execute_filemode: Flag | None = None

    @model_validator(mode="after")
    def _what_each_kind_needs(self) -> Self:
        if self.action in ("create", "update") and self.content is None:
            raise broken_rule(f"text, for {self.action}", field="actions.content")
        if self.action == "move" and self.previous_path is None:
            raise broken_rule("the path before the move", field="actions.previous_path")
        if self.action == "chmod" and self.execute_filemode is None:
            raise broken_rule("true or false, for chmod", field="actions.execute_filemode")
        check_base64(self.content, self.encoding, "actions.content")
        return self


@manage.action(
    "commit",
    POST("/projects/{project_id}/repository/commits"),
    danger=Danger.REVERSIBLE,
    docs="api/commits/#create-a-commit",
    example={
        "project_id": "writes/app",
        "branch": "main",
        "commit_message": "Fix the guide\n\nChangelog: fixed",
        "actions": [{"action": "update", "file_path": "docs/guide one.md", "content": "# Guide\n\nFixed.\n"}],
    },
    shows="id title web_url stats",
    role=Role.DEVELOPER,
)
class CommitFiles(InCommit):
    """Create, change, move and delete several files in one commit."""

    actions: Annotated[list[FileChange], FromJson, Field(min_length=1), Expects("array of objects")]
    start_sha: Sha | None = None
    start_project: PathOrId | None = None
    stats: Flag | None = None

    @model_validator(mode="after")
    def _one_start(self) -> Self:
        if self.start_branch is not None and self.start_sha is not None:
            raise broken_rule("left out where start_branch is given", field="start_sha")
        return self


def check_base64(content: str | None, encoding: str | None, field: str) -> None:
    """GitLab takes anything for base64 and commits what comes out."""
    if content is None or encoding != "base64":
        return
    try:
        base64.b64decode("".join(content.split()), validate=True)
    except (binascii.Error, ValueError):
        raise broken_rule("base64, or encoding text", field=field) from None

"""Commit changes to one file or to many."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal, Self
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict, Field, model_validator

from gitlab_mcp.actions.action import DELETE, POST, PUT, Danger, fill
from gitlab_mcp.actions.exchange import Answer, GitLab, Request
from gitlab_mcp.actions.fields import (
    Branch,
    Expects,
    FilePath,
    Flag,
    FromJson,
    NonEmpty,
    ProjectId,
    Sha,
    Within,
    broken_rule,
)
from gitlab_mcp.actions.other_names import Instead
from gitlab_mcp.actions.recovery_lookup import LostWrite, RecoveryLookup
from gitlab_mcp.actions.scopes import InProject
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.gitlab.faults import FAULTS, BadAnswer, BadAnswerReason, Refused

manage = Tool(
    "manage_file",
    "Change files of a repository; each call is a commit on a branch.",
    also=("repository_file",),
    instead={
        "write put overwrite save append replace": Instead(
            "update", advice="Use action update with the whole content, or create for a new file."
        ),
        "create_or_update upsert upload": Instead(
            "create",
            advice="Use action create for a new file, update for one that exists; commit takes both kinds.",
        ),
        "rename move mv": Instead(
            "commit",
            advice='Use action commit with actions=[{"action": "move", "previous_path": "the old '
            'path", "file_path": "the new path"}].',
        ),
        "copy": Instead(
            "commit",
            advice="Use action commit with an entry of actions that creates the copy, with its content.",
        ),
        "push push_files multi_commit": "commit",
        "chmod": Instead(
            "commit",
            advice="Use action commit with an entry of actions: its action is chmod.",
        ),
    },
)

COMMITTED = "file_path branch commit_id web_url"
NO_SUCH_FILE = ("404 Commit Not Found", "404 File Not Found")

Encoding = Literal["text", "base64"]
# GitLab would also take the name of a branch, and compare the branch with itself.
CommitId = Annotated[str, Field(pattern=r"^[0-9a-fA-F]{7,64}$"), Expects("a commit id"), Within()]


class CommitToBranch(InProject):
    """The fields of every commit."""

    branch: Branch
    commit_message: NonEmpty
    start_branch: Annotated[NonEmpty, Field(description="Create branch from this one")] | None = None
    author_name: NonEmpty | None = None
    author_email: NonEmpty | None = None


class ChangeFile(CommitToBranch):
    """A commit of one file, which GitLab answers without saying which commit it made."""

    file_path: FilePath

    async def run(self, gitlab: GitLab) -> Answer:
        answer = await gitlab.send(self.request())
        commit_id = await self._commit_id(gitlab)
        if commit_id is None:
            return answer
        named = {"file_path": self.file_path, "branch": self.branch, **(answer.body or {})}
        return replace(answer, body={**named, "commit_id": commit_id})

    async def _commit_id(self, gitlab: GitLab) -> str | None:
        """The last commit of the file, where it has the message of this one. The file is written whatever this says."""
        path = fill("/projects/{project_id}/repository/commits", project_id=self.project_id)
        query = {"ref_name": self.branch, "path": self.file_path, "per_page": 1}
        try:
            found = await gitlab.send(Request("GET", path, query=query))
        except FAULTS:
            return None
        last = found.body[0] if found.body and isinstance(found.body, list) else {}
        is_mine = str(last.get("message", "")).strip() == self.commit_message.strip()
        return str(last["id"]) if is_mine else None


class WriteFile(ChangeFile):
    content: str
    encoding: Annotated[Encoding, Field(description="Of content")] | None = None
    execute_filemode: Flag | None = None

    @model_validator(mode="after")
    def _content_fits_the_encoding(self) -> Self:
        _check_base64(self.content, self.encoding, "content")
        return self

    async def run(self, gitlab: GitLab) -> Answer:
        answer = await super().run(gitlab)
        if self.project_id.isdecimal() or not isinstance(answer.body, dict):
            return answer
        # GitLab does not answer the URL of the file; it follows from the path of the project.
        place = f"{self.project_id}/-/blob/{self.branch}/{self.file_path}"
        return replace(answer, body={**answer.body, "web_url": f"{gitlab.base_url}/{quote(place)}"})


def _has_the_content(write: LostWrite, found: Mapping[str, Any]) -> bool:
    file: WriteFile = write.action
    sent = base64.b64decode(file.content) if file.encoding == "base64" else file.content.encode()
    return base64.b64decode(found["content"]) == sent


FIND_FILE = RecoveryLookup(
    "browse_files get",
    "project_id file_path ref=branch",
    proof=_has_the_content,
    answer=lambda found: {"file_path": found["file_path"], "branch": found["ref"]},
)


@manage.action(
    "create",
    POST("/projects/{project_id}/repository/files/{file_path}"),
    danger=Danger.REVERSIBLE,
    example={
        "project_id": "acme/website",
        "file_path": "src/draft.py",
        "branch": "feature/draft",
        "content": "x = 1\n",
        "commit_message": "Draft work",
    },
    shows=COMMITTED,
    recover_with=FIND_FILE,
    seldom_given="author_name author_email execute_filemode",
)
class CreateFile(WriteFile):
    """Commit a new file."""


@manage.action(
    "update",
    PUT("/projects/{project_id}/repository/files/{file_path}"),
    danger=Danger.REVERSIBLE,
    example={
        "project_id": "acme/website",
        "file_path": "README.md",
        "branch": "main",
        "content": "# Website\n\nChanged on main.\n",
        "commit_message": "Change README on main",
    },
    shows=COMMITTED,
    repeatable=False,
    recover_with=FIND_FILE,
    seldom_given="author_name author_email execute_filemode last_commit_id",
)
class UpdateFile(WriteFile):
    """Commit new content for a file; last_commit_id refuses it if somebody else changed the file since."""

    last_commit_id: CommitId | None = None

    async def run(self, gitlab: GitLab) -> Answer:
        if self.last_commit_id is not None:
            await _check_last_commit(gitlab, self.project_id, self.file_path, self.last_commit_id)
        return await super().run(gitlab)


@manage.action(
    "delete",
    DELETE("/projects/{project_id}/repository/files/{file_path}"),
    danger=Danger.REVERSIBLE,
    example={
        "project_id": "writes/app",
        "file_path": "bin/data.bin",
        "branch": "main",
        "commit_message": "Remove data",
    },
    shows=COMMITTED,
    repeatable=False,
    recover_with=RecoveryLookup("browse_files get", "project_id file_path ref=branch", gone=True),
    seldom_given="author_name author_email last_commit_id",
)
class DeleteFile(ChangeFile):
    """Commit the removal of a file; last_commit_id refuses it if somebody else changed the file since."""

    last_commit_id: CommitId | None = None

    async def run(self, gitlab: GitLab) -> Answer:
        if self.last_commit_id is not None:
            await self._check_last_commit(gitlab, self.last_commit_id)
        return await super().run(gitlab)

    async def _check_last_commit(self, gitlab: GitLab, last_commit_id: str) -> None:
        """GitLab 17.2 does not look at last_commit_id when it deletes."""
        path = self.request().path
        present = await gitlab.send(Request("HEAD", path, query={"ref": self.start_branch or self.branch}))
        now = present.headers["x-gitlab-last-commit-id"]
        if not now.startswith(last_commit_id.lower()):
            failure = Failure(Code.CONFLICT, "The file was changed since you read it. Nothing was written.")
            fix = (
                "Read the file again; if it is still to go, delete it with the last_commit_id of that answer."
            )
            raise CallFailed(failure.knowing(present={"last_commit_id": now}, suggested_fix=fix))


class FileChange(BaseModel):
    """One file in a commit."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    action: Literal["create", "update", "move", "delete", "chmod"]
    file_path: NonEmpty
    previous_path: NonEmpty | None = None
    content: str | None = None
    encoding: Encoding | None = None
    last_commit_id: CommitId | None = None
    execute_filemode: Flag | None = None

    @model_validator(mode="after")
    def _what_each_action_needs(self) -> Self:
        if self.action in ("create", "update") and self.content is None:
            raise broken_rule(f"text, for {self.action}", field="actions.content")
        if self.action == "move" and self.previous_path is None:
            raise broken_rule("the path before the move", field="actions.previous_path")
        if self.action == "chmod" and self.execute_filemode is None:
            raise broken_rule("true or false, for chmod", field="actions.execute_filemode")
        _check_base64(self.content, self.encoding, "actions.content")
        return self


def _my_commit(write: LostWrite, found: Mapping[str, Any]) -> bool:
    return write.is_new(found) and found["message"].strip() == write.action.commit_message.strip()


@manage.action(
    "commit",
    POST("/projects/{project_id}/repository/commits"),
    danger=Danger.REVERSIBLE,
    example={
        "project_id": "writes/app",
        "branch": "main",
        "commit_message": "Fix the guide\n\nChangelog: fixed",
        "actions": [{"action": "update", "file_path": "docs/guide one.md", "content": "# Guide\n\nFixed.\n"}],
    },
    shows="id title web_url stats",
    recover_with=RecoveryLookup("browse_commits list", "project_id ref_name=branch", proof=_my_commit),
    seldom_given="author_name author_email start_sha start_project stats",
)
class CommitFiles(CommitToBranch):
    """Create, change, move and delete several files in one commit."""

    actions: Annotated[list[FileChange], FromJson, Field(min_length=1), Expects("an array of objects")]
    start_sha: Sha | None = None
    start_project: ProjectId | None = None
    stats: Flag | None = None

    @model_validator(mode="after")
    def _one_start(self) -> Self:
        if self.start_branch is not None and self.start_sha is not None:
            raise broken_rule("left out where start_branch is given", field="start_sha")
        return self

    async def run(self, gitlab: GitLab) -> Answer:
        for change in self.actions:
            if change.last_commit_id is not None:
                file_path = change.previous_path or change.file_path
                await _check_last_commit(gitlab, self.project_id, file_path, change.last_commit_id)
        return await gitlab.send(self.request())


async def _check_last_commit(gitlab: GitLab, project_id: str, file_path: str, last_commit_id: str) -> None:
    """GitLab checks last_commit_id only where that commit has the file; with any other it overwrites unchecked."""
    path = "/projects/{project_id}/repository/files/{file_path}"
    try:
        await gitlab.get(fill(path, project_id=project_id, file_path=file_path), ref=last_commit_id)
    except BadAnswer as bad:
        if bad.reason is not BadAnswerReason.TOO_LARGE:
            raise
    except Refused as refused:
        told = refused.body()
        if refused.status != 404 or not isinstance(told, dict) or told.get("message") not in NO_SUCH_FILE:
            raise
        failure = Failure(Code.NOT_FOUND, "The commit of last_commit_id does not have this file.")
        fix = "Read the file with browse_files get and give the last_commit_id of its answer."
        raise CallFailed(failure.knowing(missing="last_commit_id", suggested_fix=fix)) from None


def _check_base64(content: str | None, encoding: str | None, field: str) -> None:
    """GitLab decodes what is not base64 all the same, and commits the result."""
    if content is None or encoding != "base64":
        return
    try:
        base64.b64decode("".join(content.split()), validate=True)
    except (binascii.Error, ValueError):
        raise broken_rule("base64, or encoding text", field=field) from None

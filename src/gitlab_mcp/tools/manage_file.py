"""Commit changes to one file or to many."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Literal, Self
from urllib.parse import quote

from pydantic import Field, model_validator

from gitlab_mcp.actions.action import DELETE, POST, PUT, Danger, fill
from gitlab_mcp.actions.entry import Entry
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
    Title,
    Within,
    broken_rule,
)
from gitlab_mcp.actions.json_text import parse
from gitlab_mcp.actions.other_names import Instead
from gitlab_mcp.actions.quick_actions import DescriptionText
from gitlab_mcp.actions.recovery_lookup import LostWrite, RecoveryLookup
from gitlab_mcp.actions.result import Notice, Result
from gitlab_mcp.actions.scopes import InProject
from gitlab_mcp.actions.server import Server
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.actions.undo import Undo
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.gitlab.faults import FAULTS, BadAnswer, BadAnswerReason, Refused
from gitlab_mcp.gitlab.paging import items_of
from gitlab_mcp.workflows.repository.branch_existence import that_are_there
from gitlab_mcp.workflows.repository.file_editing import EditedFile, WantedEdit, edit_files, holds
from gitlab_mcp.workflows.repository.text_edits import Replacement
from gitlab_mcp.workflows.steps import not_done, require_steps, take

manage = Tool(
    "manage_file",
    "Change files of a repository; each call is a commit on a branch.",
    also=("repository_file",),
    instead={
        "write put overwrite save": Instead(
            "update", advice="Use action update with the whole content, or create for a new file."
        ),
        "append insert replace": Instead(
            "edit",
            advice="Use action edit, with old_text that stands in the file once and new_text in its place; update "
            "takes the whole content.",
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
        "patch str_replace replace_text search_replace search_and_replace find_replace multi_edit edit_file": "edit",
        "chmod": Instead(
            "commit",
            advice="Use action commit with an entry of actions: its action is chmod.",
        ),
    },
)

OPEN_MERGE_REQUEST = "manage_merge_request create"
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


class FileChange(Entry):
    """One file in a commit."""

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
    undo=Undo(
        "manage_commit revert", "project_id branch", "sha=id", without="start_branch start_sha start_project"
    ),
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


class Edit(Entry):
    """One piece of text, replaced."""

    also_called: ClassVar = {
        **dict.fromkeys(("old", "old_string", "old_str", "oldText", "search", "find", "before"), "old_text"),
        **dict.fromkeys(
            ("new", "new_string", "new_str", "newText", "replace", "replacement", "after"), "new_text"
        ),
        **dict.fromkeys(("path", "file", "filename", "filePath"), "file_path"),
    }

    file_path: NonEmpty
    old_text: NonEmpty
    new_text: str

    @model_validator(mode="after")
    def _changes_something(self) -> Self:
        if self.old_text == self.new_text:
            raise broken_rule("text that differs from old_text", field="edits.new_text")
        return self


def _as_one_edit(value: Any, given: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """For an edit beside the other arguments: as the one entry of edits that it is."""
    if "edits" in given:
        edits = _listed_edits(given)
        return {} if edits and len(edits) == 1 and value in edits[0].values() else None
    parts = {Edit.also_called.get(name, name): each for name, each in given.items()}
    if not Edit.model_fields.keys() <= parts.keys():
        return None
    return {"edits": [{name: parts[name] for name in Edit.model_fields}]}


def _file_of_all(file_path: Any, given: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """For the path of a file beside edits that name none."""
    edits = _listed_edits(given)
    return (
        {"edits": [{"file_path": file_path, **edit} for edit in edits]}
        if edits
        else _as_one_edit(file_path, given)
    )


def _listed_edits(given: Mapping[str, Any]) -> list[Mapping[str, Any]] | None:
    edits = given.get("edits")
    if isinstance(edits, str):
        try:
            edits = parse(edits)
        except ValueError:
            return None
    if isinstance(edits, list) and all(isinstance(edit, Mapping) for edit in edits):
        return edits
    return None


@manage.action(
    "edit",
    POST("/projects/{project_id}/repository/commits"),
    danger=Danger.REVERSIBLE,
    example={
        "project_id": "acme/website",
        "branch": "main",
        "commit_message": "Say hello",
        "edits": [{"file_path": "README.md", "old_text": "Changed on main.", "new_text": "Hello."}],
    },
    recover_with=RecoveryLookup("browse_commits list", "project_id ref_name=branch", proof=_my_commit),
    rewrites={
        name: _file_of_all if Edit.also_called.get(name, name) == "file_path" else _as_one_edit
        for name in (*Edit.model_fields, *Edit.also_called)
    },
    seldom_given="author_name author_email last_commit_id merge_request_title description",
)
class EditFiles(CommitToBranch):
    """Replace old_text, which must stand in its file once, by new_text: one commit of all edits, or none.

    merge_request_title opens a merge request of the branch too.
    """

    edits: Annotated[
        list[Edit], FromJson, Field(min_length=1, max_length=100), Expects("an array of objects")
    ]
    last_commit_id: CommitId | None = None
    merge_request_title: Title | None = None
    description: DescriptionText | None = None

    @model_validator(mode="after")
    def _go_together(self) -> Self:
        if self.last_commit_id is not None and len({edit.file_path for edit in self.edits}) > 1:
            raise broken_rule("left out, as the edits are of several files", field="last_commit_id")
        if self.merge_request_title is None and self.description is not None:
            raise broken_rule("given, to open a merge request", field="merge_request_title")
        return self

    def _wanted(self) -> list[WantedEdit]:
        return [
            WantedEdit(number, edit.file_path, Replacement(edit.old_text, edit.new_text), self.last_commit_id)
            for number, edit in enumerate(self.edits)
        ]

    async def run_with(self, server: Server) -> Result:
        if self.merge_request_title is not None:
            require_steps(server, OPEN_MERGE_REQUEST)
        files = await edit_files(
            server.gitlab, self.project_id, self.start_branch or self.branch, self._wanted()
        )
        data = await self._committed(server.gitlab, files)
        data["edited"] = [
            {"file_path": file.file_path, "at": [str(lines) for lines in file.places.values()]}
            for file in files
        ]
        if self.start_branch not in (None, self.branch) and "already" not in data:
            data["branch_created_from"] = self.start_branch
        if self.merge_request_title is None:
            return _told(data)
        return await self._with_merge_request(server, data)

    async def _committed(self, gitlab: GitLab, files: Sequence[EditedFile]) -> dict[str, Any]:
        mine = ("branch", "commit_message", "start_branch", "author_name", "author_email")
        sent = {name: value for name, value in self.given().items() if name in mine and value is not None}
        body = {**sent, "actions": [file.as_action() for file in files]}
        try:
            commit = (await gitlab.send(replace(self.request(), body=body))).body
        except Refused as refused:
            # Where this call was made before and did not come to its end, the branch has the commit.
            made = await self._made_before(gitlab, files) if refused.status == 400 else None
            if made is None:
                raise
            return {"commit_id": made, "branch": self.branch, "already": True}
        return {"commit_id": commit["id"], "branch": self.branch, "web_url": commit.get("web_url")}

    async def _made_before(self, gitlab: GitLab, files: Sequence[EditedFile]) -> str | None:
        if self.start_branch is None:
            return None
        try:
            return await holds(gitlab, self.project_id, self.branch, files)
        except FAULTS:
            return None

    async def _with_merge_request(self, server: Server, data: dict[str, Any]) -> Result:
        arguments: dict[str, Any] = {
            "project_id": self.project_id,
            "source_branch": self.branch,
            "target_branch": self.start_branch,
            "title": self.merge_request_title,
            "description": self.description,
        }
        arguments = {name: value for name, value in arguments.items() if value is not None}
        try:
            if "target_branch" not in arguments:
                arguments["target_branch"] = await self._default_branch(server)
            seen = [self.branch]
            if self.start_branch and "already" not in data:
                # GitLab starts a commit from nothing but a branch.
                seen.append(self.start_branch)
            known = that_are_there(self.project_id, *seen)
            opened = await take(server, OPEN_MERGE_REQUEST, arguments, known)
            data["merge_request"] = _shown(opened, arguments)
        except CallFailed as failed:
            if failed.failure.code == Code.CONFLICT and (
                there := await self._open_one(server.gitlab, arguments)
            ):
                data["merge_request"] = {"already": True, **_shown(there, arguments)}
                return _told(data)
            message = "The commit is made; the merge request was not opened."
            return _told(data, not_done(message, OPEN_MERGE_REQUEST, arguments, failed.failure))
        return _told(data)

    async def _open_one(self, gitlab: GitLab, arguments: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """The open merge request between the two branches: GitLab takes no second one."""
        path = fill("/projects/{project_id}/merge_requests", project_id=self.project_id)
        branches = {name: arguments[name] for name in ("source_branch", "target_branch") if name in arguments}
        try:
            found = items_of(await gitlab.get(path, state="opened", **branches), path)
        except FAULTS:
            return None
        return found[0] if len(found) == 1 else None

    async def _default_branch(self, server: Server) -> str:
        project = await server.ask.project(self.project_id)
        branch = project.get("default_branch") if project is not None else None
        if not isinstance(branch, str):
            raise CallFailed(
                Failure(Code.NOT_FOUND, "The default branch of the project is not known.").knowing(
                    missing="target_branch"
                )
            )
        return branch


def _told(data: Mapping[str, Any], *warnings: Notice) -> Result:
    """What was edited, in the caller's own words."""
    return Result(
        data=data, warnings=warnings, own_members=frozenset({"branch", "branch_created_from", "edited"})
    )


def _shown(request: Mapping[str, Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    shown = {name: request.get(name) for name in ("iid", "state", "web_url")}
    return {**shown, "target_branch": arguments["target_branch"]}


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

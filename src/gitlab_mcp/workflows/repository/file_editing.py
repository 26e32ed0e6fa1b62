"""Edits files of a repository in one commit: reads each, replaces text, has GitLab refuse what changed meanwhile."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gitlab_mcp.actions.action import fill
from gitlab_mcp.actions.exchange import Answer, GitLab, Request
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.gitlab.concurrently import concurrently
from gitlab_mcp.gitlab.faults import BadAnswer, BadAnswerReason, Refused
from gitlab_mcp.refusals.alternatives import call
from gitlab_mcp.workflows.repository.text_edits import (
    Edited,
    Lines,
    NotOnce,
    Replacement,
    as_text,
    edited,
    why_not_editable,
)

_MOST_PLACES_TOLD = 20


@dataclass(frozen=True, slots=True)
class WantedEdit:
    number: int
    """Its place among the edits of the call, from 0."""
    file_path: str
    replacement: Replacement
    last_commit_id: str | None
    """The commit that the caller has seen the file at."""


@dataclass(frozen=True, slots=True)
class EditedFile:
    file_path: str
    content: bytes
    last_commit_id: str
    """The last commit of the file when it was read. GitLab refuses the commit where it is another one by then."""
    places: Mapping[int, Lines]

    def as_action(self) -> dict[str, Any]:
        content = base64.b64encode(self.content).decode()
        return {
            "action": "update",
            "file_path": self.file_path,
            "content": content,
            "encoding": "base64",
            "last_commit_id": self.last_commit_id,
        }


async def edit_files(
    gitlab: GitLab, project_id: str, ref: str, wanted: Sequence[WantedEdit]
) -> list[EditedFile]:
    """The files with all edits made. Raises CallFailed where one of them cannot be: then nothing is to be committed."""
    by_file: dict[str, list[WantedEdit]] = {}
    for edit in wanted:
        by_file.setdefault(edit.file_path, []).append(edit)
    answers = await concurrently(
        [lambda path=path: _read(gitlab, project_id, path, ref) for path in by_file]  # type: ignore[misc]
    )
    files: list[EditedFile] = []
    wrong: list[tuple[WantedEdit, NotOnce]] = []
    for (file_path, edits), answer in zip(by_file.items(), answers, strict=True):
        if not isinstance(answer, Answer):
            raise _explained(answer, project_id, file_path, ref, edits[0].number) or answer
        found = _edit_file(file_path, edits, answer.body)
        if isinstance(found, EditedFile):
            files.append(found)
        else:
            wrong += [(edits[each.number], _numbered(each, edits)) for each in found]
    if wrong:
        raise CallFailed(_not_editable_so(wrong, ref, project_id, of=len(wanted)))
    return files


async def holds(gitlab: GitLab, project_id: str, ref: str, files: Sequence[EditedFile]) -> str | None:
    """The last commit of the first file, where all of them are at this ref as they would be after the edit."""
    answers = await concurrently(
        [lambda each=each: _read(gitlab, project_id, each.file_path, ref) for each in files]  # type: ignore[misc]
    )
    for file, answer in zip(files, answers, strict=True):
        if not isinstance(answer, Answer) or _content(answer.body, file.file_path) != file.content:
            return None
    first = answers[0]
    return str(first.body["last_commit_id"]) if isinstance(first, Answer) else None


async def _read(gitlab: GitLab, project_id: str, file_path: str, ref: str) -> Answer:
    path = "/projects/{project_id}/repository/files/{file_path}"
    return await gitlab.get(fill(path, project_id=project_id, file_path=file_path), ref=ref)


def _explained(fault: Exception, project_id: str, file_path: str, ref: str, number: int) -> CallFailed | None:
    """Of a 404 the field that is wrong: a branch and a file are named by no path of the call."""
    told = fault.body() if isinstance(fault, Refused) and fault.status == 404 else None
    message = told.get("message") if isinstance(told, Mapping) else None
    if message == "404 Commit Not Found":
        fix = (
            "A new branch takes start_branch, the one it begins at; browse_branches list shows what there is."
        )
        failure = Failure(Code.NOT_FOUND, "There is no such branch to edit files of. Nothing was committed.")
        branches = call("browse_branches list", {"project_id": project_id}, "Shows what there is.")
        return CallFailed(
            failure.knowing(
                missing="branch", confidence="certain", suggested_fix=fix, alternatives=[branches]
            )
        )
    if message == "404 File Not Found":
        fix = "Take the path from browse_files tree; a new file is made with manage_file create."
        failure = Failure(Code.NOT_FOUND, "There is no such file on the branch. Nothing was committed.")
        place: dict[str, Any] = {"project_id": project_id, "ref": ref}
        if directory := file_path.rpartition("/")[0]:
            place["path"] = directory
        tree = call("browse_files tree", place, "Shows the directory.")
        field = f"edits[{number}].file_path"
        return CallFailed(
            failure.knowing(missing=field, confidence="certain", suggested_fix=fix, alternatives=[tree])
        )
    return None


def _edit_file(
    file_path: str, edits: Sequence[WantedEdit], body: Mapping[str, Any]
) -> EditedFile | list[NotOnce]:
    last_commit_id = str(body["last_commit_id"])
    for edit in edits:
        if edit.last_commit_id and not last_commit_id.startswith(edit.last_commit_id.lower()):
            raise CallFailed(_changed_since(file_path, last_commit_id))
    content = _content(body, file_path)
    if reason := why_not_editable(content):
        raise CallFailed(_no_text(file_path, reason))
    text, encoding = as_text(content)
    found = edited(text, [edit.replacement for edit in edits])
    if not isinstance(found, Edited):
        return found
    try:
        new = found.text.encode(encoding)
    except UnicodeEncodeError:
        raise CallFailed(_not_in_this_encoding(file_path)) from None
    if new == content:
        raise CallFailed(_changes_nothing(file_path, [edit.number for edit in edits]))
    places = {edit.number: lines for edit, lines in zip(edits, found.places, strict=True)}
    return EditedFile(file_path, new, last_commit_id, places)


def _content(body: Mapping[str, Any], file_path: str) -> bytes:
    try:
        if body["encoding"] == "base64":
            return base64.b64decode(body["content"], validate=True)
        return str(body["content"]).encode()
    except (KeyError, TypeError, binascii.Error):
        # Half a file must never be written back.
        raise BadAnswer(Request("GET", file_path), BadAnswerReason.UNEXPECTED_SHAPE, 200) from None


def _numbered(wrong: NotOnce, edits: Sequence[WantedEdit]) -> NotOnce:
    """With the number in the call of the edit that it overlaps."""
    if wrong.overlaps is None:
        return wrong
    return NotOnce(wrong.number, overlaps=edits[wrong.overlaps].number)


def _not_editable_so(
    wrong: Sequence[tuple[WantedEdit, NotOnce]], ref: str, project_id: str, of: int
) -> Failure:
    made = [each for each in wrong if each[1].made_at is not None]
    if len(made) == of:
        return Failure(
            Code.CONFLICT,
            "Nothing was committed: the edit is made already, the new text stands in place of the old.",
        ).knowing(
            state="made already",
            confidence="likely",
            evidence=[
                f"{edit.file_path}: new_text is at {miss.made_at}, old_text is not there"
                for edit, miss in made
            ],
            suggested_fix="Leave it, or look at who made it: browse_commits list with path.",
            retryable=False,
        )
    near = [(edit, miss) for edit, why in wrong for miss in why.near]
    first = next(iter(near), None)
    look = None
    if first is not None:
        edit, miss = first
        arguments = {
            "project_id": project_id,
            "file_path": edit.file_path,
            "ref": ref,
            "start_line": max(1, miss.lines.first - 2),
            "end_line": miss.lines.last + 2,
        }
        look = [call("browse_files get", arguments, "Shows the nearest place.")]
    return Failure(Code.INVALID_VALUE, f"Nothing was committed: {_which(wrong)}.").knowing(
        invalid_fields=[_as_field(edit, why) for edit, why in wrong],
        confidence="certain",
        evidence=[f"{edit.file_path}, {miss.lines}: {miss.difference}" for edit, miss in near] or None,
        alternatives=look,
        suggested_fix="Copy old_text from the file as it is now, with enough around it that it stands there once.",
    )


def _which(wrong: Sequence[tuple[WantedEdit, NotOnce]]) -> str:
    if any(why.overlaps is not None for _, why in wrong):
        return "edits overlap"
    if all(why.found_at for _, why in wrong):
        return "old_text stands in the file more than once"
    return "old_text does not stand in the file exactly once"


def _as_field(edit: WantedEdit, why: NotOnce) -> dict[str, str]:
    expected = "text that stands in the file exactly once"
    if why.overlaps is not None:
        expected = "another place than that of the other edits; make one of them"
        received = f"a place that edits[{why.overlaps}] changes too"
    elif why.found_at:
        told = ", ".join(map(str, why.found_at[:_MOST_PLACES_TOLD]))
        received = f"text that is there {len(why.found_at)} times: {told}"
    elif why.made_at is not None:
        received = f"text that is not there; new_text is, at {why.made_at}"
    else:
        received = "text that is not there"
    return {"field": f"edits[{edit.number}].old_text", "expected": expected, "received": received}


def _changed_since(file_path: str, last_commit_id: str) -> Failure:
    return Failure(
        Code.CONFLICT, "The file has changed since the commit of last_commit_id. Nothing was committed."
    ).knowing(
        state="changed",
        confidence="certain",
        evidence=["the last commit of the file is another one than last_commit_id"],
        candidates=[{"last_commit_id": last_commit_id}],
        suggested_fix="Read the file again with browse_files get, and give the last_commit_id of its answer.",
    )


def _no_text(file_path: str, reason: str) -> Failure:
    return Failure(Code.INVALID_VALUE, f"The file cannot be edited as text: it is {reason}.").knowing(
        invalid_fields=[
            {"field": "edits.file_path", "expected": "a text file", "received": f"a file that is {reason}"}
        ],
        confidence="certain",
        suggested_fix="Write the whole file: manage_file update with encoding base64.",
    )


def _not_in_this_encoding(file_path: str) -> Failure:
    return Failure(
        Code.INVALID_VALUE, "The file is no UTF-8, and new_text holds characters that Latin 1 does not have."
    ).knowing(
        invalid_fields=[
            {"field": "edits.new_text", "expected": "characters of Latin 1", "received": "other characters"}
        ],
        confidence="certain",
        evidence=["its bytes are no UTF-8"],
        suggested_fix="Use other characters, or write the whole file: manage_file update with encoding base64.",
    )


def _changes_nothing(file_path: str, numbers: Sequence[int]) -> Failure:
    return Failure(Code.INVALID_VALUE, "Nothing was committed: the file would stay as it is.").knowing(
        invalid_fields=[
            {
                "field": f"edits[{number}].new_text",
                "expected": "text that differs from old_text by more than its line ends, which are kept",
                "received": "the same text",
            }
            for number in numbers
        ],
        confidence="certain",
    )

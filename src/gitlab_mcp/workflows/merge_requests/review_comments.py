"""Comments of a review that come in one call: all become drafts, or none does."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gitlab_mcp.actions.exchange import GitLab, Request
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.gitlab.faults import FAULTS
from gitlab_mcp.workflows.merge_requests.draft_notes import (
    Json,
    find_published,
    has_unknown_line,
    is_same_comment,
)
from gitlab_mcp.workflows.merge_requests.review_position import ChangedFiles, CommentedLines

_TAKING_BACK_SECONDS: Final = 8.0
_FENCE: Final = re.compile("`{3,}")


@dataclass(frozen=True, slots=True)
class ReviewComment:
    file_path: str
    text: str
    lines: CommentedLines | None
    """None for a comment on the file as a whole."""


def with_suggestion(text: str | None, suggestion: str, lines_above: int) -> str:
    """The text, and below it the code to put in place of the commented line and of so many lines above it."""
    longest = max((len(fence) for fence in _FENCE.findall(suggestion)), default=2)
    fence = "`" * (longest + 1)
    block = f"{fence}suggestion:-{lines_above}+0\n{suggestion.removesuffix(chr(10))}\n{fence}"
    return f"{text}\n\n{block}" if text else block


async def draft_comments(
    gitlab: GitLab, path: str, wanted: Sequence[Json], there: Sequence[Json], notes: Sequence[Json]
) -> list[Json]:
    """The drafts that were made now. One that is there already, of a call that was cut off, is not made again.

    Raises CallFailed before anything is written where a comment is published already.
    """
    published = {
        number: note["id"]
        for number, each in enumerate(wanted)
        if (note := find_published(each, notes)) is not None
    }
    if published:
        raise CallFailed(_published_already(published))

    made: list[Json] = []
    # One after the other: the thread list of the merge request keeps the order in which they were made.
    for each in wanted:
        if any(is_same_comment(each, draft) for draft in there):
            continue
        sent = {"note": each["note"], "position": each["position"]}
        try:
            draft = (await gitlab.send(Request("POST", f"{path}/draft_notes", body=sent))).body
        except FAULTS:
            await take_back(gitlab, path, wanted, there)
            raise
        if has_unknown_line(draft):
            await take_back(gitlab, path, wanted, there)
            raise CallFailed(_not_found_by_gitlab())
        made.append(draft)
    return made


async def take_back(gitlab: GitLab, path: str, wanted: Sequence[Json], there: Sequence[Json]) -> None:
    """Deletes the drafts of these comments that were not there before. Their answers may have been lost."""
    gitlab, before = gitlab.with_deadline(_TAKING_BACK_SECONDS), {draft["id"] for draft in there}
    try:
        for draft in (await gitlab.get(f"{path}/draft_notes")).body:
            if draft["id"] not in before and any(is_same_comment(each, draft) for each in wanted):
                await gitlab.send(Request("DELETE", f"{path}/draft_notes/{draft['id']}", repeatable=True))
    except FAULTS:
        # They stay drafts, which nobody else sees: the same call finds them and goes on.
        return


async def placed(
    gitlab: GitLab, changed: ChangedFiles, comments: Sequence[ReviewComment], user_id: int
) -> list[Json]:
    """As drafts of this user, with their places in the diff. Raises CallFailed where one has none."""
    wanted: list[Json] = []
    wrong: list[tuple[int, Failure]] = []
    for number, comment in enumerate(comments):
        try:
            file = changed.file(comment.file_path)
            position = file.file_position
            if comment.lines is not None:
                position, _ = await file.line_position(gitlab, comment.lines)
        except CallFailed as failed:
            wrong.append((number, failed.failure))
        else:
            wanted.append({"note": comment.text, "position": position, "author_id": user_id})
    if wrong:
        raise CallFailed(_not_in_the_diff(wrong))
    return wanted


def _not_in_the_diff(wrong: Sequence[tuple[int, Failure]]) -> Failure:
    fields: list[Mapping[str, Any]] = []
    for number, failure in wrong:
        told = failure.facts.get("invalid_fields")
        if told:
            fields += [{**each, "field": f"comments[{number}].{each['field']}"} for each in told]
            continue
        alike = failure.facts.get("did_you_mean")
        expected = (
            f"a file of the merge request, such as {alike}" if alike else "a file that it changes by lines"
        )
        received = (
            "a file that it does not change" if failure.code == Code.NOT_FOUND else "a file without lines"
        )
        fields.append({"field": f"comments[{number}].file_path", "expected": expected, "received": received})
    return Failure(
        Code.INVALID_VALUE, "Nothing was written: some comments have no place in the diff."
    ).knowing(
        invalid_fields=fields,
        confidence="certain",
        evidence=["the diff of the latest version"],
        suggested_fix="Take lines from browse_merge_requests diffs; leave line out to comment on a file as a whole.",
    )


def _not_found_by_gitlab() -> Failure:
    return Failure(
        Code.CONFLICT, "GitLab took a comment and did not find its line. Nothing was published."
    ).knowing(
        state="line not found",
        confidence="certain",
        evidence=["its draft has no line code; the drafts of this call were taken back"],
        suggested_fix="The source branch may have moved: read browse_merge_requests diffs again.",
    )


def _published_already(notes: Mapping[int, int]) -> Failure:
    return Failure(Code.CONFLICT, "Nothing was published: some comments stand there already.").knowing(
        state="published already",
        confidence="certain",
        evidence=[f"comments[{number}] is note {note}" for number, note in notes.items()],
        suggested_fix="Where the answer to this call was lost before, it has worked. Else leave them out.",
    )

"""Suggestions of reviewers: which a merge request has, and their change made as a commit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from gitlab_mcp.actions.exchange import GitLab, Request
from gitlab_mcp.actions.result import Result
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.gitlab.paging import every_page
from gitlab_mcp.results.shown_fields import pick_fields, shown_fields

SHOWN: Final = shown_fields("id from_line to_line from_content to_content")


async def apply_suggestions(gitlab: GitLab, merge_request: str, ids: Sequence[int]) -> Result:
    """GitLab knows a suggestion by its number alone, so whether it is one of this merge request is looked up."""
    there = await _suggestions(gitlab, merge_request)
    if there is not None:
        _refuse_what_cannot_work(there, ids)
    if len(ids) == 1:
        request = Request("PUT", f"/suggestions/{ids[0]}/apply", body={})
    else:
        request = Request("PUT", "/suggestions/batch_apply", body={"ids": list(ids)})
    answer = (await gitlab.send(request)).body
    # The answer says of each that it is not applied: it shows them as they were before.
    applied = answer if isinstance(answer, list) else [answer]
    return Result(data={"applied": [pick_fields(each, SHOWN.in_a_list) for each in applied]})


async def _suggestions(gitlab: GitLab, merge_request: str) -> Mapping[int, Mapping[str, Any]] | None:
    """By number. None where this GitLab does not show them with the notes, as before 19.3."""
    threads = await every_page(gitlab, f"{merge_request}/discussions")
    notes = [note for thread in threads.body for note in thread["notes"]]
    if not any("suggestions" in note for note in notes):
        return None
    return {each["id"]: each for note in notes for each in note.get("suggestions") or ()}


def _refuse_what_cannot_work(there: Mapping[int, Mapping[str, Any]], ids: Sequence[int]) -> None:
    strangers = [number for number in ids if number not in there]
    if strangers:
        raise CallFailed(_not_here(strangers, there))
    applied = [number for number in ids if there[number].get("applied")]
    if applied:
        raise CallFailed(_applied_already(applied))


def _not_here(strangers: Sequence[int], there: Mapping[int, Mapping[str, Any]]) -> Failure:
    open_ones = [{"id": number} for number, each in there.items() if not each.get("applied")]
    return Failure(Code.NOT_FOUND, "The merge request has no such suggestion. Nothing was applied.").knowing(
        missing="suggestion_ids",
        confidence="certain",
        evidence=[f"suggestion {number} is in none of its threads" for number in strangers],
        candidates=open_ones[:20],
        suggested_fix="Take suggestion_ids from browse_discussions list of this merge request.",
        retryable=False,
    )


def _applied_already(numbers: Sequence[int]) -> Failure:
    return Failure(
        Code.CONFLICT, "Some of the suggestions are applied already. Nothing was applied now."
    ).knowing(
        state="applied",
        confidence="certain",
        evidence=[f"suggestion {number} is applied" for number in numbers],
        suggested_fix="Leave them out; where none is left, there is nothing to do.",
        retryable=False,
    )

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


async def apply_suggestions(gitlab: GitLab, merge_request: str, ids: Sequence[int] | None) -> Result:
    """GitLab knows a suggestion by its number alone, so whether it is one of this merge request is looked up. Where no
    number is given the only open one is meant."""
    there = await _suggestions(gitlab, merge_request)
    if ids is None:
        ids = [_the_only_one(there)]
    elif there is not None:
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
    threads = await every_page(gitlab, f"{merge_request}/discussions", per_page=100)
    notes = [note for thread in threads.body for note in thread["notes"]]
    if not any("suggestions" in note for note in notes):
        return None
    return {each["id"]: each for note in notes for each in note.get("suggestions") or ()}


def _the_only_one(there: Mapping[int, Mapping[str, Any]] | None) -> int:
    open_ones = _open_ones(there or {})
    if len(open_ones) != 1:
        raise CallFailed(_not_the_only_one(open_ones, is_shown=there is not None))
    number: int = open_ones[0]["id"]
    return number


def _open_ones(there: Mapping[int, Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [each for each in there.values() if not each.get("applied") and each.get("appliable") is not False]


def _numbers_of(suggestions: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [{"id": each["id"]} for each in suggestions[:20]]


def _not_the_only_one(open_ones: Sequence[Mapping[str, Any]], *, is_shown: bool) -> Failure:
    if not is_shown:
        fix = "This GitLab shows suggestions on its pages alone: a person there knows their numbers."
        failure = Failure(
            Code.MISSING_REQUIRED_FIELD, "Which suggestion is meant cannot be seen. Give its number."
        )
        return failure.knowing(missing_fields=["suggestion_ids"], suggested_fix=fix, retryable=False)
    if not open_ones:
        failure = Failure(Code.CONFLICT, "The merge request has no open suggestion. Nothing was applied.")
        return failure.knowing(
            state="no open suggestion",
            confidence="certain",
            evidence=["none of its notes has a suggestion that can be applied"],
            suggested_fix="Where a change is wanted all the same, make it: manage_file edit.",
            retryable=False,
        )
    failure = Failure(
        Code.MISSING_REQUIRED_FIELD, f"{len(open_ones)} suggestions are open: say which. Nothing was applied."
    )
    return failure.knowing(
        missing_fields=["suggestion_ids"],
        candidates=_numbers_of(open_ones),
        suggested_fix="Give as suggestion_ids those that are meant; browse_discussions list shows what each changes.",
    )


def _refuse_what_cannot_work(there: Mapping[int, Mapping[str, Any]], ids: Sequence[int]) -> None:
    strangers = [number for number in ids if number not in there]
    if strangers:
        raise CallFailed(_not_here(strangers, there))
    applied = [number for number in ids if there[number].get("applied")]
    if applied:
        raise CallFailed(_applied_already(applied))


def _not_here(strangers: Sequence[int], there: Mapping[int, Mapping[str, Any]]) -> Failure:
    return Failure(Code.NOT_FOUND, "The merge request has no such suggestion. Nothing was applied.").knowing(
        missing="suggestion_ids",
        confidence="certain",
        evidence=[f"suggestion {number} is in none of its threads" for number in strangers],
        candidates=_numbers_of(_open_ones(there)),
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

"""The last step of a call that succeeded: GitLab's answer becomes what the agent reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from gitlab_mcp.actions.action import Action
from gitlab_mcp.actions.call import FEWEST_BYTES, MOST_BYTES, Detail
from gitlab_mcp.actions.exchange import Answer, whole_number
from gitlab_mcp.actions.result import Notice, Result, UndoCall
from gitlab_mcp.actions.shape import sent_fields, sent_name
from gitlab_mcp.results.chosen_fields import each_named, named_fields, unknown_fields
from gitlab_mcp.results.envelope import ABOUT_THE_CALL, kept_apart
from gitlab_mcp.results.list_pages import items_before, list_page
from gitlab_mcp.results.row_urls import add_project
from gitlab_mcp.results.secret_redaction import redact_json, redact_text
from gitlab_mcp.results.shown_fields import pick_fields, shown_fields, times_to_the_second
from gitlab_mcp.results.size_limit import limit_size
from gitlab_mcp.results.text_cleaning import remove_invisible, remove_invisible_in_json
from gitlab_mcp.results.written_fields import written_fields

_NOTHING: Final[Mapping[str, Any]] = {}


def present_answer(
    action: Action,
    outcome: Answer | Result,
    *,
    detail: Detail,
    max_bytes: int,
    fields: Sequence[str] = (),
    warnings: Sequence[Notice] = (),
    said_first: Mapping[str, Any] = _NOTHING,
    undo: UndoCall | None = None,
) -> Result:
    """The outcome with the fields to show, without secrets and invisible characters, within `max_bytes`.

    `fields` are those that the caller named, by GitLab's names. `said_first` stands before the outcome.
    `undo` is told whole or not at all.
    """
    before = None
    if isinstance(outcome, Answer):
        before = _items_before(outcome)
        answer = replace(outcome, body=redact_json(outcome.body))
        data = _named(action, answer, fields) if fields else _data(action, answer, detail)
        result = Result(data=data, truncated=outcome.left_out)
    else:
        data = kept_apart(redact_json(outcome.data), ABOUT_THE_CALL)
        result = replace(outcome, data=named_fields(data, fields) if fields else data)
    result = replace(result, data={**said_first, **result.data})
    if undo is not None:
        result = replace(result, undo=undo.call, undo_of_others=undo.of_others)
    result = _clean(replace(result, warnings=(*result.warnings, *warnings)))
    return limit_size(
        result,
        min(max(max_bytes, FEWEST_BYTES), MOST_BYTES),
        items_before=before,
        arguments=frozenset(type(action).model_fields),
    )


def _data(action: Action, answer: Answer, detail: Detail) -> dict[str, Any]:
    if answer.already:
        return {"already": True}
    data = _body(action, answer, detail)
    return {**data, "recovered": True} if answer.recovered else data


def _body(action: Action, answer: Answer, detail: Detail) -> dict[str, Any]:
    spec, body = action.spec, answer.body
    if isinstance(body, list):
        full = detail == "full"
        return list_page(action, answer, kept_apart(body if full else _rows(action, body)), full=full)
    if body is None or body == "" or body == {} or (spec.writes and _says_only_yes(answer)):
        # GitLab deletes in the background where it answers 202.
        started = answer.status == 202 and action.endpoint().method == "DELETE"
        return {"started" if started else "done": True} if spec.writes else {"empty": True}
    if not isinstance(body, dict):
        return {"value": body}
    if spec.writes and detail != "full":
        return kept_apart(written_fields(body, spec.shows, _sent(action))) or {"done": True}
    shown = kept_apart(body if detail == "full" else pick_fields(body, shown_fields(spec.shows).alone))
    unasked = action.filters_not_asked_for()
    return {**shown, **({"filters_not_asked_for": dict(unasked)} if unasked else {})} or {"empty": True}


def _named(action: Action, answer: Answer, fields: Sequence[str]) -> dict[str, Any]:
    """Of GitLab's own answer what the caller named."""
    body = answer.body
    if isinstance(body, list):
        page = list_page(action, answer, kept_apart([each_named(item, fields) for item in body]), full=True)
        return {**page, **unknown_fields(body, fields)}
    if not isinstance(body, dict):
        return _data(action, answer, "full")
    return {**kept_apart(each_named(body, fields)), **unknown_fields([body], fields)}


def _rows(action: Action, body: Sequence[Any]) -> list[Any]:
    fields = shown_fields(action.spec.shows).in_a_list
    rows = [times_to_the_second(pick_fields(item, fields)) for item in body]
    if "project_id" in action.endpoint().placeholders:
        return rows
    return [
        add_project(row, item) if isinstance(item, dict) and isinstance(row, dict) else row
        for row, item in zip(rows, body, strict=True)
    ]


def _says_only_yes(answer: Answer) -> bool:
    """Some writes are answered with `true`, or with their own status for a body."""
    return answer.body is True or str(answer.body) == str(answer.status)


def _sent(action: Action) -> list[tuple[str, str, Any]]:
    """The given fields that are not in the path: our name, GitLab's name, the value."""
    given, placeholders = action.given(), action.endpoint().placeholders
    kind = type(action)
    return [
        (name, sent_name(kind, name), given[name])
        for name in sent_fields(kind)
        if name in given and name not in placeholders
    ]


def _items_before(answer: Answer) -> int | None:
    """None for a list that is paged by cursor or not at all, or of which an action took something out."""
    numbered = bool(whole_number(answer.headers.get("x-per-page", ""))) and not answer.left_out
    return items_before(answer.headers) if numbered else None


def _clean(result: Result) -> Result:
    """The result without invisible characters, and its text without secrets."""
    cleaned = remove_invisible_in_json(result.data)
    removed, text = cleaned.removed, result.text
    data: dict[str, Any] = dict(cleaned.value)
    if text is not None:
        cleaned_text = remove_invisible(redact_text(text.content))
        removed += cleaned_text.removed
        text = replace(text, content=cleaned_text.value)
    if removed:
        data["invisible_characters_removed"] = removed
    return replace(result, data=data, text=text)

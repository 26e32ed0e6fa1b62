"""The last step of a call that went well: GitLab's answer becomes what the agent reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from gitlab_mcp.actions.action import Action
from gitlab_mcp.actions.call import FEWEST_BYTES, MOST_BYTES, Detail
from gitlab_mcp.actions.exchange import Answer
from gitlab_mcp.actions.result import Notice, Result
from gitlab_mcp.actions.shape import sent_name
from gitlab_mcp.results.budget import Place, fit
from gitlab_mcp.results.pages import first_index, page
from gitlab_mcp.results.secrets import redact, redact_text
from gitlab_mcp.results.untrusted import clean, clean_all
from gitlab_mcp.results.views import project, view, written


def present(
    action: Action,
    outcome: Answer | Result,
    *,
    detail: Detail,
    max_bytes: int,
    warnings: Sequence[Notice] = (),
) -> Result:
    """The outcome as it is sent: slim, without secrets, within the budget, all that is said in `data`."""
    place = None
    if isinstance(outcome, Answer):
        place = _place(outcome)
        result = Result(data=_shown(action, replace(outcome, body=redact(outcome.body)), detail))
    else:
        result = replace(outcome, data=redact(outcome.data))
    result = _cleaned(replace(result, warnings=(*result.warnings, *warnings)))
    asks = frozenset(type(action).model_fields)
    return fit(result, min(max(max_bytes, FEWEST_BYTES), MOST_BYTES), place=place, asks=asks)


def _shown(action: Action, answer: Answer, detail: Detail) -> dict[str, Any]:
    if answer.already:
        return {"already": True}
    shown = _body(action, answer, detail)
    return {**shown, "recovered": True} if answer.recovered else shown


def _body(action: Action, answer: Answer, detail: Detail) -> dict[str, Any]:
    spec, body = action.spec, answer.body
    if isinstance(body, list):
        words = view(spec.shows).in_a_list
        return page(action, answer, body if detail == "full" else [project(item, words) for item in body])
    if body is None or body == "" or body == {} or (spec.writes and _says_only_yes(answer)):
        return {"done": True} if spec.writes else {"empty": True}
    if not isinstance(body, dict):
        return {"value": body}
    if detail == "full":
        return body
    if spec.writes:
        return written(body, spec.shows, _sent(action)) or {"done": True}
    return dict(project(body, view(spec.shows).alone)) or {"empty": True}


def _says_only_yes(answer: Answer) -> bool:
    """Some writes are answered with `true`, or with their own status for a body."""
    return answer.body is True or str(answer.body) == str(answer.status)


def _sent(action: Action) -> dict[str, Any]:
    """What the caller gave, by GitLab's names."""
    return {sent_name(type(action), name): value for name, value in action.given().items()}


def _place(answer: Answer) -> Place | None:
    """Pages that have numbers; a cursor has none."""
    per_page = answer.headers.get("x-per-page", "")
    return Place(first_index(answer.headers), int(per_page)) if per_page.isdigit() else None


def _cleaned(result: Result) -> Result:
    cleaned = clean_all(result.data)
    removed, text = cleaned.removed, result.text
    data: dict[str, Any] = dict(cleaned.value)
    if text is not None:
        cleaned_text = clean(redact_text(text.content))
        removed += cleaned_text.removed
        text = replace(text, content=cleaned_text.value)
    if removed:
        data["invisible_characters_removed"] = removed
    return replace(result, data=data, text=text)

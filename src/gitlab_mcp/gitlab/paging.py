"""Reads lists that GitLab answers in pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gitlab_mcp.actions.exchange import Answer, GitLab, Request
from gitlab_mcp.gitlab.faults import BadAnswer, BadAnswerReason

MAX_PAGES = 10


async def every_page(gitlab: GitLab, path: str, **query: object) -> Answer:
    """The items of all pages as one answer. Stops after `MAX_PAGES`; then `has_next_page` is true of the answer."""
    answer = await gitlab.get(path, **query)
    items = list(items_of(answer, path))
    for _ in range(MAX_PAGES - 1):
        if not has_next_page(answer):
            break
        answer = await gitlab.get(path, **{**query, "page": answer.headers["x-next-page"]})
        items += items_of(answer, path)
    return Answer(answer.status, answer.headers, items)


async def find_item(
    gitlab: GitLab, path: str, matches: Callable[[Mapping[str, Any]], bool]
) -> Mapping[str, Any] | None:
    """The first item of a list that matches. Reads as many pages as it takes."""
    query: dict[str, Any] = {}
    while True:
        answer = await gitlab.get(path, **query)
        for item in items_of(answer, path):
            if matches(item):
                found: Mapping[str, Any] = item
                return found
        if not has_next_page(answer):
            return None
        query["page"] = answer.headers["x-next-page"]


def items_of(answer: Answer, path: str) -> list[Any]:
    """The items of one page. An answer that is not a list is not GitLab's."""
    if not isinstance(answer.body, list):
        raise BadAnswer(Request("GET", path), BadAnswerReason.UNEXPECTED_SHAPE, answer.status)
    return answer.body


def next_page_number(answer: Answer) -> str:
    """For a sentence of ours: digits, or a word of ours where GitLab sent something else."""
    number = answer.headers.get("x-next-page", "")
    return number if number.isascii() and number.isdigit() else "the next"


def has_next_page(answer: Answer) -> bool:
    return bool(answer.headers.get("x-next-page"))

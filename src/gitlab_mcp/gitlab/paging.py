"""Reads lists that GitLab answers in pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from gitlab_mcp.actions.exchange import Answer, GitLab, Request, whole_number
from gitlab_mcp.gitlab.concurrently import all_at_once
from gitlab_mcp.gitlab.faults import BadAnswer, BadAnswerReason

MAX_PAGES = 10
BIGGEST_PAGE = 100
_MOST_PAGES_SEARCHED = 100


async def every_page(gitlab: GitLab, path: str, **query: object) -> Answer:
    """The items of all pages as one answer, in the biggest pages unless the query says otherwise. Stops after
    `MAX_PAGES`; then `has_next_page` is true of the answer."""
    query = {"per_page": BIGGEST_PAGE, **query}
    answer = await gitlab.get(path, **query)
    items = list(items_of(answer, path))
    page = 1
    if has_next_page(answer) and (pages := whole_number(answer.headers.get("x-total-pages", ""))):
        # GitLab says how many there are, but of very long lists: they need not be asked for one after the other.
        others = range(2, min(pages, MAX_PAGES) + 1)
        for answer in await all_at_once([partial(gitlab.get, path, **{**query, "page": n}) for n in others]):
            items += items_of(answer, path)
        page = max((page, *others))
    while page < MAX_PAGES and has_next_page(answer):
        page = _next_page(answer, path, page)
        answer = await gitlab.get(path, **{**query, "page": page})
        items += items_of(answer, path)
    return Answer(answer.status, answer.headers, items)


async def find_item(
    gitlab: GitLab, path: str, matches: Callable[[Mapping[str, Any]], bool]
) -> Mapping[str, Any] | None:
    """The first item of a list that matches. Reads as many pages as it takes, and no list is endless."""
    query: dict[str, Any] = {}
    for _ in range(_MOST_PAGES_SEARCHED):
        answer = await gitlab.get(path, **query)
        for item in items_of(answer, path):
            if matches(item):
                found: Mapping[str, Any] = item
                return found
        if not has_next_page(answer):
            return None
        query["page"] = _next_page(answer, path, query.get("page", 1))
    raise BadAnswer(Request("GET", path), BadAnswerReason.ENDLESS, answer.status)


def _next_page(answer: Answer, path: str, page: int) -> int:
    """The number of the next page. A page that leads back to itself, or to no number, is not GitLab's."""
    following = whole_number(answer.headers["x-next-page"])
    if following is None or following <= page:
        raise BadAnswer(Request("GET", path), BadAnswerReason.ENDLESS, answer.status)
    return following


def items_of(answer: Answer, path: str) -> list[Any]:
    """The items of one page. An answer that is not a list is not GitLab's."""
    if not isinstance(answer.body, list):
        raise BadAnswer(Request("GET", path), BadAnswerReason.UNEXPECTED_SHAPE, answer.status)
    return answer.body


def items_if_read(answer: object) -> Sequence[Any]:
    """The items of a list that was asked for beside others; none where it could not be read."""
    return answer.body if isinstance(answer, Answer) else ()


def how_many(answer: Answer) -> int:
    """As GitLab counts them; where it does not, the items of this page."""
    return len(answer.body) if answer.total is None else answer.total


def next_page_number(answer: Answer) -> str:
    """For a sentence of ours: digits, or a word of ours where GitLab sent something else."""
    number = answer.headers.get("x-next-page", "")
    return number if number.isascii() and number.isdigit() else "the next"


def has_next_page(answer: Answer) -> bool:
    return bool(answer.headers.get("x-next-page"))

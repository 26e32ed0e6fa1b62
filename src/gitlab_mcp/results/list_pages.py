"""Pages of a list: how many items there are, what the next page is, and why a page is empty."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

from gitlab_mcp.actions.action import Action
from gitlab_mcp.actions.exchange import Answer, whole_number
from gitlab_mcp.actions.shape import shapes
from gitlab_mcp.results.row_urls import with_url_template

# GitLab counts up to 10,000 and then leaves x-total out; these it never counts.
_NEVER_COUNTED = ("/projects/{project_id}/jobs", "/repository/commits", "/repository/tags", "/search")
_TOO_MANY_TO_COUNT = "10000+"
_NEXT_LINK = re.compile(r'<([^<>]*)>;\s{0,8}rel="next"')
_CURSORS = ("cursor", "page_token", "id_after", "id_before")
_NO_FILTERS = frozenset(("page", "per_page", "order_by", "sort", "pagination", *_CURSORS))


def list_page(action: Action, answer: Answer, items: list[Any], *, full: bool = False) -> dict[str, Any]:
    """The items, with the template of their addresses, `total`, `next_page` and `why_empty` as far as they apply."""
    following = next_page(answer.headers)
    template, items = (None, items) if full else with_url_template(items)
    page: dict[str, Any] = {"web_url": template} if template else {}
    page["items"] = items
    total = _total(action, answer, len(items), following)
    if total is not None:
        page["total"] = total
    if following is not None:
        page["next_page"] = following
    if not items:
        page["why_empty"] = _why_empty(action, answer, total)
    if unasked := action.filters_not_asked_for():
        page["filters_not_asked_for"] = dict(unasked)
    return page


def next_page(headers: Mapping[str, str]) -> int | dict[str, str] | None:
    """The number of the next page, or the arguments that continue a list GitLab pages by cursor."""
    number = whole_number(headers.get("x-next-page", ""))
    if number is not None:
        return number
    link = _NEXT_LINK.search(headers.get("link", ""))
    if link is None:
        return None
    query = parse_qs(urlsplit(link[1]).query)
    cursors = {name: query[name][0] for name in _CURSORS if name in query}
    if cursors:
        return cursors
    return whole_number(query.get("page", [""])[0])


def items_before(headers: Mapping[str, str]) -> int:
    """How many items come before this page."""
    return (_number(headers, "x-page", 1) - 1) * _number(headers, "x-per-page", 20)


def correct_paging_headers(
    headers: Mapping[str, str], count: int, *, searched: bool = False
) -> dict[str, str]:
    """The headers of a page of `count` tags or tree entries.

    GitLab 17 announces a next page of them after the last one too, and its total counts what a search of tags
    left out.
    """
    page, per_page = _number(headers, "x-page", 1), _number(headers, "x-per-page", 20)
    full = count >= per_page
    last = full and not searched and headers.get("x-total-pages") == str(page)
    wrong = set() if full and not last else {"link", "x-next-page"}
    if searched:
        wrong |= {"x-total", "x-total-pages"}
    correct = {name: value for name, value in headers.items() if name not in wrong}
    if searched and 0 < count < per_page:
        correct["x-total"] = str((page - 1) * per_page + count)
    return correct


def _total(action: Action, answer: Answer, count: int, following: Any) -> int | str | None:
    before = items_before(answer.headers)
    if answer.left_out:
        # GitLab counts what was left out too.
        return None if before or following else count
    if answer.total is not None:
        return answer.total
    if following is None:
        return before + count if count or not before else None
    if isinstance(following, dict) or action.endpoint().path.endswith(_NEVER_COUNTED):
        return f"{before + count}+"
    return _TOO_MANY_TO_COUNT


def _why_empty(action: Action, answer: Answer, total: int | str | None) -> str:
    if answer.headers.get("x-page", "1") not in ("", "1"):
        pages = whole_number(answer.headers.get("x-total-pages", ""))
        last = "." if pages is None else f"; the last page is {max(1, pages)}."
        return f"This page is beyond the end{last}"
    if isinstance(total, int) and total > 0:
        return "GitLab counts more than it shows: this token may not see them."
    given = action.model_fields_set - _NO_FILTERS - set(action.endpoint().placeholders)
    filters = sorted(name for name in given if not _lets_all_through(action, name))
    unasked = action.filters_not_asked_for()
    narrower = {name: value for name, value in unasked.items() if value != "all"}
    named = " and ".join(f"{name} {value}" for name, value in narrower.items())
    within = f" within {named}, GitLab's default" if narrower else ""
    another = next((f"give another {name}" for name in narrower if name in type(action).model_fields), "")
    if filters:
        optional = [name for name in filters if not type(action).model_fields[name].is_required()]
        leave_out = f"leave {'one' if len(optional) > 1 else optional[0]} out" if optional else ""
        more = " or ".join(filter(None, (another, leave_out)))
        return f"Nothing matches {', '.join(filters)}{within}" + (f"; {more} to see more." if more else ".")
    if another:
        return f"There are none{within}; {another} to see more."
    return f"There are none{within} that this token can see."


def _lets_all_through(action: Action, name: str) -> bool:
    """`all` where it is a value to choose. `any` is none of these: GitLab's `due_date: any` is whatever has a date."""
    return getattr(action, name) == "all" and "all" in shapes(type(action))[name].values


def _number(headers: Mapping[str, str], name: str, default: int) -> int:
    value = whole_number(headers.get(name, ""))
    return default if value is None else value

"""Paging headers that mislead, put right."""

from __future__ import annotations

from collections.abc import Mapping


def counted(headers: Mapping[str, str], count: int, *, searched: bool = False) -> dict[str, str]:
    """The headers of a page of `count` tags or tree entries.

    GitLab 17 announces a next page of them after the last one too, and its total counts what a search of tags
    left out.
    """
    page, per_page = int(headers.get("x-page") or 1), int(headers.get("x-per-page") or 20)
    full = count >= per_page
    last = full and not searched and headers.get("x-total-pages") == str(page)
    misleading = set() if full and not last else {"link", "x-next-page"}
    if searched:
        misleading |= {"x-total", "x-total-pages"}
    true = {name: value for name, value in headers.items() if name not in misleading}
    if searched and 0 < count < per_page:
        true["x-total"] = str((page - 1) * per_page + count)
    return true

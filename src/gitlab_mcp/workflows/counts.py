"""How many things of a list there are for each label, author, week…: a table in place of a hundred rows.

GitLab counts by state alone. For everything else its pages are read here, a bounded number of the longest ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from functools import partial
from typing import Any, ClassVar, Final, Self

from pydantic import field_validator, model_validator

from gitlab_mcp.actions.action import Action
from gitlab_mcp.actions.exchange import Answer, GitLab, Request, whole_number
from gitlab_mcp.actions.fields import broken_rule
from gitlab_mcp.actions.result import Omission, Result, partial_read_notices
from gitlab_mcp.actions.scopes import Paged
from gitlab_mcp.gitlab.concurrently import answered, concurrently
from gitlab_mcp.gitlab.faults import Fault
from gitlab_mcp.gitlab.paging import has_next_page, items_of
from gitlab_mcp.results.shown_fields import pick_fields, shown_fields

MOST_PAGES: Final = 10
ROWS_OF_A_PAGE: Final = 100
MOST_SHOWN: Final = 50
"""Rows of the table."""
_WITHOUT_A_TOTAL: Final = (range(2, 5), range(5, MOST_PAGES + 1))
"""The pages to read side by side where nobody knows how many there are."""
_TIMES: Final = ("week", "month")

Json = Mapping[str, Any]


class Countable(Paged):
    """A list that `count_by` makes a table of; the subclass declares that field with the words it takes."""

    counts: ClassVar[tuple[str, Mapping[str, str]]]
    """What the rows are called, and where in a row each word of `count_by` is found: `assignees.username`."""

    @field_validator("count_by", mode="before", check_fields=False)
    @classmethod
    def _one_of_several(cls, value: Any) -> Any:
        """`labels`, as a row calls them, is label."""
        words = cls.counts[1]
        plurals = {plural: word for word in words for plural in (f"{word}s", f"{word}es")}
        return plurals.get(value, value) if isinstance(value, str) else value

    @model_validator(mode="after")
    def _a_page_or_a_count(self) -> Self:
        given = [name for name in ("page", "per_page", "order_by", "sort") if name in self.model_fields_set]
        if given and "count_by" in self.model_fields_set:
            raise broken_rule("left out where count_by is given", field=given[0])
        return self

    async def run(self, gitlab: GitLab) -> Answer | Result:
        by = self.given().get("count_by")
        return await (super().run(gitlab) if by is None else self.counted(gitlab, by))

    async def counted(self, gitlab: GitLab, by: str) -> Result:
        """Override where GitLab counts some of it itself."""
        what, members = self.counts
        return await counted_by(gitlab, self, by, members[by], what)


async def counted_by(gitlab: GitLab, action: Action, by: str, member: str, what: str) -> Result:
    """By reading pages. `member` is the path of it in a row, `what` the name of the rows."""
    request = action.request(count_by=None)
    first = await gitlab.send(_page(request, 1))
    answers = [first, *await _other_pages(gitlab, request, first)]
    rows = {row.get("id", index): row for index, row in enumerate(_rows(answers, request.path))}
    counts = Counter(value for row in rows.values() for value in _values(row, by, member))
    unread = [
        f"page {number}" for number, answer in enumerate(answers, start=1) if not isinstance(answer, Answer)
    ]
    last = answers[-1]
    has_more = isinstance(last, Answer) and has_next_page(last)
    left_out = []
    if has_more:
        omitted = None if first.total is None else first.total - len(rows)
        how = "count what created_after and created_before let through, part by part"
        left_out.append(Omission(f"{what} that were not counted", omitted, how))
    return _table(action, by, counts, len(rows), first.total, what, left_out, unread)


async def counted_by_totals(
    gitlab: GitLab, action: Action, by: str, values: Sequence[str], what: str
) -> Result:
    """GitLab's own total for each of a few values: as many requests, whatever the number of rows."""
    request = action.request(count_by=None)
    answers = await concurrently(
        [partial(gitlab.send, _with(request, **{by: value, "per_page": 1})) for value in values]
    )
    if all(not isinstance(answer, Answer) for answer in answers):
        answered(answers[0])
    counts = Counter[Any]()
    too_many, unread = [], []
    for value, answer in zip(values, answers, strict=True):
        if not isinstance(answer, Answer):
            unread.append(f"{by} {value}")
        elif answer.total is None:
            too_many.append(
                Omission(f"how many are {value}: GitLab counts to 10,000", None, "narrow the list")
            )
        elif answer.total:
            counts[value] = answer.total
    return _table(action, by, counts, counts.total(), None, what, too_many, unread)


async def counted_by_statistics(gitlab: GitLab, action: Action, what: str) -> Result:
    """By state, in the one request that GitLab has for it."""
    request = action.request(count_by=None)
    answer = await gitlab.send(replace(request, path=f"{request.path}_statistics", route=""))
    found = answer.body["statistics"]["counts"]
    counts = Counter({state: found[state] for state in ("opened", "closed") if found.get(state)})
    return _table(action, "state", counts, counts.total(), None, what, [], [])


def _table(
    action: Action,
    by: str,
    counts: Counter[Any],
    counted: int,
    total: int | None,
    what: str,
    left_out: Sequence[Omission],
    unread: Sequence[str],
) -> Result:
    rows = [{by: value, "count": count} for value, count in counts.most_common()]
    if by in _TIMES:
        rows.sort(key=lambda row: str(row[by]), reverse=True)
    data: dict[str, Any] = {"items": rows[:MOST_SHOWN], "counted": counted}
    if total is not None and total != counted:
        data["total"] = total
    if counts.total() > counted:
        data["remark"] = (
            f"What has several is counted once for each, so the counts exceed the number of {what}."
        )
    if unasked := action.filters_not_asked_for():
        data["filters_not_asked_for"] = dict(unasked)
    if len(rows) > MOST_SHOWN:
        rest = Omission(f"rows of the table ({by})", len(rows) - MOST_SHOWN, "narrow the list by its filters")
        left_out = [*left_out, rest]
    return Result(data=data, truncated=left_out, warnings=partial_read_notices(unread))


async def _other_pages(gitlab: GitLab, request: Request, first: Answer) -> list[Answer | Fault]:
    pages = whole_number(first.headers.get("x-total-pages", ""))
    batches = _WITHOUT_A_TOTAL if pages is None else (range(2, min(pages, MOST_PAGES) + 1),)
    read: list[Answer | Fault] = []
    last: Answer | Fault = first
    for batch in batches:
        if not isinstance(last, Answer) or not has_next_page(last):
            break
        read += await concurrently([partial(gitlab.send, _page(request, number)) for number in batch])
        last = read[-1]
    return read


def _page(request: Request, number: int) -> Request:
    return _with(request, per_page=ROWS_OF_A_PAGE, **({"page": number} if number > 1 else {}))


def _with(request: Request, **query: Any) -> Request:
    return replace(request, query={**request.query, **query})


def _rows(answers: Sequence[Answer | Fault], path: str) -> Iterator[Json]:
    for answer in answers:
        if isinstance(answer, Answer):
            yield from items_of(answer, path)


def _values(row: Json, by: str, member: str) -> list[Any]:
    """What the row counts for; None where it has none."""
    value = pick_fields(row, shown_fields(f"value={member}").alone, slim_instead=False).get("value")
    if by in _TIMES:
        return [_begin(by, value)]
    if isinstance(value, list):
        return list(dict.fromkeys(value)) or [None]
    return [value]


def _begin(of: str, time: Any) -> str | None:
    """The first day of its week, or its month."""
    try:
        day: date = datetime.fromisoformat(time).date()
    except (TypeError, ValueError):
        return None
    return f"{day:%Y-%m}" if of == "month" else (day - timedelta(days=day.weekday())).isoformat()

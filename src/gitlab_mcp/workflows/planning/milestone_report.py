"""How a milestone stands: what is done, what is open, what is late, and whose it is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import date
from functools import partial
from typing import Any, Final

from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.references import project_of
from gitlab_mcp.actions.result import Omission, Result, partial_read_notices
from gitlab_mcp.failures.counted import counted
from gitlab_mcp.gitlab.concurrently import answered, concurrently, unread
from gitlab_mcp.gitlab.paging import every_page, has_next_page, items_of
from gitlab_mcp.results.shown_fields import pick_fields, shown_fields

MOST_SHOWN: Final = 6
"""Of each list."""
MOST_PEOPLE: Final = 8
_LONGEST_TITLE: Final = 70

_MILESTONE: Final = shown_fields("id title state start_date due_date web_url").in_a_list
_ISSUE: Final = shown_fields("iid title due_date assignees=assignees.username").in_a_list
_MERGE_REQUEST: Final = shown_fields("iid title draft:mark author=author.username").in_a_list

Json = Mapping[str, Any]


async def milestone_report(gitlab: GitLab, path: str, *, in_group: bool) -> Result:
    """`path` is that of the milestone, which alone must be readable."""
    asks: list[Callable[[], Awaitable[Answer]]] = [
        partial(gitlab.get, path),
        partial(every_page, gitlab, f"{path}/issues"),
        partial(every_page, gitlab, f"{path}/merge_requests"),
    ]
    milestone, issues, merge_requests = await concurrently(asks)
    lists = {"issues": issues, "merge requests": merge_requests}
    left_out = [
        Omission(f"{what} that were not counted", None, f"browse_milestones {what.replace(' ', '_')}")
        for what, answer in lists.items()
        if isinstance(answer, Answer) and has_next_page(answer)
    ]
    data, cut = _told(
        answered(milestone).body, _items(issues), _items(merge_requests), gitlab.today, with_project=in_group
    )
    return Result(
        data=data,
        warnings=partial_read_notices(unread(lists)),
        truncated=[*cut, *left_out],
    )


def _items(answer: object) -> list[Json] | None:
    return items_of(answer, "milestone") if isinstance(answer, Answer) else None


def _told(
    milestone: Json,
    issues: Sequence[Json] | None,
    merge_requests: Sequence[Json] | None,
    today: date,
    *,
    with_project: bool,
) -> tuple[dict[str, Any], list[Omission]]:
    cut: list[Omission] = []
    said: list[str] = []
    data: dict[str, Any] = {"verdict": "", "milestone": pick_fields(milestone, _MILESTONE)}

    def rows(name: str, things: Sequence[Json], show: Any, how: str) -> None:
        if things:
            data[name] = [_row(each, show, with_project) for each in things[:MOST_SHOWN]]
        if len(things) > MOST_SHOWN:
            cut.append(Omission(name, len(things) - MOST_SHOWN, how))

    if issues is not None:
        done = [each for each in issues if each["state"] == "closed"]
        still_open = [each for each in issues if each["state"] != "closed"]
        late = sorted(
            (each for each in still_open if _is_past(each, today)), key=lambda each: each["due_date"]
        )
        nobodys = [each for each in still_open if not each.get("assignees")]
        data["issues"] = {
            "done": len(done),
            "open": len(still_open),
            "late": len(late),
            "nobodys": len(nobodys),
        }
        said.append(
            f"{len(done)} of {counted(len(issues), 'issue')} done, {len(still_open)} open, {len(late)} late"
        )
        rows("late_issues", late, _ISSUE, "browse_milestones issues")
        others = [each for each in still_open if not _is_past(each, today)]
        rows("other_open_issues", others, _ISSUE, "browse_milestones issues")
    if merge_requests is not None:
        merged = sum(each["state"] == "merged" for each in merge_requests)
        open_requests = [each for each in merge_requests if each["state"] in ("opened", "locked")]
        data["merge_requests"] = {"merged": merged, "open": len(open_requests)}
        said.append(f"{counted(merged, 'merge request')} merged, {len(open_requests)} open")
        rows("open_merge_requests", open_requests, _MERGE_REQUEST, "browse_milestones merge_requests")
    people = _people(issues or (), merge_requests or (), today)
    if people:
        data["people"] = people[:MOST_PEOPLE]
    if len(people) > MOST_PEOPLE:
        cut.append(Omission("people", len(people) - MOST_PEOPLE, "browse_issues list with count_by"))
    data["verdict"] = "; ".join((*said, _when_due(milestone, today))) + "."
    return data, cut


def _row(thing: Json, show: Any, with_project: bool) -> dict[str, Any]:
    shown = dict(pick_fields(thing, show))
    if len(shown.get("title", "")) > _LONGEST_TITLE:
        shown["title"] = f"{shown['title'][:_LONGEST_TITLE]}…"
    if with_project:
        return {"project": project_of(thing), **shown}
    return shown


def _is_past(issue: Json, today: date) -> bool:
    due = issue.get("due_date")
    return due is not None and date.fromisoformat(due) < today


def _when_due(milestone: Json, today: date) -> str:
    if milestone["state"] == "closed":
        return "it is closed"
    if not milestone.get("due_date"):
        return "it has no due date"
    days = (date.fromisoformat(milestone["due_date"]) - today).days
    if days == 0:
        return "it is due today"
    return f"it is due in {counted(days, 'day')}" if days > 0 else f"it was due {counted(-days, 'day')} ago"


def _people(issues: Iterable[Json], merge_requests: Iterable[Json], today: date) -> list[dict[str, Any]]:
    """Who has done what and has what to do. Those with the most to do come first."""
    counts: dict[str, dict[str, int]] = {}

    def count(name: str, what: str) -> None:
        of_person = counts.setdefault(name, {})
        of_person[what] = of_person.get(what, 0) + 1

    for issue in issues:
        for assignee in issue.get("assignees") or ():
            count(assignee["username"], "issues_done" if issue["state"] == "closed" else "issues_open")
            if issue["state"] != "closed" and _is_past(issue, today):
                count(assignee["username"], "late")
    for merge_request in merge_requests:
        if merge_request["state"] == "merged" and merge_request.get("author"):
            count(merge_request["author"]["username"], "merged")
    busiest = sorted(counts.items(), key=lambda each: (-each[1].get("issues_open", 0), each[0]))
    return [{"username": name, **of_person} for name, of_person in busiest]

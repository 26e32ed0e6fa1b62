"""What waits for the caller: reviews, own merge requests and what blocks them, issues, mentions, to-dos, red pipelines.

Merge requests are asked for by GraphQL, which alone tells in one question what blocks each; issues and to-dos by REST,
at the same time. Where GraphQL does not answer, REST is asked for merge requests too.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.references import project_of
from gitlab_mcp.actions.result import Notice, Omission, Result, partial_read_notices
from gitlab_mcp.failures.codes import NoticeCode
from gitlab_mcp.failures.counted import counted
from gitlab_mcp.gitlab.concurrently import answered, concurrently, unread
from gitlab_mcp.gitlab.faults import FAULTS
from gitlab_mcp.gitlab.graphql import numeric_id, value_at
from gitlab_mcp.gitlab.merge_checks import BEING_CHECKED
from gitlab_mcp.gitlab.paging import how_many, items_of
from gitlab_mcp.refusals.merge_blockers import BLOCKERS, failed_checks
from gitlab_mcp.results.shown_fields import pick_fields, shown_fields

MOST_SHOWN: Final = 10
"""Of each part."""
_LONGEST_TEXT: Final = 100

_MINE: Final = (
    "(state: opened, sort: UPDATED_DESC, first: 20) { count nodes { iid title webUrl project { fullPath }"
    " detailedMergeStatus mergeabilityChecks { identifier status } headPipeline { id status }"
    " reviewers { nodes { username mergeRequestInteraction { reviewState } } } } }"
)
_MERGE_REQUESTS: Final = (
    "query { currentUser { username reviewRequestedMergeRequests(state: opened, sort: UPDATED_DESC, first: 20)"
    " { count nodes { iid title webUrl project { fullPath } author { username }"
    " reviewers { nodes { username mergeRequestInteraction { reviewState } } } } }"
    f" authoredMergeRequests{_MINE} assignedMergeRequests{_MINE} }} }}"
)
_HAVE_REVIEWED: Final = ("REVIEWED", "REQUESTED_CHANGES", "APPROVED")
_MENTIONS: Final = ("mentioned", "directly_addressed")
_SHOWN_ABOVE: Final = {"review_requested", "assigned", "build_failed", "unmergeable", "approval_required"}
"""To-dos that say of a listed merge request or issue what its row says already."""

_ISSUE: Final = shown_fields("iid title due_date").in_a_list
_TO_DO: Final = shown_fields(
    "id action_name target_type iid=target.iid title=target.title author=author.username"
    " project=project.path_with_namespace body"
).in_a_list

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Row:
    """A merge request, whoever told of it."""

    project: str
    iid: int
    title: str
    url: str
    author: str | None = None
    failed_checks: Sequence[str] = ()
    is_being_checked: bool = False
    pipeline_id: int | None = None
    """Of its head, if that failed."""

    def shown(self, **more: Any) -> dict[str, Any]:
        return {"project": self.project, "iid": self.iid, "title": _cut(self.title), **more}


@dataclass(frozen=True, slots=True)
class _MergeRequests:
    to_review: Sequence[_Row]
    reviews_total: int
    mine: Sequence[_Row]
    mine_total: int
    unread: Sequence[str] = ()
    warnings: Sequence[Notice] = ()


@dataclass(slots=True)
class _Told:
    data: dict[str, Any] = field(default_factory=dict)
    counts: list[str] = field(default_factory=list)
    left_out: list[Omission] = field(default_factory=list)

    def part(self, name: str, rows: Sequence[Json], total: int, noun: str, more: str) -> None:
        self.counts.append(counted(total, noun))
        if not rows:
            return
        self.data[name] = {"total": total, "items": list(rows[:MOST_SHOWN])}
        missing = total - min(len(rows), MOST_SHOWN)
        if missing > 0:
            self.left_out.append(Omission(name, missing, more))


async def read_inbox(gitlab: GitLab) -> Result:
    """Whatever can be read is told; it is a failure only where nothing can."""
    asks: list[Callable[[], Awaitable[_MergeRequests | Answer]]] = [
        partial(_merge_requests, gitlab),
        partial(gitlab.get, "/issues", scope="assigned_to_me", state="opened"),
        partial(gitlab.get, "/todos"),
    ]
    merge_requests, issues, to_dos = await concurrently(asks)
    if isinstance(merge_requests, FAULTS) and isinstance(issues, FAULTS) and isinstance(to_dos, FAULTS):
        raise issues
    told, listed = _Told(), set[str]()
    missing: list[str] = []
    warnings: list[Notice] = []
    if isinstance(merge_requests, _MergeRequests):
        missing += merge_requests.unread
        warnings += merge_requests.warnings
        listed |= {row.url for row in (*merge_requests.to_review, *merge_requests.mine)}
        _tell_merge_requests(told, merge_requests)
    else:
        missing.append("merge requests")
    if isinstance(issues, Answer):
        listed |= {issue.get("web_url") for issue in items_of(issues, "issues")}
        _tell_issues(told, issues)
    else:
        missing.append("issues")
    if isinstance(to_dos, Answer):
        _tell_to_dos(told, to_dos, listed)
    else:
        missing.append("to-dos")
    data = {"verdict": f"Waiting for you: {', '.join(told.counts)}.", **told.data}
    return Result(data=data, warnings=[*warnings, *partial_read_notices(missing)], truncated=told.left_out)


def _tell_merge_requests(told: _Told, found: _MergeRequests) -> None:
    told.part(
        "reviews_asked_of_me",
        [row.shown(author=row.author) for row in found.to_review],
        found.reviews_total,
        "review",
        "browse_merge_requests list, scope=reviews_for_me, state=opened",
    )
    told.part(
        "my_merge_requests",
        [row.shown(**_what_blocks(row)) for row in found.mine],
        found.mine_total,
        "merge request",
        "browse_merge_requests list, scope=created_by_me, state=opened",
    )
    red = [row for row in found.mine if row.pipeline_id is not None]
    if red:
        told.counts.append(counted(len(red), "failed pipeline"))
        told.data["failed_pipelines"] = [
            {"project": row.project, "merge_request_iid": row.iid, "pipeline_id": row.pipeline_id}
            for row in red[:MOST_SHOWN]
        ]


def _what_blocks(row: _Row) -> dict[str, str]:
    reasons = [BLOCKERS[check].reason for check in row.failed_checks if check in BLOCKERS]
    if not row.failed_checks:
        return {"means": "GitLab is still checking" if row.is_being_checked else "nothing blocks it"}
    return {"why": "; ".join(dict.fromkeys(reasons)) or "GitLab names a check that is not known here"}


def _tell_issues(told: _Told, answer: Answer) -> None:
    soonest_first = sorted(answer.body, key=lambda issue: issue.get("due_date") or "9999")
    rows = [{"project": project_of(issue), **pick_fields(issue, _ISSUE)} for issue in soonest_first]
    told.part(
        "my_issues",
        [{**row, "title": _cut(row.get("title"))} for row in rows],
        how_many(answer),
        "issue",
        "browse_issues list, scope=assigned_to_me, state=opened",
    )


def _tell_to_dos(told: _Told, answer: Answer, listed: set[str]) -> None:
    to_dos: list[Json] = items_of(answer, "todos")
    mentions = [each for each in to_dos if each.get("action_name") in _MENTIONS]
    others = [each for each in to_dos if each not in mentions]
    news = [
        each
        for each in others
        if each.get("target_url") not in listed or each.get("action_name") not in _SHOWN_ABOVE
    ]
    more = "browse_todos list"
    told.part("mentions", [_to_do(each) for each in mentions], len(mentions), "mention", more)
    told.part("to_dos", [_to_do(each) for each in news], len(news), "other to-do", more)
    if (unseen := how_many(answer) - len(to_dos)) > 0:
        told.left_out.append(Omission("older to-dos", unseen, f"{more}, page=2"))


def _to_do(to_do: Json) -> dict[str, Any]:
    shown = dict(pick_fields(to_do, _TO_DO))
    # GitLab repeats the title as the body where nobody wrote anything.
    if shown.get("body") == shown.get("title"):
        shown.pop("body", None)
    return {name: _cut(value) if name in ("title", "body") else value for name, value in shown.items()}


def _cut(text: Any) -> Any:
    return f"{text[:_LONGEST_TEXT]}…" if isinstance(text, str) and len(text) > _LONGEST_TEXT else text


async def _merge_requests(gitlab: GitLab) -> _MergeRequests:
    try:
        me: Json = value_at(await gitlab.graphql(_MERGE_REQUESTS), "currentUser")
        return _as_graphql_tells(me)
    except FAULTS:
        return await _as_rest_tells(gitlab)


def _as_graphql_tells(me: Json) -> _MergeRequests:
    names = ("reviewRequestedMergeRequests", "authoredMergeRequests", "assignedMergeRequests")
    # What the caller may not see any more is null.
    reviews, authored, assigned = ([each for each in value_at(me, name, "nodes") if each] for name in names)
    to_review, by_me, for_me = (value_at(me, name, "count") for name in names)
    waiting = [node for node in reviews if not _has_reviewed(node, me["username"])]
    mine = _each_once(_row(node) for node in (*authored, *assigned))
    return _MergeRequests(
        [_row(node) for node in waiting],
        to_review - (len(reviews) - len(waiting)),
        mine,
        by_me + for_me - (len(authored) + len(assigned) - len(mine)),
    )


def _has_reviewed(node: Json, username: str) -> bool:
    return any(
        reviewer["username"] == username
        and (reviewer.get("mergeRequestInteraction") or {}).get("reviewState") in _HAVE_REVIEWED
        for reviewer in node["reviewers"]["nodes"]
    )


def _row(node: Json) -> _Row:
    pipeline = node.get("headPipeline") or {}
    checks = list(failed_checks({"state": "opened"}, node))
    states = [
        (reviewer.get("mergeRequestInteraction") or {}).get("reviewState")
        for reviewer in node["reviewers"]["nodes"]
    ]
    if "REQUESTED_CHANGES" in states:
        checks.append("requested_changes")
    return _Row(
        str(node["project"]["fullPath"]),
        int(node["iid"]),
        str(node["title"]),
        str(node["webUrl"]),
        (node.get("author") or {}).get("username"),
        checks,
        str(node.get("detailedMergeStatus")).lower() in BEING_CHECKED,
        numeric_id(pipeline["id"]) if pipeline.get("status") == "FAILED" else None,
    )


def _each_once(rows: Iterable[_Row]) -> list[_Row]:
    return list({(row.project, row.iid): row for row in rows}.values())


async def _as_rest_tells(gitlab: GitLab) -> _MergeRequests:
    me = (await gitlab.get("/user")).body["username"]
    filters = {
        "reviews asked of me": {"scope": "all", "reviewer_username": me},
        "merge requests by me": {"scope": "created_by_me"},
        "merge requests assigned to me": {"scope": "assigned_to_me"},
    }
    answers = await concurrently(
        [partial(gitlab.get, "/merge_requests", **each, state="opened") for each in filters.values()]
    )
    if all(isinstance(answer, FAULTS) for answer in answers):
        answered(answers[0])
    reviews, *mine = (answer if isinstance(answer, Answer) else Answer(200, {}, []) for answer in answers)
    rows = [_row_of_rest(each) for answer in mine for each in items_of(answer, "merge_requests")]
    once = _each_once(rows)
    message = (
        "GraphQL did not answer, and REST does not tell whose pipelines failed, nor which reviews are done."
    )
    return _MergeRequests(
        [_row_of_rest(each) for each in items_of(reviews, "merge_requests")],
        how_many(reviews),
        once,
        sum(map(how_many, mine)) - (len(rows) - len(once)),
        unread(dict(zip(filters, answers, strict=True))),
        [Notice(NoticeCode.FALLBACK_USED, message)],
    )


def _row_of_rest(merge_request: Json) -> _Row:
    return _Row(
        project_of(merge_request),
        merge_request["iid"],
        merge_request["title"],
        merge_request["web_url"],
        (merge_request.get("author") or {}).get("username"),
        failed_checks(merge_request, None),
        merge_request.get("detailed_merge_status") in BEING_CHECKED,
    )

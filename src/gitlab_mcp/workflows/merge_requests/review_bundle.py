"""Reads in one job what a reviewer of a merge request needs: the request, commits, open threads and diffs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.result import Omission, Result, partial_read_notices
from gitlab_mcp.gitlab.concurrently import answered, concurrently
from gitlab_mcp.gitlab.faults import FAULTS
from gitlab_mcp.gitlab.paging import every_page, has_next_page, items_if_read, next_page_number
from gitlab_mcp.results.diffs import diff_result
from gitlab_mcp.results.shown_fields import pick_fields, shown_fields
from gitlab_mcp.workflows.merge_requests.open_threads import open_threads

_LISTS: dict[str, dict[str, int]] = {
    # A hundred would be too large for one answer.
    "diffs": {"per_page": 20},
    "commits": {},
    "discussions": {},
    "closes_issues": {},
}
"""The lists that are read, each with its query."""

_MERGE_REQUEST = shown_fields(
    "iid title state draft author=author.username source_branch target_branch description labels"
    " reviewers=reviewers.username detailed_merge_status sha head_pipeline_id=head_pipeline.id"
    " head_pipeline=head_pipeline.status web_url"
).in_a_list
_COMMIT = shown_fields("id=short_id title author=author_name").in_a_list
_ISSUE = shown_fields("iid title state web_url").in_a_list


async def read_review_bundle(gitlab: GitLab, path: str) -> Result:
    """`path` is that of the merge request. Only the merge request itself must be readable."""
    asks: list[Callable[[], Awaitable[Answer]]] = [
        lambda: gitlab.get(path),
        lambda: gitlab.get(f"{path}/approvals"),
    ]
    asks += [
        lambda name=name, query=query: every_page(gitlab, f"{path}/{name}", **query)  # type: ignore[misc]
        for name, query in _LISTS.items()
    ]
    found, approvals, *lists = await concurrently(asks)
    merge_request = answered(found)
    diffs, commits, discussions, issues = map(items_if_read, lists)
    facts: dict[str, Any] = {
        **pick_fields(merge_request.body, _MERGE_REQUEST),
        "approved_by": _approvers(approvals),
        "closes_issues": [pick_fields(issue, _ISSUE) for issue in issues],
        "commits": [pick_fields(commit, _COMMIT) for commit in commits],
        "open_threads": open_threads(discussions),
    }
    result = diff_result(
        diffs,
        source=f"diffs of merge request !{merge_request.body['iid']}",
        changes_count=str(merge_request.body.get("changes_count") or ""),
        facts={name: value for name, value in facts.items() if value},
    )
    answers = zip(("approvals", *_LISTS), (approvals, *lists), strict=True)
    unread = [name for name, answer in answers if isinstance(answer, FAULTS)]
    omissions = [
        _omission(name, answer)
        for name, answer in zip(_LISTS, lists, strict=True)
        if isinstance(answer, Answer) and has_next_page(answer)
    ]
    return Result(
        data=result.data,
        text=result.text,
        truncated=[*result.truncated, *omissions],
        warnings=partial_read_notices(unread),
    )


def _omission(name: str, answer: Answer) -> Omission:
    """The rest of a list that goes on."""
    omitted = None if answer.total is None else answer.total - len(answer.body)
    tool = "browse_discussions list" if name == "discussions" else f"browse_merge_requests {name}"
    return Omission(name, omitted, f"{tool}, page={next_page_number(answer)}")


def _approvers(approvals: object) -> list[str]:
    given = approvals.body.get("approved_by") or () if isinstance(approvals, Answer) else ()
    return [each["user"]["username"] for each in given]

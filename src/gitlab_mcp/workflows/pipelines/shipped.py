"""What deployments shipped: the merge requests of each, beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final

from gitlab_mcp.actions.action import fill
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.result import Notice, partial_read_notices
from gitlab_mcp.failures.codes import NoticeCode
from gitlab_mcp.gitlab.concurrently import concurrently
from gitlab_mcp.gitlab.paging import has_next_page, items_of

MOST: Final = 5
"""Deployments of a list that are asked what they shipped."""
MOST_SHIPPED: Final = 100
"""Merge requests of one."""

_PATH: Final = "/projects/{project_id}/deployments/{id}/merge_requests"


async def with_merge_requests(gitlab: GitLab, project_id: str, listed: Answer) -> Answer:
    deployments: list[Mapping[str, Any]] = listed.body
    asked = deployments[:MOST]
    paths = [fill(_PATH, project_id=project_id, id=each["id"]) for each in asked]
    answers = await concurrently([partial(gitlab.get, path, per_page=MOST_SHIPPED) for path in paths])
    shown, unread, cut = list(deployments), list[str](), list[int]()
    for at, (each, path, answer) in enumerate(zip(asked, paths, answers, strict=True)):
        if not isinstance(answer, Answer):
            unread.append(f"merge requests of deployment {each['id']}")
            continue
        shown[at] = {**each, "merge_requests": items_of(answer, path)}
        if has_next_page(answer):
            cut.append(each["id"])
    warnings = [*listed.warnings, *partial_read_notices(unread)]
    if len(deployments) > MOST or cut:
        message = (
            f"What a deployment shipped is told of the first {MOST} of this list, and up to {MOST_SHIPPED}."
        )
        facts = {
            "look_with": "browse_environments deployment_merge_requests",
            **({"cut": cut} if cut else {}),
        }
        warnings.append(Notice(NoticeCode.TRUNCATED, message, facts))
    return replace(listed, body=shown, warnings=tuple(warnings))

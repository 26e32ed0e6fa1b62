"""Adds to a list of merge requests what each reviewer has said. REST's lists name the reviewers alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.references import project_of
from gitlab_mcp.actions.result import Notice
from gitlab_mcp.failures.codes import NoticeCode
from gitlab_mcp.gitlab.concurrently import concurrently
from gitlab_mcp.gitlab.faults import FAULTS

_REVIEW_STATES: Final = (
    "query($p: ID!, $i: [String!]) { project(fullPath: $p) { mergeRequests(iids: $i) { nodes { iid"
    " reviewers { nodes { username mergeRequestInteraction { reviewState } } } } } } }"
)
_MOST_PROJECTS: Final = 10


async def with_review_states(gitlab: GitLab, answer: Answer) -> Answer:
    """The list with `reviews` in each row: reviewer to state. A project that GraphQL does not show has none."""
    rows = [row for row in answer.body if isinstance(row, Mapping)] if isinstance(answer.body, list) else []
    iids: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        if place := _place(row):
            iids[place[0]].append(place[1])
    asked = list(iids)[:_MOST_PROJECTS]
    answers = await concurrently([_question(gitlab, project, iids[project]) for project in asked])
    read = {
        project: data for project, data in zip(asked, answers, strict=True) if not isinstance(data, FAULTS)
    }
    states = {
        (project, iid): reviews for project, data in read.items() for iid, reviews in _states(data).items()
    }
    unread = [project for project in iids if project not in read]
    warnings = (*answer.warnings, _not_read(unread)) if unread else answer.warnings
    return replace(answer, body=[_with_reviews(row, states) for row in answer.body], warnings=warnings)


def _question(gitlab: GitLab, project: str, iids: Sequence[str]) -> Callable[[], Awaitable[Any]]:
    return lambda: gitlab.graphql(_REVIEW_STATES, {"p": project, "i": iids})


def _not_read(projects: Sequence[str]) -> Notice:
    message = "What the reviewers said was not read in some projects: ask with project_id for one of them."
    return Notice(NoticeCode.PARTIAL, message, {"unread": list(projects)})


def _with_reviews(row: Any, states: Mapping[tuple[str, str], Mapping[str, str]]) -> Any:
    place = _place(row) if isinstance(row, Mapping) else None
    reviews = states.get(place) if place else None
    return {**row, "reviews": reviews} if reviews else row


def _place(row: Mapping[str, Any]) -> tuple[str, str] | None:
    """The path of its project and its number there."""
    project, iid = project_of(row), row.get("iid")
    return (project, str(iid)) if project and iid else None


def _states(data: Any) -> dict[str, dict[str, str]]:
    return {
        str(node.get("iid")): {
            str(reviewer["username"]): str(state).lower()
            for reviewer in _nodes(node.get("reviewers"))
            if (state := (reviewer.get("mergeRequestInteraction") or {}).get("reviewState"))
        }
        for node in _nodes(_member(_member(data, "project"), "mergeRequests"))
    }


def _member(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else None


def _nodes(connection: Any) -> Sequence[Mapping[str, Any]]:
    nodes = _member(connection, "nodes")
    return [node for node in nodes if isinstance(node, Mapping)] if isinstance(nodes, list) else []

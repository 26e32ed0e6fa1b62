"""Adds to a list of merge requests what each reviewer has said. REST's lists name the reviewers alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.references import project_of
from gitlab_mcp.actions.result import Notice
from gitlab_mcp.failures.codes import NoticeCode
from gitlab_mcp.gitlab.concurrently import all_at_once, concurrently
from gitlab_mcp.gitlab.faults import FAULTS, GraphQLRefused

_NODES: Final = "{ nodes { iid reviewers { nodes { username mergeRequestInteraction { reviewState } } } } }"
_REVIEW_STATES: Final = (
    f"query($p: ID!, $i: [String!]) {{ project(fullPath: $p) {{ mergeRequests(iids: $i) {_NODES} }} }}"
)
_MOST_PROJECTS: Final = 10
_AT_ONCE: Final = 5
"""In one question: GitLab allows a complexity of 250, of which each project takes about thirty."""

_OF_ONE: Final = "browse_merge_request_details reviewers"


def _of_several(count: int) -> str:
    declared = ", ".join(f"$p{n}: ID!, $i{n}: [String!]" for n in range(count))
    asked = " ".join(
        f"p{n}: project(fullPath: $p{n}) {{ mergeRequests(iids: $i{n}) {_NODES} }}" for n in range(count)
    )
    return f"query({declared}) {{ {asked} }}"


_STATES_IN_SEVERAL: Final[Mapping[int, str]] = {count: _of_several(count) for count in range(2, _AT_ONCE + 1)}


async def with_review_states(gitlab: GitLab, answer: Answer) -> Answer:
    """The list with `reviews` in each row: reviewer to state. A project that GraphQL does not show has none."""
    rows = [row for row in answer.body if isinstance(row, Mapping)] if isinstance(answer.body, list) else []
    iids: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        if place := _place(row):
            iids[place[0]].append(place[1])
    asked = list(iids)[:_MOST_PROJECTS]
    parts = [asked[first : first + _AT_ONCE] for first in range(0, len(asked), _AT_ONCE)]
    questions = [partial(_read, gitlab, {project: iids[project] for project in part}) for part in parts]
    read = {project: data for part in await all_at_once(questions) for project, data in part.items()}
    states = {
        (project, iid): reviews for project, data in read.items() for iid, reviews in _states(data).items()
    }
    unread = [project for project in iids if project not in read]
    warnings = (*answer.warnings, _not_read(unread)) if unread else answer.warnings
    return replace(answer, body=[_with_reviews(row, states) for row in answer.body], warnings=warnings)


async def _read(gitlab: GitLab, iids: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """What GraphQL shows of each project; nothing of one that it does not answer about."""
    if len(iids) > 1:
        variables: dict[str, Any] = {}
        for n, (project, theirs) in enumerate(iids.items()):
            variables |= {f"p{n}": project, f"i{n}": theirs}
        try:
            data = await gitlab.graphql(_STATES_IN_SEVERAL[len(iids)], variables)
        except GraphQLRefused:
            # One of them is enough for that: each is asked about alone.
            pass
        except FAULTS:
            return {}
        else:
            return {project: data.get(f"p{n}") for n, project in enumerate(iids)}
    answers = await concurrently(
        [partial(gitlab.graphql, _REVIEW_STATES, {"p": project, "i": iids[project]}) for project in iids]
    )
    return {
        project: data.get("project")
        for project, data in zip(iids, answers, strict=True)
        if not isinstance(data, FAULTS)
    }


def _not_read(projects: Sequence[str]) -> Notice:
    message = "What the reviewers said in the projects of unread was not read. look_with tells it of one merge request."
    return Notice(NoticeCode.PARTIAL, message, {"unread": list(projects), "look_with": _OF_ONE})


def _with_reviews(row: Any, states: Mapping[tuple[str, str], Mapping[str, str]]) -> Any:
    place = _place(row) if isinstance(row, Mapping) else None
    reviews = states.get(place) if place else None
    return {**row, "reviews": reviews} if reviews else row


def _place(row: Mapping[str, Any]) -> tuple[str, str] | None:
    """The path of its project and its number there."""
    project, iid = project_of(row), row.get("iid")
    return (project, str(iid)) if project and iid else None


def _states(project: Any) -> dict[str, dict[str, str]]:
    return {
        str(node.get("iid")): {
            str(reviewer["username"]): str(state).lower()
            for reviewer in _nodes(node.get("reviewers"))
            if (state := (reviewer.get("mergeRequestInteraction") or {}).get("reviewState"))
        }
        for node in _nodes(_member(project, "mergeRequests"))
    }


def _member(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else None


def _nodes(connection: Any) -> Sequence[Mapping[str, Any]]:
    nodes = _member(connection, "nodes")
    return [node for node in nodes if isinstance(node, Mapping)] if isinstance(nodes, list) else []

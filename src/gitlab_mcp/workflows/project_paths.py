"""The path of a project in place of its number, where GitLab's list says only the number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.gitlab.concurrently import concurrently

MOST_PROJECTS = 10


async def with_project_paths(gitlab: GitLab, answer: Answer) -> Answer:
    """Asks for each project once, at most `MOST_PROJECTS`. One that cannot be read keeps its number."""
    rows: list[Mapping[str, Any]] = answer.body
    numbers = list(dict.fromkeys(row["project_id"] for row in rows if row.get("project_id")))[:MOST_PROJECTS]
    found = await concurrently([partial(gitlab.get, f"/projects/{number}") for number in numbers])
    paths = {
        number: project.body["path_with_namespace"]
        for number, project in zip(numbers, found, strict=True)
        if isinstance(project, Answer)
    }
    return replace(answer, body=[_named(row, paths) for row in rows])


def _named(row: Mapping[str, Any], paths: Mapping[int, str]) -> dict[str, Any]:
    path = paths.get(row.get("project_id", 0))
    if path is None:
        return dict(row)
    others = {name: value for name, value in row.items() if name != "project_id"}
    return {**others, "project": path}

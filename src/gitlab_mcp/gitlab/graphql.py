"""GraphQL, where REST has no words for it: what was asked for, or a fault that can be told from an empty answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gitlab_mcp.actions.action import fill
from gitlab_mcp.actions.exchange import GitLab, Request
from gitlab_mcp.gitlab.address import GRAPHQL_PATH
from gitlab_mcp.gitlab.faults import GraphQLRefused, Withheld

_ASKED = Request("POST", GRAPHQL_PATH)


async def full_path(gitlab: GitLab, *, project_id: str | None = None, group_id: str | None = None) -> str:
    """GraphQL knows projects and groups by their paths only."""
    given = project_id or group_id or ""
    if not given.isdecimal():
        return given
    if project_id:
        project = (await gitlab.get(fill("/projects/{id}", id=given))).body
        return str(project["path_with_namespace"])
    group = (await gitlab.get(fill("/groups/{id}", id=given), with_projects=False)).body
    return str(group["full_path"])


def reached(data: Mapping[str, Any], *path: str) -> Any:
    """What is at the end of the path. Null on the way is how GraphQL hides, be it for the tier or for the role."""
    found: Any = data
    for depth, name in enumerate(path, start=1):
        found = found.get(name)
        if found is None:
            raise Withheld(_ASKED, (), path[:depth])
    return found


async def mutate(
    gitlab: GitLab, document: str, field: str, variables: Mapping[str, Any]
) -> Mapping[str, Any]:
    """The payload of the mutation; what it says under `errors` is a refusal."""
    payload: Mapping[str, Any] = reached(await gitlab.graphql(document, {"input": variables}), field)
    if payload.get("errors"):
        raise GraphQLRefused(_ASKED, tuple({"message": text} for text in payload["errors"]))
    return payload


def number_of(global_id: str) -> int:
    """`gid://gitlab/Vulnerability/12` is the 12 that REST and people know."""
    return int(global_id.rpartition("/")[2])

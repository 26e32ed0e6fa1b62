"""What GraphQL calls have in common. GraphQL is used where REST cannot do it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from gitlab_mcp.actions.action import fill
from gitlab_mcp.actions.exchange import GitLab, Request
from gitlab_mcp.gitlab.address import GRAPHQL_PATH
from gitlab_mcp.gitlab.faults import GraphQLRefused, Withheld

_REQUEST = Request("POST", GRAPHQL_PATH)


def is_mutation(document: str) -> bool:
    # The word may be anywhere: a query that only mentions it is merely not sent again.
    return re.search(r"\bmutation\b", document) is not None


async def full_path(gitlab: GitLab, *, project_id: str | None = None, group_id: str | None = None) -> str:
    """The path of a project or group given by number or path. GraphQL accepts only paths."""
    given = project_id or group_id or ""
    if not given.isdecimal():
        return given
    if project_id:
        project = (await gitlab.get(fill("/projects/{id}", id=given))).body
        return str(project["path_with_namespace"])
    group = (await gitlab.get(fill("/groups/{id}", id=given), with_projects=False)).body
    return str(group["full_path"])


def value_at(data: Mapping[str, Any], *path: str, asked_by: str = "") -> Any:
    """The value at the end of the path. GraphQL answers null where the tier or the role does not allow to see more.

    `asked_by` is the field of the caller that names what is at the end.
    """
    value: Any = data
    for depth, name in enumerate(path, start=1):
        value = value.get(name)
        if value is None:
            raise Withheld(_REQUEST, (), path[:depth], asked_by if depth == len(path) else "")
    return value


async def mutate(
    gitlab: GitLab, document: str, field: str, variables: Mapping[str, Any]
) -> Mapping[str, Any]:
    """The payload of the mutation. Its `errors` are raised as a refusal."""
    payload: Mapping[str, Any] = value_at(await gitlab.graphql(document, {"input": variables}), field)
    errors = payload.get("errors")
    if errors:
        texts = errors if isinstance(errors, list) else [errors]
        raise GraphQLRefused(_REQUEST, tuple({"message": str(text)} for text in texts))
    return payload


def numeric_id(global_id: str) -> int:
    """REST's number in a global ID: 12 of `gid://gitlab/Vulnerability/12`."""
    return int(global_id.rpartition("/")[2])

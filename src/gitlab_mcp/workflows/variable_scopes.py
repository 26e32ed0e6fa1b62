"""A CI/CD variable is known by its key and its environment scope; several of one key can differ in the scope alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Final

from pydantic import Field

from gitlab_mcp.actions.action import Endpoint
from gitlab_mcp.actions.exchange import Answer, GitLab, Request
from gitlab_mcp.actions.fields import AlsoCalled, Expects, NonEmpty, SentAs
from gitlab_mcp.actions.scopes import InProjectOrGroup
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.gitlab.faults import FAULTS, Refused
from gitlab_mcp.gitlab.paging import every_page

_FILTER: Final = "filter[environment_scope]"

VariableKey = Annotated[
    str,
    Field(pattern=r"^[A-Za-z0-9_]{1,255}$"),
    Expects("letters, digits and _, at most 255"),
    AlsoCalled("name", "variable", "variable_name"),
]
WhichScope = Annotated[
    NonEmpty,
    SentAs(_FILTER),
    AlsoCalled("filter", "scope", "environment"),
    Field(description="Which of the key"),
]


class OfVariable(InProjectOrGroup):
    key: VariableKey
    environment_scope: WhichScope | None = None

    def request_to(self, endpoint: Endpoint, **changes: Any) -> Request:
        request = super().request_to(endpoint, **{_FILTER: None, **changes})
        if self.environment_scope is None:
            return request
        named = {"filter": {"environment_scope": self.environment_scope}}
        if request.body is None:
            return replace(request, query={**request.query, **named})
        return replace(request, body={**request.body, **named})


async def one_of_its_scopes(action: OfVariable, gitlab: GitLab) -> Answer:
    """Send the request; where the key has several scopes and none was named, say which there are."""
    try:
        return await gitlab.send(action.request())
    except Refused as refused:
        if refused.status != 409:
            raise
        raise CallFailed(await _several(action, gitlab)) from None


async def _several(action: OfVariable, gitlab: GitLab) -> Failure:
    scopes = await _scopes(action, gitlab)
    failure = Failure(Code.CONFLICT, "There are several variables of this key, and no scope says which.")
    return failure.knowing(
        valid_values=scopes or None,
        confidence="certain",
        suggested_fix=f"Add environment_scope: one of {', '.join(scopes)}."
        if scopes
        else "Add environment_scope; browse_variables list shows those there are.",
    )


async def _scopes(action: OfVariable, gitlab: GitLab) -> list[str]:
    try:
        found = await every_page(gitlab, action.request().path.rpartition("/")[0])
    except FAULTS:
        return []
    return [
        str(each["environment_scope"])
        for each in found.body
        if isinstance(each, Mapping) and each.get("key") == action.key
    ]

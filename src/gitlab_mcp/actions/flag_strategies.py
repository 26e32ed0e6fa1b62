"""Whom a feature flag is on for: its strategies, each with parameters and environments."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, Self

from pydantic import BeforeValidator, ConfigDict, Field, model_validator

from gitlab_mcp.actions.entry import Entry
from gitlab_mcp.actions.fields import Expects, FromJson, Id, NonEmpty, ReachesNothing, Within, broken_rule

_IN_GROUP: Final = {"groupId": "default"}
_WITHOUT_BEING_SAID: Final = {
    "gradualRolloutUserId": _IN_GROUP,
    "flexibleRollout": {**_IN_GROUP, "stickiness": "default"},
}
_NEEDED: Final = {"gradualRolloutUserId": "percentage", "flexibleRollout": "rollout", "userWithId": "userIds"}
_PERCENT: Final = ("percentage", "rollout")


def _as_text(value: Any) -> Any:
    """GitLab wants text, and says so of nothing but the percentage."""
    if not isinstance(value, dict):
        return value
    return {name: _one_text(each) for name, each in value.items()}


def _one_text(value: Any) -> Any:
    if isinstance(value, list):
        return ",".join(str(each) for each in value)
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


class Environment(Entry):
    model_config = ConfigDict(coerce_numbers_to_str=True)

    environment_scope: NonEmpty


class Strategy(Entry):
    model_config = ConfigDict(coerce_numbers_to_str=True)

    id: Annotated[Id, Within()] | None = None
    name: Literal["default", "gradualRolloutUserId", "flexibleRollout", "userWithId", "gitlabUserList"]
    parameters: (
        Annotated[
            dict[str, str],
            FromJson,
            BeforeValidator(_as_text),
            ReachesNothing(),
            Expects("an object like {percentage: 20}"),
        ]
        | None
    ) = None
    user_list_id: Annotated[Id, Within()] | None = None
    scopes: Annotated[list[Environment], FromJson] | None = None

    @model_validator(mode="after")
    def _parameters_of_its_kind(self) -> Self:
        given = self.parameters or {}
        needed = _NEEDED.get(self.name)
        if needed and needed not in given:
            raise broken_rule(f"{needed} for {self.name}", field="parameters")
        percents = [given[name] for name in _PERCENT if name in given]
        if not all(each.isascii() and each.isdigit() and int(each[:4]) <= 100 for each in percents):
            raise broken_rule("a percentage from 0 to 100", field="parameters")
        if self.name == "gitlabUserList" and self.user_list_id is None:
            raise broken_rule("given for gitlabUserList", field="user_list_id")
        return self

    def sent(self) -> dict[str, Any]:
        """What GitLab needs besides: a new strategy without an environment is on nowhere."""
        parameters = {**_WITHOUT_BEING_SAID.get(self.name, {}), **(self.parameters or {})}
        entry: dict[str, Any] = {"name": self.name, "parameters": parameters}
        if self.id is not None:
            entry = {"id": self.id, **entry}
        if self.user_list_id is not None:
            entry["user_list_id"] = self.user_list_id
        scopes = self.scopes if self.scopes is not None or self.id is not None else [_EVERYWHERE]
        if scopes is not None:
            entry["scopes"] = [{"environment_scope": each.environment_scope} for each in scopes]
        return entry


_EVERYWHERE: Final = Environment(environment_scope="*")

Strategies = Annotated[
    list[Strategy],
    FromJson,
    Field(max_length=50),
    Expects("an array like [{name: gradualRolloutUserId, parameters: {percentage: 20}}]"),
]

"""Variables given to a pipeline or a job when it is started."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from gitlab_mcp.core.fields import Expects, FromJson

Key = Annotated[str, Field(pattern=r"^[A-Za-z0-9_]+$", max_length=255), Expects("letters, digits and _")]


class JobVariable(BaseModel):
    model_config = ConfigDict(
        extra="forbid", frozen=True, hide_input_in_errors=True, coerce_numbers_to_str=True
    )

    key: Key
    value: str


class Variable(JobVariable):
    variable_type: Literal["env_var", "file"] | None = None


def _paired(value: Any) -> Any:
    """Models like to write {"REGION": "eu"} where GitLab wants [{"key": "REGION", "value": "eu"}]."""
    if isinstance(value, Mapping) and not value.keys() >= {"key", "value"}:
        return [{"key": key, "value": each} for key, each in value.items()]
    return [value] if isinstance(value, Mapping) else value


Variables = Annotated[list[Variable], BeforeValidator(_paired), FromJson, Expects("array of {key, value}")]
JobVariables = Annotated[
    list[JobVariable], BeforeValidator(_paired), FromJson, Expects("array of {key, value}")
]

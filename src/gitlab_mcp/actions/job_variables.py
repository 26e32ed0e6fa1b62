"""Variables and inputs given to a pipeline or a job when it is started."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from gitlab_mcp.actions.entry import Entry
from gitlab_mcp.actions.fields import Expects, FromJson, ReachesNothing

Key = Annotated[str, Field(pattern=r"^[A-Za-z0-9_]+$", max_length=255), Expects("letters, digits and _")]


class JobVariable(Entry):
    model_config = ConfigDict(coerce_numbers_to_str=True)

    key: Key
    value: str


VariableType = Literal["env_var", "file"]


class Variable(JobVariable):
    variable_type: VariableType | None = None


Variables = Annotated[list[Variable], FromJson, Expects("an array of {key, value}")]
JobVariables = Annotated[list[JobVariable], FromJson, Expects("an array of {key, value}")]
Inputs = Annotated[dict[str, Any], FromJson, ReachesNothing(), Expects("an object {name: value}")]
"""What the `spec: inputs` of the CI/CD configuration declares."""

"""Many calls in one: the only action that is made of others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from gitlab_mcp.actions.action import Action
from gitlab_mcp.actions.fields import Expects, FromJson, Line, broken_rule

MOST_CALLS = 50
NAME = "run_batch"


class BatchedCall(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    tool: Line
    arguments: Annotated[dict[str, Any], FromJson]

    @model_validator(mode="before")
    @classmethod
    def _flat(cls, value: Any) -> Any:
        """Models also write the arguments beside the tool."""
        if isinstance(value, Mapping) and "tool" in value and "arguments" not in value:
            return {"tool": value["tool"], "arguments": {k: v for k, v in value.items() if k != "tool"}}
        return value

    def within(self, max_bytes: int, detail: str | None) -> dict[str, Any]:
        """The arguments, with no more bytes asked for than there are, and the detail asked for all."""
        asked = self.arguments.get("max_bytes")
        limit = {"max_bytes": max_bytes} if isinstance(asked, int) and asked > max_bytes else {}
        return {**({"detail": detail} if detail else {}), **self.arguments, **limit}


Calls = Annotated[
    list[BatchedCall],
    FromJson,
    Field(min_length=1, max_length=MOST_CALLS),
    Expects("array of {tool, arguments}"),
]


class Batch(Action):
    """Sends nothing itself: whoever carries out calls carries out its calls."""

    calls: Calls

    @model_validator(mode="after")
    def _is_flat(self) -> Batch:
        if any(call.tool == NAME for call in self.calls):
            raise broken_rule(f"calls of other tools than {NAME}", field="calls")
        return self

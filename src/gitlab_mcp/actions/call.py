"""One call: a validated action, and how its answer shall look."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from gitlab_mcp.actions.action import Action, Danger
from gitlab_mcp.actions.exchange import Answer
from gitlab_mcp.actions.fields import Flag, Integer, NonEmpty, Words
from gitlab_mcp.actions.tool import Tool

Detail = Literal["slim", "full"]
Format = Literal["json", "markdown", "both"]

FEWEST_BYTES = 1_000
MOST_BYTES = 200_000
LONGEST_TOKEN = 200


class Options(BaseModel):
    """The fields that every action of every tool takes."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    url: NonEmpty | None = None
    detail: Detail | None = None
    fields: Annotated[Words, Field(min_length=1, max_length=50)] | None = None
    """GitLab's own names of the fields to show, in place of a choice of ours."""
    max_bytes: Annotated[Integer, Field(ge=FEWEST_BYTES, le=MOST_BYTES)] | None = None
    format: Format | None = None
    quick_actions: Annotated[Flag, Field(description="Lines like /close are commands, not text")] | None = (
        None
    )
    dry_run: Flag | None = None
    """Of a write: say what it would do, and do nothing. Of a batch: of each write in it."""
    confirmation_token: Annotated[str, Field(min_length=1, max_length=LONGEST_TOKEN)] | None = None


@dataclass(frozen=True, slots=True)
class Call:
    tool: Tool
    action: Action
    options: Options
    taken_as: Mapping[str, Any] = field(default_factory=dict)
    """Where other names were given: the action that was meant, and the fields that changed."""
    pinned: Mapping[str, str] = field(default_factory=dict)
    """The fields that the server filled in, so that what is done is what was seen: `Action.pinned`."""
    looked_at: Mapping[str, Answer] = field(default_factory=dict)
    """What was looked at for that, by path."""

    @property
    def is_tried_out(self) -> bool:
        """Whether it is a write that must not be made."""
        return bool(self.options.dry_run) and self.action.spec.writes

    @property
    def danger(self) -> Danger:
        """That of the action and its values; a text with quick actions can do more than the action it comes with."""
        return self._at_least(self.action.danger)

    @property
    def danger_of_action(self) -> Danger:
        """As `danger`, whatever the values."""
        return self._at_least(self.action.spec.danger)

    def _at_least(self, danger: Danger) -> Danger:
        return Danger.DESTRUCTIVE if self.options.quick_actions and danger is Danger.REVERSIBLE else danger

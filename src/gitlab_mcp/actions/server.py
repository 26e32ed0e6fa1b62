"""What an action may use of this server, where GitLab alone is not enough."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from gitlab_mcp.actions.ask import Ask
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.result import Result
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import Failure

if TYPE_CHECKING:
    from gitlab_mcp.actions.action import Action
    from gitlab_mcp.actions.registry import Registry


MayReach = Callable[[int], Awaitable[bool]]
"""`Server.may_reach`."""


class Server(Protocol):
    """This server, for the length of one call and with the rights of its caller."""

    @property
    def gitlab(self) -> GitLab: ...

    @property
    def ask(self) -> Ask: ...

    @property
    def registry(self) -> Registry: ...

    @property
    def max_bytes(self) -> int:
        """How long the answer to this call may be."""
        ...

    def tier_map(self) -> Any:
        """The `tiers.feature_map.TierMap` in use. (This room is below `tiers/`, so the type has no name here.)"""
        ...

    def switch_on_with(self, tool: str) -> str | None:
        """The setting or header that lists this tool; None where it is listed."""
        ...

    def may_be_called(self, tool: str) -> bool:
        """Whether the tool can be called, listed or not."""
        ...

    async def may_reach(self, project_id: int) -> bool:
        """Whether a call may also read this project, which GitLab's answers lead to and the caller did not name."""
        ...

    def refusal(self, action: type[Action]) -> tuple[Code, str] | None:
        """The code and the reason with which this server itself refuses every call of the action."""
        ...

    async def make_call(self, tool: str, arguments: Mapping[str, Any], *, max_bytes: int) -> Result:
        """Another call for the same caller: validated, guarded, counted and logged as if it came alone."""
        ...

    async def make_step(
        self, tool: str, arguments: Mapping[str, Any], known: Mapping[str, Answer] | None = None
    ) -> Result:
        """A write that is part of this call: as `make_call`, but the yes to this call is a yes to its steps.

        `known` is what the step would read first and this call has found out, by path."""
        ...

    def not_made(self, tool: str, arguments: Mapping[str, Any], failure: Failure) -> Failure:
        """The failure of a call that could not be made: named, counted and logged as one that was."""
        ...

    @property
    def can_ask_person(self) -> bool:
        """Whether the person at the client can be asked directly."""
        ...

    async def rehearse(self, tool: str, arguments: Mapping[str, Any]) -> Failure | None:
        """What the person would be asked before such a call; None where nothing. Nothing is done, counted or used up.

        Raises Declined where the person has said no to it."""
        ...

    def render(self, failure: Failure) -> Mapping[str, Any]:
        """A failure in the style the caller reads."""
        ...

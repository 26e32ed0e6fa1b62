"""The only place where the parts are joined."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gitlab_mcp.core.registry import Registry
from gitlab_mcp.core.result import Result
from gitlab_mcp.core.unsaid import Surroundings
from gitlab_mcp.dispatch import Caller, Dispatch
from gitlab_mcp.policy import Guard
from gitlab_mcp.policy.read_only import reads_only
from gitlab_mcp.settings import Settings

if TYPE_CHECKING:
    from gitlab_mcp.gitlab.client import GitLabClient, Upstream

Report = Callable[[float, float | None, str], None]


class App:
    """One server's life. Nothing is imported or opened before the first call that needs it."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._token = settings.token_source()
        self._upstream: Upstream | None = None
        self._known: Any = None
        guards: list[Guard] = [reads_only] if settings.read_only else []
        self._dispatch = Dispatch(
            registry=Registry(),
            here=Surroundings(settings.url, settings.project),
            guards=guards,
            max_bytes=settings.max_bytes,
        )

    def listing(self) -> Sequence[Mapping[str, Any]]:
        tools = self._dispatch.registry.listing(self._settings.toolsets)
        if self._settings.read_only:
            return [tool for tool in tools if tool["annotations"]["readOnlyHint"]]
        return tools

    async def call(self, tool: str, arguments: Mapping[str, Any], report: Report | None = None) -> Result:
        return await self._dispatch(tool, arguments, lambda: self._caller(report))

    def gitlab(self, report: Report | None = None) -> GitLabClient:
        """GitLab with the rights of the configured token."""
        from gitlab_mcp.gitlab.faults import NoToken

        token = self._token()
        if token is None and not self._settings.replay:
            raise NoToken
        if token is None:
            return self._connection().as_caller(None, report=report)
        return self._connection().as_caller(token.value.reveal(), kind=token.kind, report=report)

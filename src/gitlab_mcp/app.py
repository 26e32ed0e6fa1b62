"""The only place where the parts are joined."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from gitlab_mcp.core.registry import Registry
from gitlab_mcp.core.result import Result
from gitlab_mcp.core.unsaid import Surroundings
from gitlab_mcp.dispatch import Caller, Dispatch
from gitlab_mcp.policy import Guard
from gitlab_mcp.policy.read_only import reads_only
from gitlab_mcp.settings import Settings

if TYPE_CHECKING:
    from requests.adapters import BaseAdapter

    from gitlab_mcp.gitlab.client import GitLabClient, Upstream
    from gitlab_mcp.gitlab.instance import Answers

Report = Callable[[float, float | None, str], None]


class App:
    """One server's life. Nothing is imported or opened before the first call that needs it."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._token = settings.token_source()
        self._upstream: Upstream | None = None
        self._answers: Answers | None = None
        guards: list[Guard] = [reads_only] if settings.read_only else []
        self._dispatch = Dispatch(
            registry=Registry(),
            here=Surroundings(settings.url, settings.project),
            guards=guards,
            max_bytes=settings.max_bytes,
        )

    def listing(self) -> Sequence[Mapping[str, Any]]:
        """The tools of the chosen toolsets; those that write are not offered where nothing may be written."""
        tools = self._dispatch.registry.listing(self._settings.toolsets)
        if self._settings.read_only:
            return [tool for tool in tools if tool["annotations"]["readOnlyHint"]]
        return tools

    async def call(self, tool: str, arguments: Mapping[str, Any], report: Report | None = None) -> Result:
        return await self._dispatch(tool, arguments, lambda: self._caller(report))

    def gitlab(self, report: Report | None = None) -> GitLabClient:
        """GitLab with the rights of the configured token."""
        token = self._token()
        if token is None:
            return self._connected().as_caller(None, report=report)
        return self._connected().as_caller(token.value.reveal(), kind=token.kind, report=report)

    def serve_stdio(self) -> int:
        from gitlab_mcp.protocol import GitLabServer
        from gitlab_mcp.transports import stdio

        server = GitLabServer(self, error_style=self._settings.error_style, format=self._settings.format)
        try:
            return stdio.serve(server, self.close)
        finally:
            self.close()

    def close(self) -> None:
        if self._upstream is not None:
            self._upstream.close()
            self._upstream = None

    def _caller(self, report: Report | None) -> Caller:
        from gitlab_mcp.gitlab.instance import Answers, InstanceAsk

        if self._answers is None:
            self._answers = Answers()
        token = self._token()
        who = hashlib.sha256(token.value.reveal().encode()).hexdigest() if token else ""
        gitlab = self.gitlab(report)
        return Caller(gitlab, InstanceAsk(gitlab, self._answers, caller=who, tier=self._settings.tier))

    def _connected(self) -> Upstream:
        if self._upstream is None:
            from gitlab_mcp.gitlab.client import Limits, Upstream

            settings = self._settings
            self._upstream = Upstream(
                settings.url,
                verify=str(settings.ca_file) if settings.ca_file else not settings.insecure,
                limits=Limits(settings.connect_timeout, settings.read_timeout, settings.deadline),
                adapter=self._adapter() if settings.record or settings.replay else None,
                needs_token=not settings.replay,
            )
        return self._upstream

    def _adapter(self) -> Callable[[], BaseAdapter]:
        """What stands between us and the network when exchanges are recorded or played."""
        settings = self._settings

        def adapter() -> BaseAdapter:
            if settings.replay:
                from gitlab_mcp.gitlab.cassette import load_cassettes
                from gitlab_mcp.gitlab.replay import ReplayAdapter

                return ReplayAdapter(chain.from_iterable(map(load_cassettes, settings.replay)))
            from gitlab_mcp.gitlab.record import recording

            assert settings.record is not None
            token = self._token()
            named = {token.value.reveal(): settings.record_as} if token and settings.record_as else None
            return recording(settings.record, settings.url, aliases=named, scrub_emails=settings.scrub_emails)

        return adapter

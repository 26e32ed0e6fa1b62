"""Several accounts behind one server. Each has an App of its own, so that nothing of one is known to another: no
connection, no answer that was kept, no quota, no confirmation, no limit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gitlab_mcp.actions.account_field import with_account_field
from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.actions.toolsets import TOOLSETS
from gitlab_mcp.settings import Settings
from gitlab_mcp.settings.listing import listed_tools
from gitlab_mcp.settings.loading import NO_PROFILE

if TYPE_CHECKING:
    from gitlab_mcp.actions.exchange import Report
    from gitlab_mcp.actions.result import Result
    from gitlab_mcp.app import App, ServeStdio
    from gitlab_mcp.callers import Consent, RequestContext
    from gitlab_mcp.failures.failure import Failure
    from gitlab_mcp.protocol.server import GitLabServer


def accounts_of(settings: Settings) -> Mapping[str, Settings]:
    """By name: the profiles, and before them what the settings say outside of all profiles."""
    outside = {NO_PROFILE: replace(settings, profiles={})} if settings.has_account else {}
    return {**outside, **settings.profiles}


def listing(settings: Settings, registry: Registry) -> Sequence[Mapping[str, Any]]:
    """What `tools/list` answers: the tools of every account, which a call then names. SettingsError as for one."""
    if not settings.profiles:
        return listed_tools(settings, registry)()
    accounts = accounts_of(settings)
    wanted = {tool["name"] for each in accounts.values() for tool in listed_tools(each, registry)()}
    listed = [tool for tool in registry.listing(TOOLSETS) if tool["name"] in wanted]
    return [with_account_field(tool, list(accounts), _usual(accounts)) for tool in listed]


def application(settings: Settings, registry: Registry | None = None) -> App | Profiles:
    """What answers calls: one App, or one for each account."""
    from gitlab_mcp.app import App

    return Profiles(settings, registry) if settings.profiles else App(settings, registry)


class Profiles:
    """Hands each call to the account it is for. To an MCP server it is what an App is."""

    def __init__(self, settings: Settings, registry: Registry | None = None) -> None:
        from gitlab_mcp.app import App
        from gitlab_mcp.calls.account_choice import AccountChoice

        accounts = accounts_of(settings)
        self._settings = settings
        self._registry = registry or Registry()
        self._choose = AccountChoice({name: each.url for name, each in accounts.items()}, _usual(accounts))
        self._apps = {name: App(each, self._registry) for name, each in accounts.items()}
        self._listing = listing(settings, self._registry)

    def listing(self, request_context: RequestContext | None = None) -> Sequence[Mapping[str, Any]]:
        return self._listing

    async def listing_of_caller(
        self, request_context: RequestContext | None
    ) -> Sequence[Mapping[str, Any]] | None:
        """Under a policy: the tools that the rule of at least one account leaves."""
        if self._settings.policy is None:
            return None
        left: set[str] = set()
        for app in self._apps.values():
            listed = await app.listing_of_caller(request_context)
            left |= {tool["name"] for tool in (app.listing() if listed is None else listed)}
        return [tool for tool in self._listing if tool["name"] in left]

    def has_field(self, tool: str, field: str) -> bool:
        return self._any.has_field(tool, field)

    def meant_call(self, tool: str, arguments: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
        return self._any.meant_call(tool, arguments)

    def record_refusal(self, failure: Failure) -> Failure:
        return self._any.record_refusal(failure)

    async def call(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        report: Report | None = None,
        request_context: RequestContext | None = None,
        consent: Consent | None = None,
    ) -> Result:
        from gitlab_mcp.callers import NOBODY_TO_ASK
        from gitlab_mcp.calls.account_choice import naming_account, naming_account_in_answer
        from gitlab_mcp.failures.failure import CallFailed

        try:
            name, rest = self._choose(self._registry, tool, arguments)
        except CallFailed as failed:
            raise CallFailed(self._any.not_made(tool, arguments, failed.failure)) from None
        try:
            result = await self._apps[name].call(
                tool, rest, report, request_context, consent or NOBODY_TO_ASK
            )
        except CallFailed as failed:
            raise CallFailed(naming_account(failed.failure, name)) from failed
        return replace(result, data=naming_account_in_answer(result.data, name))

    def over_stdio(self) -> ServeStdio:
        from gitlab_mcp.app import over_stdio

        return over_stdio(self, self._settings)

    def measure(self, server: GitLabServer) -> None:
        for app in self._apps.values():
            app.measure(server)

    def close(self) -> None:
        for app in self._apps.values():
            app.close()

    @property
    def _any(self) -> App:
        """For what is the same in all of them."""
        return next(iter(self._apps.values()))


def _usual(accounts: Mapping[str, Settings]) -> str | None:
    """The account of a call that names none."""
    if NO_PROFILE in accounts:
        return NO_PROFILE
    return next(iter(accounts)) if len(accounts) == 1 else None

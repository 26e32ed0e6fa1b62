"""The only place where the parts are joined."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import chain
from typing import TYPE_CHECKING, Any, Protocol

from gitlab_mcp.accounts.given_token import GivenToken
from gitlab_mcp.actions.arguments.defaults import InstanceDefaults
from gitlab_mcp.actions.arguments.wrapped_calls import looks_like
from gitlab_mcp.actions.exchange import Report
from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.actions.result import Result
from gitlab_mcp.callers import NOBODY_TO_ASK, CallerKey, Consent, RequestContext, Token
from gitlab_mcp.calls.claims import Claims
from gitlab_mcp.calls.dispatch import Dispatch, Session
from gitlab_mcp.calls.local_files import LocalFiles, NoLocalFiles
from gitlab_mcp.failures.secret_text import hiding, redact_trace
from gitlab_mcp.observability.audit import Audit, PlannedWrite, to_file, to_stderr, to_stdout
from gitlab_mcp.observability.call_log import CallLog
from gitlab_mcp.observability.outcome import Outcome
from gitlab_mcp.observability.sentry import Sentry
from gitlab_mcp.policy.calls_per_caller import CallsPerCaller
from gitlab_mcp.policy.guard import Guard, ProposedCall
from gitlab_mcp.policy.loop_detection import LoopDetection
from gitlab_mcp.policy.personal_rules import NoRule, PersonalRule
from gitlab_mcp.policy.rules import last_guards, operator_guards, request_guards
from gitlab_mcp.settings import Settings, SettingsError
from gitlab_mcp.settings.errors import bad_tier_features, no_redis
from gitlab_mcp.settings.listing import listed_tools
from gitlab_mcp.settings.operator_rules import operator_rules
from gitlab_mcp.spans import unheard
from gitlab_mcp.store import Store
from gitlab_mcp.store.memory import MemoryStore

if TYPE_CHECKING:
    from gitlab_mcp.accounts.kept_account import KeptAccount
    from gitlab_mcp.failures.failure import Failure
    from gitlab_mcp.gitlab.client import GitLabClient, Renew, Upstream
    from gitlab_mcp.gitlab.instance import AnswerCache, CachedLookups
    from gitlab_mcp.gitlab.transport import Adapter
    from gitlab_mcp.observability.metrics import Metrics
    from gitlab_mcp.observability.telemetry import Telemetry
    from gitlab_mcp.protocol.server import Application, GitLabServer
    from gitlab_mcp.settings.policy_file import PolicyFile
    from gitlab_mcp.tiers.feature_map import TierMap
    from gitlab_mcp.transports.front import Opening
    from gitlab_mcp.transports.http import HttpOptions
    from gitlab_mcp.transports.standard_streams import StandardStreams

    class Served(Application, Protocol):
        """What is served, and closed at the end."""

        def measure(self, server: GitLabServer) -> None: ...

        def close(self) -> None: ...


ServeStdio = Callable[["StandardStreams", "Opening"], int]
log = logging.getLogger("gitlab_mcp")

_QUICK = 5.0
"""Seconds for a question about GitLab or a token, not about anything in it."""
_MOST_PEOPLE = 10_000
"""Of so many callers, and of their memberships together, it is remembered who they are."""


class App:
    """One server's life. Nothing is imported or opened before the first call that needs it."""

    def __init__(self, settings: Settings, registry: Registry | None = None) -> None:
        self._settings = settings
        self._own = _own_token(settings)
        self._upstreams: dict[str, Upstream] = {}
        self._answers: AnswerCache | None = None
        self._people: AnswerCache | None = None
        self._tier_map: TierMap | None = None
        self._calls_per_caller = CallsPerCaller(settings.calls_per_caller)
        self._sentry = Sentry(settings.sentry_dsn) if settings.sentry_dsn else None
        self._store = _store(settings)
        self._telemetry = _telemetry(settings)
        self._spans = self._telemetry.spans if self._telemetry else unheard
        registry = registry or Registry()
        self._listed_tools = listed_tools(settings, registry)
        rules = operator_rules(settings)
        self._last_guards = partial(last_guards, rules, self._store, settings.confirmation_key_source())
        self._policy = _policy(settings, registry)
        audit = _audit(settings)
        self._dispatch = Dispatch(
            registry=registry,
            defaults=InstanceDefaults(settings.url, settings.project),
            guards=operator_guards(rules),
            last_guards=self._last_guards(),
            max_bytes=settings.max_bytes,
            tiers=self._tiers,
            render=partial(_rendered, settings.error_style),
            stop_loops=LoopDetection(self._store),
            offered=self._listed_tools.offered(),
            call_log=CallLog(audit or (lambda outcome: None), self._sentry or (lambda outcome, bug: None)),
            claims=Claims(self._store),
            before_write=audit.before if audit else _write_nothing_down,
            local_files=LocalFiles(settings.upload_root),
            spans=self._spans,
        )
        if settings.tier_features:
            # What the operator wrote is checked before anybody calls; what is packaged has been.
            self._tiers()

    def listing(self, request_context: RequestContext | None = None) -> Sequence[Mapping[str, Any]]:
        """What `tools/list` answers."""
        return self._listed_tools(request_context)

    async def listing_of_caller(
        self, request_context: RequestContext | None
    ) -> Sequence[Mapping[str, Any]] | None:
        """What `tools/list` answers this caller; None where that is what it answers everybody."""
        if self._policy is not None:
            try:
                own, problem = await self._own_or_problem()
                url, token = self._whose(request_context, own)
                if problem is not None and token is None:
                    raise problem
                rules = await self._policy.current()
                ask = self._ask(_as(self._connected(url), token, deadline=_QUICK), token)
                rule = await rules.rule_for(ask, url)
            except NoRule:
                return ()
            except Exception:
                # It cannot be told who asks. Whatever is called will be refused.
                return self.listing(request_context)
            return self._listed_tools.under_rule(rule, request_context)
        if request_context is None or not (request_context.read_only or request_context.toolsets is not None):
            return None
        return self.listing(request_context)

    def has_field(self, tool: str, field: str) -> bool:
        """Whether a tool, listed or not, has a field of its own of this name."""
        return self._dispatch.registry.has_field(tool, field)

    def meant_call(self, tool: str, arguments: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
        """The tool and the arguments of the call inside of a call, or those given."""
        return looks_like(tool, arguments, self._dispatch.registry)

    async def call(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        report: Report | None = None,
        request_context: RequestContext | None = None,
        consent: Consent = NOBODY_TO_ASK,
    ) -> Result:
        own, problem = await self._own_or_problem()
        url, token = self._whose(request_context, own)
        caller = CallerKey(
            token.holder if token else "", url, request_context.request_id if request_context else None
        )

        @cache
        def gitlab() -> GitLabClient:
            """One for the whole call, which has one deadline."""
            if problem is not None and token is None:
                # Such a call fails as calls do: told, logged and counted.
                raise problem
            return _as(self._connected(url), token, report, renew=self._renewal(token, own))

        connect = partial(self._session, caller, gitlab, token, limited=request_context is not None)
        with hiding(*(each.value.reveal() for each in (token, own) if each)):
            rule, guards = await self._personal_guards(gitlab, url, token)
            dispatch = self._dispatch_for(request_context, rule, guards, can_ask=consent.can_ask)
            return await dispatch(tool, arguments, caller, connect, consent)

    async def _own_or_problem(self) -> tuple[Token | None, Exception | None]:
        """A caller with a token of their own is served though the server's cannot be had."""
        try:
            return await self._own.token(), None
        except Exception as problem:
            return None, problem

    def _renewal(self, token: Token | None, own: Token | None) -> Renew | None:
        """Only the server's own token is renewed here; a caller's is the caller's."""
        return self._own.token_after if token is not None and token is own else None

    def record_refusal(self, failure: Failure) -> Failure:
        """Log and count a request that was refused before it became a call."""
        return self._dispatch.call_log.record(Outcome(failure.call.operation, 0.0, failure)) or failure

    def not_made(self, tool: str, arguments: Mapping[str, Any], failure: Failure) -> Failure:
        """Log and count a call that was refused before it was clear which account it is for."""
        return self._dispatch.not_made(tool, arguments, CallerKey("", ""), failure)

    async def gitlab(self, report: Report | None = None, token: Token | None = None) -> GitLabClient:
        """GitLab with the rights of this token, or of the server's own."""
        if token is not None:
            return _as(self._connected(self._settings.url), token, report)
        token = await self._own.token()
        return _as(self._connected(self._settings.url), token, report, renew=self._own.token_after)

    async def token_is_accepted(self, request_context: RequestContext) -> bool | None:
        """Whether GitLab accepts the token of this request; None where it does not say."""
        from gitlab_mcp.gitlab.faults import Refused

        if request_context.token is None:
            return None
        url = request_context.gitlab_url or self._settings.url
        gitlab = _as(self._connected(url), request_context.token, deadline=_QUICK)

        try:
            # The token of a job may read nothing else of itself.
            await gitlab.get("/job" if request_context.token.kind == "job" else "/user")
        except Refused as refused:
            # A token without the scope to read it is refused with 403, and is alive.
            return {401: False, 403: True}.get(refused.status)
        except Exception:
            return None
        return True

    async def reaches_gitlab(self) -> bool:
        """Whether GitLab answers at all. Nobody's token is used for it."""
        from gitlab_mcp.gitlab.client import Timeouts, Upstream
        from gitlab_mcp.gitlab.faults import Refused

        if self._settings.replay:
            return True
        upstream = Upstream(
            self._settings.url,
            Timeouts(_QUICK, _QUICK, _QUICK),
            verify=self._settings.verify,
            needs_token=False,
        )
        try:
            await upstream.as_caller(None).get("/version")
        except Refused as refused:
            return refused.status < 500
        except Exception:
            return False
        finally:
            upstream.close()
        return True

    def observe(self, sink: Callable[[Outcome], None]) -> None:
        """From now on `sink` hears how each call ended, too."""
        call_log = self._dispatch.call_log

        def all_of_them(outcome: Outcome) -> None:
            call_log.observe(outcome)
            sink(outcome)

        self._dispatch = replace(self._dispatch, call_log=replace(call_log, observe=all_of_them))

    def over_stdio(self) -> ServeStdio:
        """What serves over standard input and output, with all that takes long to import."""
        return over_stdio(self, self._settings)

    def measure(self, server: GitLabServer) -> None:
        """Tell the collector of telemetry what is called, where there is one."""
        if self._telemetry is not None:
            self._measure(server)

    def serve_http(self) -> int:
        address = self._settings.serving_address()
        from gitlab_mcp.transports import http

        server = self._server()
        metrics = self._measure(server)
        token_checks = http.TokenChecks(self.token_is_accepted, self._settings.url)
        self.observe(token_checks.hear)
        options = _http_options(self._settings)
        port = http.listen(address.host, address.port)
        if options.bearer is None and self._settings.uses_own_token:
            options = http.with_generated_secret(options, port)
        health = self._settings.health
        try:
            return http.serve(
                server,
                port,
                options,
                metrics=metrics,
                token_checks=token_checks,
                readiness_checks={"gitlab": self.reaches_gitlab, "store": self._store.alive},
                health_port=http.listen(health.host, health.port, "health") if health else None,
            )
        finally:
            self.close()

    def _measure(self, server: GitLabServer) -> Metrics:
        from gitlab_mcp.observability.metrics import Metrics

        gauges = {
            "gitlab_mcp_calls_in_flight": ("Tool calls being worked on.", lambda: server.in_flight.count)
        }
        metrics = Metrics(gauges, also=self._telemetry.record if self._telemetry else None)
        self.observe(metrics.count_call)
        if self._telemetry is not None:
            self._telemetry.show(gauges)
            self.observe(self._telemetry.hear)
        return metrics

    def _server(self) -> GitLabServer:
        return _server_of(self, self._settings)

    def close(self) -> None:
        if self._sentry is not None:
            self._sentry.close()
        self._own.finish()
        while self._upstreams:
            self._upstreams.popitem()[1].close()
        self._store.close()
        if self._telemetry is not None:
            self._telemetry.close()

    async def _personal_guards(
        self, gitlab: Callable[[], GitLabClient], url: str, token: Token | None
    ) -> tuple[PersonalRule | None, tuple[Guard, ...]]:
        """The rule of the caller, and the guards that follow from there being a policy."""
        if self._policy is None:
            return None, ()
        try:
            rules = await self._policy.current()
            rule = await rules.rule_for(self._ask(gitlab(), token), url)
        except Exception as problem:
            # A guard raises it, so that it is told, logged and counted as the failure of this call.
            return None, (_Refuse(problem),)
        return rule, (rule,)

    def _dispatch_for(
        self,
        request_context: RequestContext | None,
        rule: PersonalRule | None,
        guards: tuple[Guard, ...],
        *,
        can_ask: bool,
    ) -> Dispatch:
        """What a rule says of the caller, and a request about itself, comes on top of what the operator decided."""
        dispatch = replace(
            self._dispatch,
            guards=(*self._dispatch.guards, *guards),
            last_guards=self._last_guards(rule=rule) if rule else self._dispatch.last_guards,
            offered=self._listed_tools.offered(request_context, can_ask=can_ask, rule=rule),
        )
        if request_context is None:
            return dispatch
        of_request = request_guards(
            read_only=request_context.read_only,
            toolsets=request_context.toolsets,
            trust=request_context.trust,
            only_in=request_context.only_in,
            gitlabs=self._settings.gitlabs(),
        )
        defaults = (
            InstanceDefaults(request_context.gitlab_url) if request_context.gitlab_url else dispatch.defaults
        )
        style = request_context.error_style or self._settings.error_style
        return replace(
            dispatch,
            defaults=defaults,
            guards=(*of_request, *dispatch.guards),
            render=partial(_rendered, style),
            local_files=NoLocalFiles(),
        )

    def _whose(self, request_context: RequestContext | None, own: Token | None) -> tuple[str, Token | None]:
        """The GitLab that is meant, and the token for it."""
        if request_context is None:
            return self._settings.url, own
        if request_context.gitlab_url is not None:
            # The server's own token is for the server's own GitLab.
            return request_context.gitlab_url, request_context.token
        return self._settings.url, request_context.token or own

    def _session(
        self, caller: CallerKey, connected: Callable[[], GitLabClient], token: Token | None, *, limited: bool
    ) -> Session:
        gitlab = connected()
        slot = self._calls_per_caller.slot(caller.token_holder) if limited else nullcontext()
        return Session(gitlab, self._ask(gitlab, token), slot, lambda: gitlab.user_id)

    def _ask(self, gitlab: GitLabClient, token: Token | None) -> CachedLookups:
        from gitlab_mcp.gitlab.instance import AnswerCache, CachedLookups

        if self._answers is None or self._people is None:
            self._answers, self._people = AnswerCache(), AnswerCache(_MOST_PEOPLE)
        return CachedLookups(
            gitlab,
            self._answers,
            caller=token.fingerprint if token else "",
            tier=self._settings.tier,
            sort=token.sort if token else None,
            people=self._people,
        )

    def _tiers(self) -> TierMap:
        """The tier facts, with the operator's own over them."""
        if self._tier_map is None:
            from gitlab_mcp.tiers.feature_map import TierMapError, tier_map

            own = self._settings.tier_features
            try:
                features = tier_map(*([own] if own else []))
            except TierMapError as mistake:
                source = self._settings.sources.get("tier_features", "tier_features")
                raise SettingsError(bad_tier_features(source, str(mistake))) from None
            self._tier_map = features
        return self._tier_map

    def _connected(self, url: str) -> Upstream:
        if url not in self._upstreams:
            from gitlab_mcp.gitlab.client import Timeouts, Upstream

            settings = self._settings
            taped = settings.replay or (settings.record and url == settings.url)
            self._upstreams[url] = Upstream(
                url,
                Timeouts(settings.connect_timeout, settings.read_timeout, settings.deadline),
                verify=settings.verify,
                adapter=self._adapter() if taped else None,
                needs_token=not settings.replay,
                spans=self._spans,
            )
        return self._upstreams[url]

    def _adapter(self) -> Callable[[], Adapter]:
        """What stands between us and the network when exchanges are recorded or played."""
        settings = self._settings

        def adapter() -> Adapter:
            if settings.replay:
                from gitlab_mcp.recording.cassette import load_cassettes
                from gitlab_mcp.recording.replay import ReplayAdapter

                return ReplayAdapter(chain.from_iterable(map(load_cassettes, settings.replay)))
            from gitlab_mcp.recording.record import RecordingAdapter

            assert settings.record is not None
            token = self._own.last_known
            named = {token.value.reveal(): settings.record_as} if token and settings.record_as else None
            return RecordingAdapter(
                settings.record, settings.url, aliases=named, scrub_emails=settings.scrub_emails
            )

        return adapter


def over_stdio(application: Served, settings: Settings) -> ServeStdio:
    """What serves the application over standard input and output, and closes it in the end."""
    from gitlab_mcp.transports import stdio

    server = _server_of(application, settings)
    application.measure(server)

    def serve(streams: StandardStreams, opening: Opening) -> int:
        try:
            return stdio.serve(server, application.close, streams, opening)
        finally:
            application.close()

    return serve


def _server_of(application: Application, settings: Settings) -> GitLabServer:
    from gitlab_mcp.protocol.server import GitLabServer

    return GitLabServer(
        application,
        error_style=settings.error_style,
        format=settings.format,
        ask_for_values=settings.ask_for_values,
        listing_by_policy=settings.policy is not None,
    )


def _as(
    upstream: Upstream,
    token: Token | None,
    report: Report | None = None,
    deadline: float | None = None,
    renew: Renew | None = None,
) -> GitLabClient:
    if token is None:
        return upstream.as_caller(None, report=report, deadline=deadline)
    value = token.value.reveal()
    return upstream.as_caller(value, kind=token.kind, report=report, deadline=deadline, renew=renew)


def _own_token(settings: Settings) -> GivenToken | KeptAccount:
    if not settings.uses_kept_token:
        return GivenToken(settings.token_source())
    account = settings.account()
    return account.kept() if account else GivenToken(lambda: None)


@dataclass(frozen=True, slots=True)
class _Refuse:
    """As a guard: refuses every call for the same reason."""

    problem: Exception

    async def __call__(self, proposed: ProposedCall) -> None:
        raise self.problem.with_traceback(None)


def _policy(settings: Settings, registry: Registry) -> PolicyFile | None:
    if settings.policy is None:
        return None
    from gitlab_mcp.settings.policy_file import PolicyFile

    return PolicyFile(settings.policy, settings, registry)


def _audit(settings: Settings) -> Audit | None:
    place = settings.audit_place()
    if place is None:
        return None
    sinks = {"stdout": to_stdout, "stderr": to_stderr}
    sink = sinks[place] if isinstance(place, str) else to_file(place)
    # The target is what the caller named, and that may be a token in the wrong field.
    return Audit(lambda line, durable: sink(redact_trace(line), durable), settings.audit_required)


async def _write_nothing_down(write: PlannedWrite) -> None:
    """Without an audit."""


def _http_options(settings: Settings) -> HttpOptions:
    from gitlab_mcp.transports.http import HttpOptions

    return HttpOptions(
        url=settings.url,
        other_urls=settings.allow_gitlab_host,
        own_token=bool(settings.token or settings.token_file or settings.job_token or settings.replay),
        bearer=settings.bearer_source(),
        operator_secret=settings.operator_source(),
        public_url=settings.public_url,
        toolsets=settings.callable_toolsets() or ("all",),
        error_style=settings.error_style,
        oauth_scope="read_api" if settings.read_only else "api",
        max_request_bytes=settings.max_request_bytes,
        client_timeout=settings.client_timeout,
        max_connections=settings.max_connections,
        connections_per_address=settings.connections_per_address,
        trusted_proxies=settings.trusted_proxy,
        deadline=settings.deadline,
    )


def _store(settings: Settings) -> Store:
    if settings.redis is None:
        return MemoryStore()
    try:
        from gitlab_mcp.store.redis_store import RedisStore
    except ImportError:
        raise SettingsError(no_redis(settings.sources.get("redis", "redis"))) from None
    return RedisStore(settings.redis.reveal(), settings.redis_password_source(), settings.redis_ca_file)


def _telemetry(settings: Settings) -> Telemetry | None:
    if settings.otlp_endpoint is None:
        return None
    # It takes long to import.
    from gitlab_mcp.observability.telemetry import NotInstalled, Telemetry

    try:
        return Telemetry(settings.otlp_endpoint)
    except NotInstalled:
        log.warning("an OpenTelemetry collector is set, but the extra `otel` is not installed")
        return None


def _rendered(style: str, failure: Failure) -> Mapping[str, Any]:
    from gitlab_mcp.failures.render import render

    return render(failure, style)

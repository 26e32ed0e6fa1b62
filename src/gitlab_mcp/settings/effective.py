"""The settings in effect."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gitlab_mcp.callers import Secret, Token
from gitlab_mcp.settings.problems import SettingsError, audit_in_the_way, token_within_reach
from gitlab_mcp.settings.token_sources import SecretFile, kind, token_from
from gitlab_mcp.settings.values import Address


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    config: Path | None = None
    url: str = "https://gitlab.com"
    token: Secret | None = None
    token_file: Path | None = None
    job_token: Secret | None = None
    project: str | None = None
    project_from_git: bool = True
    tier: str | None = None
    tier_features: Path | None = None
    ca_file: Path | None = None
    insecure: bool = False
    connect_timeout: float = 5.0
    read_timeout: float = 30.0
    deadline: float = 50.0
    read_only: bool = False
    toolsets: tuple[str, ...] = ("core",)
    only_in: tuple[str, ...] = ()
    never_in: tuple[str, ...] = ()
    only_actions: tuple[str, ...] = ()
    never_actions: tuple[str, ...] = ()
    trust: str = "destructive"
    confirm: str = "destructive"
    quota: tuple[str, ...] = ("writes=1000", "destructive=100")
    audit_log: str | Path | None = None
    redis: Secret | None = None
    ask_for_values: bool = True
    format: str = "json"
    error_style: str = "tier"
    max_bytes: int = 24_000
    http: Address | None = None
    public_url: str | None = None
    allow_gitlab_host: tuple[str, ...] = ()
    require_bearer_file: Path | None = None
    operator_secret_file: Path | None = None
    calls_per_caller: int = 16
    max_request_bytes: int = 4_000_000
    client_timeout: float = 15.0
    record: Path | None = None
    replay: tuple[Path, ...] = ()
    record_as: str | None = None
    scrub_emails: bool = False
    log_level: str = "warning"
    log_format: str = "text"
    sentry_dsn: Secret | None = None
    no_color: bool = False
    sources: Mapping[str, str] = field(default_factory=dict)
    """Where each value came from: a flag, a variable, a key of the file, or `default`."""
    proxies: Mapping[str, str] = field(default_factory=dict)
    """The proxy variables in effect, without the user names and passwords they may hold."""

    def token_source(self) -> Callable[[], Token | None]:
        """Gives the token as it is now; one that comes from a file is read again when the file changes."""
        if self.token_file is not None:
            return token_from(self._secret_file("token_file", self.token_file))
        secret = self.token or self.job_token
        if secret is None:
            return lambda: None
        token = Token(secret, kind(secret) if self.token else "job")
        return lambda: token

    def serving_address(self) -> Address:
        """Where to serve over HTTP. SettingsError where that would put the server's token within reach of others."""
        assert self.http is not None
        held = next(
            (name for name in ("token_file", "token", "job_token") if getattr(self, name) is not None), None
        )
        if held and not self.http.loopback and self.require_bearer_file is None:
            raise SettingsError(token_within_reach(self.sources.get(held, held), str(self.http)))
        return self.http

    def bearer_source(self) -> Callable[[], Secret] | None:
        """What every request over HTTP must bring."""
        path = self.require_bearer_file
        return None if path is None else self._secret_file("require_bearer_file", path)

    def operator_source(self) -> Callable[[], Secret] | None:
        """What the operator brings to see metrics and details."""
        path = self.operator_secret_file
        return None if path is None else self._secret_file("operator_secret_file", path)

    def audit_place(self) -> str | Path | None:
        """Where the audit goes: a file, `stdout`, `stderr`, or None. Under stdio the standard output is MCP's."""
        place = self.audit_log or ("stdout" if self.http else "none")
        if place == "stdout" and self.http is None:
            raise SettingsError(audit_in_the_way(self.sources.get("audit_log", "audit_log")))
        return None if place == "none" else place

    def _secret_file(self, setting: str, path: Path) -> SecretFile:
        return SecretFile(path, setting, self.sources.get(setting, setting))

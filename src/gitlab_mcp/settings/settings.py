"""Every setting, declared once: from a field of `Settings` come its flag, its variables, its key in the settings file,
its help and its entry in docs/guides/settings.md.
"""

# ruff: noqa: RUF009 (the calls below return dataclass fields)

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from gitlab_mcp.callers import Secret, Token
from gitlab_mcp.settings import parsers
from gitlab_mcp.settings.errors import (
    SettingsError,
    audit_on_stdout,
    no_audit_log,
    token_exposed,
    two_redis_passwords,
)
from gitlab_mcp.settings.metadata import (
    Setting,
    choice,
    readable_file,
    seconds,
    setting,
    switch,
    whole_number,
)
from gitlab_mcp.settings.parsers import Address
from gitlab_mcp.settings.token_sources import SecretFile, token_from_file, token_kind

DEFAULT: Final = "default"
"""The source of a setting that nobody gave."""
_DEFAULT_TOOLSETS: Final = ("core",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings in effect."""

    config: Path | None = readable_file(
        "TOML file",
        group="Where settings come from",
        help="A TOML file with any of these settings, by their names. "
        "Without it, ~/.config/gitlab-mcp/config.toml is read when it exists.",
        environment=("GITLAB_MCP_CONFIG",),
        in_file=False,
    )
    url: str = setting(
        "https://gitlab.com",
        group="GitLab",
        help="Where GitLab is, with or without /api/v4.",
        environment=("GITLAB_URL", "GITLAB_API_URL", "GITLAB_HOST", "CI_SERVER_URL"),
        expects="an address such as https://gitlab.example.com, without a user name or password in it",
        parse=parsers.gitlab_url,
    )
    token: Secret | None = setting(
        None,
        group="GitLab",
        help="A personal, project or group access token, or an OAuth token. It has no flag, because "
        "everybody on the machine can read a command line.",
        environment=(
            "GITLAB_TOKEN",
            "GITLAB_PERSONAL_ACCESS_TOKEN",
            "GITLAB_ACCESS_TOKEN",
            "GITLAB_PRIVATE_TOKEN",
            "GITLAB_PAT",
            "GITLAB_API_TOKEN",
            "GITLAB_OAUTH_TOKEN",
        ),
        expects="a token on one line, without quotes or spaces; not a placeholder",
        parse=parsers.secret,
        secret=True,
    )
    token_file: Path | None = readable_file(
        group="GitLab",
        help="A file that holds the token and nothing else. It is read again whenever it changes, so a token "
        "can be rotated under a running server.",
        environment=("GITLAB_TOKEN_FILE",),
    )
    job_token: Secret | None = setting(
        None,
        group="GitLab",
        help="The token of a CI job, used only when there is no other. GitLab lets it do very little.",
        environment=("GITLAB_JOB_TOKEN", "CI_JOB_TOKEN"),
        expects="the token GitLab puts into CI_JOB_TOKEN",
        parse=parsers.secret,
        secret=True,
    )
    project: str | None = setting(
        None,
        group="GitLab",
        help="The project that is meant when a call names none.",
        environment=("GITLAB_DEFAULT_PROJECT", "GITLAB_PROJECT_ID", "GITLAB_PROJECT"),
        expects="a path such as acme/website, or a number",
        parse=parsers.text,
    )
    project_from_git: bool = switch(
        True,
        group="GitLab",
        help="Without a project, take the one that the git remote `origin` of the working directory names, "
        "when it is on this GitLab.",
        environment=("GITLAB_MCP_PROJECT_FROM_GIT",),
    )
    tier: str | None = choice(
        None,
        ("free", "premium", "ultimate"),
        group="GitLab",
        help="The tier, where GitLab does not tell it to your token. Without it, it is found out or unknown.",
        environment=("GITLAB_TIER",),
    )
    tier_features: Path | None = readable_file(
        "YAML file",
        group="GitLab",
        help="A YAML file that adds to or corrects tier_features.yaml, key by key.",
        environment=("GITLAB_MCP_TIER_FEATURES",),
    )
    ca_file: Path | None = readable_file(
        "PEM file",
        group="Network",
        help="A PEM file of the authorities to trust, for a GitLab with a certificate of its own.",
        environment=("GITLAB_CA_FILE", "GITLAB_CA_CERT_PATH", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"),
    )
    insecure: bool = switch(
        False,
        group="Network",
        help="Do not check GitLab's certificate. Whoever sits in between can then read the token. Only a "
        "flag, so that it is never on by accident.",
        environment=(),
        in_file=False,
    )
    connect_timeout: float = seconds(
        5.0,
        group="Network",
        help="Seconds to wait for a connection.",
        environment=("GITLAB_MCP_CONNECT_TIMEOUT",),
    )
    read_timeout: float = seconds(
        30.0,
        group="Network",
        help="Seconds to wait for the next byte of an answer.",
        environment=("GITLAB_MCP_READ_TIMEOUT",),
    )
    deadline: float = seconds(
        50.0,
        group="Network",
        help="Seconds a whole call may take, retries included. Most clients give up after 60.",
        environment=("GITLAB_MCP_DEADLINE",),
    )
    read_only: bool = switch(
        False,
        group="What agents may do",
        help="Offer and allow only actions that read.",
        environment=("GITLAB_READ_ONLY", "GITLAB_READ_ONLY_MODE"),
    )
    toolsets: tuple[str, ...] = setting(
        _DEFAULT_TOOLSETS,
        group="What agents may do",
        help="The toolsets to list, with commas between; `all` lists every one but `admin`, `discover` alone only the "
        "tools that find and make calls, which are in every listing. Where this is set, only tools of these "
        "toolsets can be called (with `all` or `discover` alone, every tool); where it is not, `core` is listed and "
        "every tool can be called.",
        environment=("GITLAB_TOOLSETS",),
        expects="names of toolsets with commas between, or all",
        metavar="NAMES",
        parse=parsers.toolsets,
        is_limit=True,
    )
    callable: str = choice(
        "toolsets",
        ("toolsets", "all"),
        group="What agents may do",
        help="Which tools can be called where toolsets were set: those of the toolsets, or `all`, though they are not "
        "listed.",
        environment=("GITLAB_MCP_CALLABLE",),
    )
    only_in: tuple[str, ...] = setting(
        (),
        group="What agents may do",
        help="The projects and groups that may be touched at all, subgroups and their projects included. A call that "
        "names none is then refused. A place belongs to the GitLab of --url, unless it names another that "
        "--allow-gitlab-host allows: https://gitlab.example.com/acme.",
        environment=("GITLAB_MCP_ONLY_IN", "GITLAB_ALLOWED_PROJECT_IDS"),
        expects="paths such as acme or acme/website, numbers of projects, or group:7, with commas between",
        metavar="PLACES",
        parse=parsers.places,
        is_limit=True,
        repeatable=True,
    )
    never_in: tuple[str, ...] = setting(
        (),
        group="What agents may do",
        help="Projects and groups that may not be touched, even inside those that may.",
        environment=("GITLAB_MCP_NEVER_IN",),
        expects="paths such as acme or acme/website, numbers of projects, or group:7, with commas between",
        metavar="PLACES",
        parse=parsers.places,
        is_limit=True,
        repeatable=True,
    )
    only_actions: tuple[str, ...] = setting(
        (),
        group="What agents may do",
        help="Patterns of the actions that may be called: `browse_*`, `manage_issue.create`, `toolset:planning`.",
        environment=("GITLAB_MCP_ONLY_ACTIONS",),
        expects="patterns with commas between, each of which fits at least one action",
        metavar="PATTERNS",
        parse=parsers.comma_separated,
        is_limit=True,
        repeatable=True,
    )
    never_actions: tuple[str, ...] = setting(
        (),
        group="What agents may do",
        help="Patterns of the actions that may not be called: `manage_*.delete`, `toolset:access`.",
        environment=("GITLAB_MCP_NEVER_ACTIONS",),
        expects="patterns with commas between, each of which fits at least one action",
        metavar="PATTERNS",
        parse=parsers.comma_separated,
        is_limit=True,
        repeatable=True,
    )
    trust: str | None = choice(
        None,
        ("read", "reversible", "destructive", "dangerous"),
        group="What agents may do",
        help="The most dangerous kind of action that may be called. Dangerous is what reaches far: deleting a project, "
        "giving rights. Without this setting, the person is asked before each dangerous action where the client can "
        "ask, and where it cannot, dangerous actions are refused.",
        environment=("GITLAB_MCP_TRUST",),
    )
    confirm: str = choice(
        "destructive",
        ("never", "dangerous", "destructive", "reversible"),
        group="What agents may do",
        help="From which kind of action on a person must say yes first.",
        environment=("GITLAB_MCP_CONFIRM",),
    )
    quota: tuple[str, ...] = setting(
        ("writes=1000", "destructive=100"),
        group="What agents may do",
        help="How many reads, writes and destructive actions one caller may take in an hour: a warning from 80 %, a "
        "question from 90 %, the end at 100 %. `none` sets no limit.",
        environment=("GITLAB_MCP_QUOTA",),
        expects="kinds with numbers such as reads=5000,writes=1000,destructive=100, or none",
        metavar="KIND=NUMBER,…",
        parse=parsers.quota,
    )
    policy: Path | None = readable_file(
        "YAML file",
        group="What agents may do",
        help="A YAML file that says who may do what, by GitLab user, group and kind of token, within these settings. "
        "It is read again whenever it changes.",
        environment=("GITLAB_MCP_POLICY",),
        is_limit=True,
    )
    upload_root: Path | None = setting(
        None,
        group="What agents may do",
        help="The folder below which a call may name a local file that is sent to GitLab, over standard input and "
        "output alone. Without it, none may be named: what is sent is in the call itself.",
        environment=("GITLAB_MCP_UPLOAD_ROOT",),
        expects="a folder that exists",
        metavar="DIR",
        parse=parsers.path,
        accepts=lambda folder: folder.is_dir(),
    )
    audit_log: str | Path | None = setting(
        None,
        group="Logs",
        help="Where a line is written for every action that changes something: who, what, which thing, how it ended. "
        "Over HTTP, without this setting, to the standard output.",
        environment=("GITLAB_MCP_AUDIT_LOG",),
        expects="a file name in a directory that exists, stderr, none, or over HTTP stdout",
        metavar="FILE",
        parse=parsers.audit_log,
        accepts=lambda value: isinstance(value, str) or parsers.can_be_created(value),
    )
    audit_required: bool = switch(
        False,
        group="Logs",
        help="Refuse every action that changes something while its line of the audit cannot be written. The line "
        "is on the disk before the action is sent.",
        environment=("GITLAB_MCP_AUDIT_REQUIRED",),
    )
    log_level: str = choice(
        "warning",
        ("debug", "info", "warning", "error"),
        group="Logs",
        help="What is written to the standard error stream.",
        environment=("GITLAB_MCP_LOG_LEVEL",),
    )
    log_format: str = choice(
        "text",
        ("text", "json"),
        group="Logs",
        help="Lines for people, or one JSON object per line.",
        environment=("GITLAB_MCP_LOG_FORMAT",),
    )
    sentry_dsn: Secret | None = setting(
        None,
        group="Logs",
        help="Where failures of GitLab, of the network and of this server are reported, when the package sentry-sdk is "
        "installed. Mistakes of callers never are. What is sent: the code, the operation, the status, and for a bug "
        "its stack trace without values.",
        environment=("GITLAB_MCP_SENTRY_DSN", "SENTRY_DSN"),
        expects="the DSN of a Sentry project",
        parse=parsers.secret,
        secret=True,
    )
    otlp_endpoint: str | None = setting(
        None,
        group="Logs",
        help="The address of an OpenTelemetry collector that takes traces and metrics over OTLP/HTTP, without "
        "/v1/traces. Needs the extra `otel`. What else OpenTelemetry reads from its OTEL_ variables holds too.",
        environment=("GITLAB_MCP_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"),
        expects="an address such as http://localhost:4318",
        parse=parsers.collector_url,
    )
    no_color: bool = switch(
        False,
        group="Logs",
        help="Never write colours to a terminal.",
        environment=("NO_COLOR",),
        parse=parsers.present,
    )
    redis: Secret | None = setting(
        None,
        group="Serving over HTTP",
        help="A Redis in which several servers keep together what was confirmed and how much was used. It needs the "
        "extra `redis`.",
        environment=("GITLAB_MCP_REDIS",),
        expects="an address such as redis://localhost:6379/0 or rediss://:password@host:6379",
        metavar="URL",
        parse=parsers.redis_url,
    )
    redis_password_file: Path | None = readable_file(
        group="Serving over HTTP",
        help="A file that holds the password of Redis and nothing else. It is read again for each new connection.",
        environment=("GITLAB_MCP_REDIS_PASSWORD_FILE",),
    )
    redis_ca_file: Path | None = readable_file(
        "PEM file",
        group="Serving over HTTP",
        help="A PEM file of the authorities to trust at a rediss:// address, for a certificate of your own.",
        environment=("GITLAB_MCP_REDIS_CA_FILE",),
    )
    confirmation_key_file: Path | None = readable_file(
        group="Serving over HTTP",
        help="A file with the secret that confirmation tokens are signed with; `openssl rand -hex 32` makes one. All "
        "servers that share a Redis need the same. Without it, the first of them makes one and keeps it in Redis.",
        environment=("GITLAB_MCP_CONFIRMATION_KEY_FILE",),
    )
    http: Address | None = setting(
        None,
        group="Serving over HTTP",
        help="Serve MCP over HTTP at this address (path /mcp) in place of standard input and output.",
        environment=("GITLAB_MCP_HTTP",),
        expects="an IP address or localhost with a port, such as 127.0.0.1:8080 or [::1]:8080",
        metavar="HOST:PORT",
        parse=parsers.address,
    )
    health: Address | None = setting(
        None,
        group="Serving over HTTP",
        help="Answer /healthz, /readyz and /metrics at this address too, where no load on the other keeps them "
        "waiting.",
        environment=("GITLAB_MCP_HEALTH",),
        expects="an IP address or localhost with a port, such as 127.0.0.1:8081",
        metavar="HOST:PORT",
        parse=parsers.address,
    )
    public_url: str | None = setting(
        None,
        group="Serving over HTTP",
        help="How clients see the server from outside, behind a proxy. It opens exactly this host and this "
        "origin, beside the names of the machine itself.",
        environment=("GITLAB_MCP_PUBLIC_URL",),
        expects="an address such as https://mcp.example.com, without the /mcp at its end",
        parse=parsers.public_url,
    )
    allow_gitlab_host: tuple[str, ...] = setting(
        (),
        group="Serving over HTTP",
        help="Another GitLab that a request may choose with the header X-GitLab-API-URL. Such a request must "
        "bring its own token.",
        environment=("GITLAB_MCP_ALLOW_GITLAB_HOST",),
        expects="an address such as https://gitlab.example.com",
        metavar="URL",
        parse=parsers.gitlab_urls,
        repeatable=True,
    )
    require_bearer_file: Path | None = readable_file(
        group="Serving over HTTP",
        help="A file with a secret that every request must bring as `Authorization: Bearer`; `openssl rand -hex 32` "
        "makes one. Only with it may a server that holds a token of its own listen beyond this machine. On this "
        "machine such a server makes a secret when it starts and prints it, where no file is given.",
        environment=("GITLAB_MCP_REQUIRE_BEARER_FILE",),
    )
    operator_secret_file: Path | None = readable_file(
        group="Serving over HTTP",
        help="A file with a secret that opens /metrics and the details of /readyz, as `Authorization: Bearer`; "
        "`openssl rand -hex 32` makes one. "
        "Without it, they are shown to this machine only.",
        environment=("GITLAB_MCP_OPERATOR_SECRET_FILE",),
    )
    calls_per_caller: int = whole_number(
        16,
        lowest=1,
        highest=1000,
        group="Serving over HTTP",
        help="How many calls of one caller are worked on at once; more are refused with BUSY.",
        environment=("GITLAB_MCP_CALLS_PER_CALLER",),
        metavar="NUMBER",
    )
    max_request_bytes: int = whole_number(
        4_000_000,
        lowest=10_000,
        highest=100_000_000,
        group="Serving over HTTP",
        help="The size of a request body beyond which it is refused.",
        environment=("GITLAB_MCP_MAX_REQUEST_BYTES",),
    )
    client_timeout: float = seconds(
        15.0,
        group="Serving over HTTP",
        help="Seconds a client may take to send the head of a request, to send its body, or to take the next part of "
        "an answer.",
        environment=("GITLAB_MCP_CLIENT_TIMEOUT",),
    )
    max_connections: int = whole_number(
        800,
        lowest=10,
        highest=100_000,
        group="Serving over HTTP",
        help="How many connections there may be at once. Beyond it, those that wait for their client are closed; more "
        "are refused with BUSY.",
        environment=("GITLAB_MCP_MAX_CONNECTIONS",),
        metavar="NUMBER",
    )
    connections_per_address: int = whole_number(
        200,
        lowest=1,
        highest=100_000,
        group="Serving over HTTP",
        help="How many of them one address may have. Behind a proxy of --trusted-proxy: how many requests.",
        environment=("GITLAB_MCP_CONNECTIONS_PER_ADDRESS",),
        metavar="NUMBER",
    )
    trusted_proxy: tuple[IPv4Network | IPv6Network, ...] = setting(
        (),
        group="Serving over HTTP",
        help="The address or network of a proxy before the server. Its X-Forwarded-For then says which client a "
        "request comes from; nobody else's does.",
        environment=("GITLAB_MCP_TRUSTED_PROXY",),
        expects="addresses or networks such as 10.0.0.5 or 10.0.0.0/24, with commas between",
        metavar="NETWORK",
        parse=parsers.networks,
        repeatable=True,
    )
    ask_for_values: bool = switch(
        False,
        group="Answers",
        help="Where a call lacks up to three plain values and the client can ask its person, ask for them in place of "
        "refusing the call.",
        environment=("GITLAB_MCP_ASK_FOR_VALUES",),
    )
    format: str = choice(
        "json",
        ("json", "markdown", "both"),
        group="Answers",
        help="How answers and errors are written when a call does not say: for programs, people, or both.",
        environment=("GITLAB_MCP_FORMAT",),
    )
    error_style: str = choice(
        "tier",
        ("tier", "toolerror", "aql", "problem", "text"),
        group="Answers",
        help="The shape of an error object. The facts in it are the same in all of them.",
        environment=("GITLAB_MCP_ERROR_STYLE",),
    )
    max_bytes: int = whole_number(
        24_000,
        lowest=1_000,
        highest=200_000,
        group="Answers",
        help="The size of an answer beyond which it is cut, with a word on how to get the rest.",
        environment=("GITLAB_MCP_MAX_BYTES",),
    )
    record: Path | None = setting(
        None,
        group="Record and replay",
        help="Write every exchange with GitLab to this cassette, without secrets. Its name ends in .json.",
        environment=("GITLAB_MCP_RECORD",),
        expects="a file name that ends in .json, in a directory that exists",
        metavar="FILE",
        parse=parsers.path,
        accepts=parsers.can_be_recorded_to,
    )
    replay: tuple[Path, ...] = setting(
        (),
        group="Record and replay",
        help="Answer from these cassettes (files or directories) in place of GitLab, without the network.",
        environment=("GITLAB_MCP_REPLAY",),
        expects="cassette files or directories that exist",
        metavar="PATH",
        parse=parsers.paths,
        accepts=parsers.all_exist,
        repeatable=True,
    )
    record_as: str | None = setting(
        None,
        group="Record and replay",
        help="The name under which the caller is recorded in place of the token.",
        environment=("GITLAB_MCP_RECORD_AS",),
        expects="a short name",
        metavar="NAME",
        parse=parsers.text,
    )
    scrub_emails: bool = switch(
        False,
        group="Record and replay",
        help="Replace e-mail addresses in what is recorded.",
        environment=("GITLAB_MCP_SCRUB_EMAILS",),
    )
    sources: Mapping[str, str] = field(default_factory=dict)
    """Where each value came from: a flag, a variable, a key of the file, or `default`."""
    proxies: Mapping[str, str] = field(default_factory=dict)
    """The proxy variables in effect, without the user names and passwords they may hold."""

    def token_source(self) -> Callable[[], Token | None]:
        """Gives the token as it is now: a file is read again when it changes."""
        if self.token_file is not None:
            return token_from_file(self._secret_file("token_file", self.token_file))
        secret = self.token or self.job_token
        if secret is None:
            return lambda: None
        token = Token(secret, token_kind(secret) if self.token else "job")
        return lambda: token

    def gitlabs(self) -> tuple[str, ...]:
        """The addresses of every GitLab that a call can go to."""
        return (self.url, *self.allow_gitlab_host)

    def callable_toolsets(self) -> tuple[str, ...] | None:
        """The toolsets whose tools alone can be called; None: every tool."""
        was_set = self.toolsets != _DEFAULT_TOOLSETS or self.sources.get("toolsets", DEFAULT) != DEFAULT
        limited = was_set and self.callable == "toolsets" and "all" not in self.toolsets
        return self.toolsets if limited else None

    def serving_address(self) -> Address:
        """Where to listen for HTTP. SettingsError where other machines could then use the server's own token."""
        assert self.http is not None
        held = self._held_token()
        if held and not self.http.loopback and self.require_bearer_file is None:
            raise SettingsError(token_exposed(self.sources.get(held, held), str(self.http)))
        return self.http

    @property
    def uses_own_token(self) -> bool:
        """Whether calls are made with a token of the server's own. What is replayed needs none."""
        return self._held_token() is not None and not self.replay

    def bearer_source(self) -> Callable[[], Secret] | None:
        """The secret that every request over HTTP must bring."""
        path = self.require_bearer_file
        return None if path is None else self._secret_file("require_bearer_file", path)

    def operator_source(self) -> Callable[[], Secret] | None:
        """The secret that opens metrics and details."""
        path = self.operator_secret_file
        return None if path is None else self._secret_file("operator_secret_file", path)

    def confirmation_key_source(self) -> Callable[[], Secret] | None:
        """What confirmation tokens are signed with; None: what the store keeps."""
        path = self.confirmation_key_file
        return None if path is None else self._secret_file("confirmation_key_file", path)

    def redis_password_source(self) -> Callable[[], Secret] | None:
        """SettingsError where the address holds a password too."""
        path = self.redis_password_file
        if path is None:
            return None
        if self.redis is not None and urlsplit(self.redis.reveal()).password is not None:
            raise SettingsError(two_redis_passwords(self.sources.get("redis", "redis")))
        return self._secret_file("redis_password_file", path)

    def audit_place(self) -> str | Path | None:
        """Where the audit log goes: a file, `stdout`, `stderr`, or None. SettingsError for the stdout that MCP uses."""
        place = self.audit_log or ("stdout" if self.http else "none")
        if place == "stdout" and self.http is None:
            raise SettingsError(audit_on_stdout(self.sources.get("audit_log", "audit_log")))
        if place == "none" and self.audit_required:
            raise SettingsError(no_audit_log(self.sources.get("audit_required", "audit_required")))
        return None if place == "none" else place

    def _held_token(self) -> str | None:
        """The setting that gives the server a token of its own."""
        names = ("token_file", "token", "job_token")
        return next((name for name in names if getattr(self, name) is not None), None)

    def _secret_file(self, setting: str, path: Path) -> SecretFile:
        return SecretFile(path, setting, self.sources.get(setting, setting))


SETTINGS = tuple(
    Setting(name=each.name, default=each.default, **each.metadata)
    for each in fields(Settings)
    if each.metadata
)

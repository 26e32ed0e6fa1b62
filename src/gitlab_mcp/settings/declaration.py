"""Every setting, said once: its flag, its variables, its key in the file and its line in the guide."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gitlab_mcp.settings import values


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    name: str
    group: str
    help: str
    expects: str
    parse: Callable[[Any], Any]
    """From text, or from a value of the settings file; ValueError when it is neither."""
    accepts: Callable[[Any], bool] = lambda value: True
    default: Any = None
    environment: tuple[str, ...] = ()
    """Our name first, then the names other programs use."""
    choices: tuple[str, ...] = ()
    metavar: str = ""
    secret: bool = False
    flag_only: bool = False
    switch: bool = False
    repeatable: bool = False

    @property
    def flag(self) -> str | None:
        """A secret has none: everybody on the machine can read a command line."""
        return None if self.secret else "--" + self.name.replace("_", "-")

    @property
    def placeholder(self) -> str:
        """What stands for the value where the flag is explained."""
        return "|".join(self.choices) or self.metavar or self.name.rpartition("_")[2].upper()

    @property
    def written_default(self) -> str | None:
        """As a person would give it."""
        if self.default is None or self.default == ():
            return None
        if isinstance(self.default, bool):
            return str(self.default).lower()
        if isinstance(self.default, tuple):
            return ",".join(self.default)
        return f"{self.default:g}" if isinstance(self.default, float) else str(self.default)

    @property
    def in_file(self) -> bool:
        return not self.flag_only and self.name != "config"


TIERS = ("free", "premium", "ultimate")
ERROR_STYLES = ("tier", "toolerror", "aql", "problem", "text")
FORMATS = ("json", "markdown", "both")
TRUST = ("read", "reversible", "destructive", "dangerous")
CONFIRM = ("never", "dangerous", "destructive", "reversible")
LOG_LEVELS = ("debug", "info", "warning", "error")
LOG_FORMATS = ("text", "json")


def _choice(name: str, choices: tuple[str, ...], **more: Any) -> Setting:
    return Setting(
        name=name,
        parse=values.word,
        accepts=lambda value: value in choices,
        choices=choices,
        expects="one of " + ", ".join(choices),
        **more,
    )


def _switch(name: str, **more: Any) -> Setting:
    return Setting(
        **{
            "name": name,
            "switch": True,
            "expects": "true or false",
            "parse": values.yes_or_no,
            "default": False,
            **more,
        }
    )


SETTINGS: tuple[Setting, ...] = (
    Setting(
        name="config",
        group="Where settings come from",
        help="A TOML file with any of these settings, by their names. "
        "Without it, ~/.config/gitlab-mcp/config.toml is read when it exists.",
        expects="a readable TOML file",
        metavar="FILE",
        parse=values.path,
        accepts=values.readable,
        environment=("GITLAB_MCP_CONFIG",),
    ),
    Setting(
        name="url",
        group="GitLab",
        help="Where GitLab is, with or without /api/v4.",
        expects="an address such as https://gitlab.example.com, without a user name or password in it",
        parse=values.gitlab_url,
        default="https://gitlab.com",
        environment=("GITLAB_URL", "GITLAB_API_URL", "GITLAB_HOST", "CI_SERVER_URL"),
    ),
    Setting(
        name="token",
        group="GitLab",
        help="A personal, project or group access token, or an OAuth token. It has no flag, because "
        "everybody on the machine can read a command line.",
        expects="a token on one line, without quotes or spaces; not a placeholder",
        parse=values.secret,
        environment=(
            "GITLAB_TOKEN",
            "GITLAB_PERSONAL_ACCESS_TOKEN",
            "GITLAB_ACCESS_TOKEN",
            "GITLAB_PRIVATE_TOKEN",
            "GITLAB_PAT",
            "GITLAB_API_TOKEN",
            "GITLAB_OAUTH_TOKEN",
        ),
        secret=True,
    ),
    Setting(
        name="token_file",
        group="GitLab",
        help="A file that holds the token and nothing else. It is read again whenever it changes, so a token "
        "can be rotated under a running server.",
        expects="a readable file",
        parse=values.path,
        accepts=values.readable,
        environment=("GITLAB_TOKEN_FILE",),
    ),
    Setting(
        name="job_token",
        group="GitLab",
        help="The token of a CI job, used only when there is no other. GitLab lets it do very little.",
        expects="the token GitLab puts into CI_JOB_TOKEN",
        parse=values.secret,
        environment=("GITLAB_JOB_TOKEN", "CI_JOB_TOKEN"),
        secret=True,
    ),
    Setting(
        name="project",
        group="GitLab",
        help="The project that is meant when a call names none.",
        expects="a path such as acme/website, or a number",
        parse=values.text,
        environment=("GITLAB_DEFAULT_PROJECT", "GITLAB_PROJECT_ID", "GITLAB_PROJECT"),
    ),
    _switch(
        "project_from_git",
        group="GitLab",
        help="Without a project, take the one that the git remote `origin` of the working directory names, "
        "when it is on this GitLab.",
        default=True,
        environment=("GITLAB_MCP_PROJECT_FROM_GIT",),
    ),
    _choice(
        "tier",
        TIERS,
        group="GitLab",
        help="The tier, where GitLab does not tell it to your token. Without it, it is found out or unknown.",
        environment=("GITLAB_TIER",),
    ),
    Setting(
        name="tier_features",
        group="GitLab",
        help="A YAML file that adds to or corrects tier_features.yaml, key by key.",
        expects="a readable YAML file",
        metavar="FILE",
        parse=values.path,
        accepts=values.readable,
        environment=("GITLAB_MCP_TIER_FEATURES",),
    ),
    Setting(
        name="ca_file",
        group="Network",
        help="A PEM file of the authorities to trust, for a GitLab with a certificate of its own.",
        expects="a readable PEM file",
        parse=values.path,
        accepts=values.readable,
        environment=("GITLAB_CA_FILE", "GITLAB_CA_CERT_PATH", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"),
    ),
    _switch(
        "insecure",
        group="Network",
        help="Do not check GitLab's certificate. Whoever sits in between can then read the token. Only a "
        "flag, so that it is never on by accident.",
        flag_only=True,
    ),
    Setting(
        name="connect_timeout",
        group="Network",
        help="Seconds to wait for a connection.",
        expects="a number of seconds above 0",
        metavar="SECONDS",
        parse=values.number,
        accepts=values.positive,
        default=5.0,
        environment=("GITLAB_MCP_CONNECT_TIMEOUT",),
    ),
    Setting(
        name="read_timeout",
        group="Network",
        help="Seconds to wait for the next byte of an answer.",
        expects="a number of seconds above 0",
        metavar="SECONDS",
        parse=values.number,
        accepts=values.positive,
        default=30.0,
        environment=("GITLAB_MCP_READ_TIMEOUT",),
    ),
    Setting(
        name="deadline",
        group="Network",
        help="Seconds a whole call may take, retries included. Most clients give up after 60.",
        expects="a number of seconds above 0",
        metavar="SECONDS",
        parse=values.number,
        accepts=values.positive,
        default=50.0,
        environment=("GITLAB_MCP_DEADLINE",),
    ),
    _switch(
        "read_only",
        group="What agents may do",
        help="Offer and allow only actions that read.",
        environment=("GITLAB_READ_ONLY", "GITLAB_READ_ONLY_MODE"),
    ),
    Setting(
        name="toolsets",
        group="What agents may do",
        help="The toolsets to offer, with commas between; `all` offers every one.",
        expects="names of toolsets with commas between, or all",
        metavar="NAMES",
        parse=values.toolsets,
        accepts=bool,
        default=("core",),
        environment=("GITLAB_TOOLSETS",),
    ),
    Setting(
        name="only_in",
        group="What agents may do",
        help="The projects and groups that may be touched at all, subgroups and their projects included. A call that "
        "names none is then refused.",
        expects="paths such as acme or acme/website, numbers of projects, or group:7, with commas between",
        metavar="PLACES",
        parse=values.places,
        default=(),
        environment=("GITLAB_MCP_ONLY_IN", "GITLAB_ALLOWED_PROJECT_IDS"),
        repeatable=True,
    ),
    Setting(
        name="never_in",
        group="What agents may do",
        help="Projects and groups that may not be touched, even inside those that may.",
        expects="paths such as acme or acme/website, numbers of projects, or group:7, with commas between",
        metavar="PLACES",
        parse=values.places,
        default=(),
        environment=("GITLAB_MCP_NEVER_IN",),
        repeatable=True,
    ),
    Setting(
        name="only_actions",
        group="What agents may do",
        help="Patterns of the actions that may be called: `browse_*`, `manage_issue.create`, `toolset:planning`.",
        expects="patterns with commas between, each of which fits at least one action",
        metavar="PATTERNS",
        parse=values.listed,
        default=(),
        environment=("GITLAB_MCP_ONLY_ACTIONS",),
        repeatable=True,
    ),
    Setting(
        name="never_actions",
        group="What agents may do",
        help="Patterns of the actions that may not be called: `manage_*.delete`, `toolset:access`.",
        expects="patterns with commas between, each of which fits at least one action",
        metavar="PATTERNS",
        parse=values.listed,
        default=(),
        environment=("GITLAB_MCP_NEVER_ACTIONS",),
        repeatable=True,
    ),
    _choice(
        "trust",
        TRUST,
        group="What agents may do",
        help="The most dangerous kind of action that may be called. Dangerous is what reaches far: deleting a project, "
        "giving rights.",
        default="destructive",
        environment=("GITLAB_MCP_TRUST",),
    ),
    _choice(
        "confirm",
        CONFIRM,
        group="What agents may do",
        help="From which kind of action on a person must say yes first.",
        default="destructive",
        environment=("GITLAB_MCP_CONFIRM",),
    ),
    Setting(
        name="quota",
        group="What agents may do",
        help="How many reads, writes and destructive actions one caller may take in an hour: a warning from 80 %, a "
        "question from 90 %, the end at 100 %. `none` sets no limit.",
        expects="kinds with numbers such as reads=5000,writes=1000,destructive=100, or none",
        metavar="KIND=NUMBER,…",
        parse=values.quota,
        default=("writes=1000", "destructive=100"),
        environment=("GITLAB_MCP_QUOTA",),
    ),
    Setting(
        name="audit_log",
        group="Logs",
        help="Where a line is written for every action that changes something: who, what, which thing, how it ended. "
        "Over HTTP, without this setting, to the standard output.",
        expects="a file name in a directory that exists, stderr, none, or over HTTP stdout",
        metavar="FILE",
        parse=values.audit_log,
        accepts=lambda value: isinstance(value, str) or values.can_hold_files(value),
        environment=("GITLAB_MCP_AUDIT_LOG",),
    ),
    Setting(
        name="redis",
        group="Serving over HTTP",
        help="A Redis in which several servers keep together what was confirmed and how much was used. It needs the "
        "extra `redis`.",
        expects="an address such as redis://localhost:6379/0 or rediss://:password@host:6379",
        metavar="URL",
        parse=values.redis_url,
        environment=("GITLAB_MCP_REDIS",),
    ),
    _switch(
        "ask_for_values",
        group="Answers",
        help="Where a call lacks up to three plain values and the client can ask its person, ask for them in place of "
        "refusing the call.",
        default=True,
        environment=("GITLAB_MCP_ASK_FOR_VALUES",),
    ),
    _choice(
        "format",
        FORMATS,
        group="Answers",
        help="How answers and errors are written when a call does not say: for programs, people, or both.",
        default="json",
        environment=("GITLAB_MCP_FORMAT",),
    ),
    _choice(
        "error_style",
        ERROR_STYLES,
        group="Answers",
        help="The shape of an error object. The facts in it are the same in all of them.",
        default="tier",
        environment=("GITLAB_MCP_ERROR_STYLE",),
    ),
    Setting(
        name="max_bytes",
        group="Answers",
        help="The size of an answer beyond which it is cut, with a word on how to get the rest.",
        expects="a whole number from 1000 to 200000",
        parse=values.whole_number,
        accepts=lambda number: 1_000 <= number <= 200_000,
        default=24_000,
        environment=("GITLAB_MCP_MAX_BYTES",),
    ),
    Setting(
        name="http",
        group="Serving over HTTP",
        help="Serve MCP over HTTP at this address (path /mcp) in place of standard input and output.",
        expects="an IP address or localhost with a port, such as 127.0.0.1:8080 or [::1]:8080",
        metavar="HOST:PORT",
        parse=values.address,
        environment=("GITLAB_MCP_HTTP",),
    ),
    Setting(
        name="public_url",
        group="Serving over HTTP",
        help="How clients see the server from outside, behind a proxy. It opens exactly this host and this "
        "origin, beside the names of the machine itself.",
        expects="an address such as https://mcp.example.com, without the /mcp at its end",
        parse=values.public_url,
        environment=("GITLAB_MCP_PUBLIC_URL",),
    ),
    Setting(
        name="allow_gitlab_host",
        group="Serving over HTTP",
        help="Another GitLab that a request may choose with the header X-GitLab-API-URL. Such a request must "
        "bring its own token.",
        expects="an address such as https://gitlab.example.com",
        metavar="URL",
        parse=values.gitlab_urls,
        default=(),
        environment=("GITLAB_MCP_ALLOW_GITLAB_HOST",),
        repeatable=True,
    ),
    Setting(
        name="require_bearer_file",
        group="Serving over HTTP",
        help="A file with a secret that every request must bring as `Authorization: Bearer`. Only with it may "
        "a server that holds a token of its own listen beyond this machine.",
        expects="a readable file",
        parse=values.path,
        accepts=values.readable,
        environment=("GITLAB_MCP_REQUIRE_BEARER_FILE",),
    ),
    Setting(
        name="operator_secret_file",
        group="Serving over HTTP",
        help="A file with a secret that opens /metrics and the details of /readyz, as `Authorization: Bearer`. "
        "Without it, they are shown to this machine only.",
        expects="a readable file",
        parse=values.path,
        accepts=values.readable,
        environment=("GITLAB_MCP_OPERATOR_SECRET_FILE",),
    ),
    Setting(
        name="calls_per_caller",
        group="Serving over HTTP",
        help="How many calls of one caller are worked on at once; more are refused with BUSY.",
        expects="a whole number from 1 to 1000",
        metavar="NUMBER",
        parse=values.whole_number,
        accepts=lambda number: 1 <= number <= 1000,
        default=16,
        environment=("GITLAB_MCP_CALLS_PER_CALLER",),
    ),
    Setting(
        name="max_request_bytes",
        group="Serving over HTTP",
        help="The size of a request body beyond which it is refused.",
        expects="a whole number from 10000 to 100000000",
        parse=values.whole_number,
        accepts=lambda number: 10_000 <= number <= 100_000_000,
        default=4_000_000,
        environment=("GITLAB_MCP_MAX_REQUEST_BYTES",),
    ),
    Setting(
        name="client_timeout",
        group="Serving over HTTP",
        help="Seconds a client may take to send a request, or to take the next part of an answer.",
        expects="a number of seconds above 0",
        metavar="SECONDS",
        parse=values.number,
        accepts=values.positive,
        default=15.0,
        environment=("GITLAB_MCP_CLIENT_TIMEOUT",),
    ),
    Setting(
        name="record",
        group="Record and replay",
        help="Write every exchange with GitLab to this cassette, without secrets.",
        expects="a file name in a directory that exists",
        metavar="FILE",
        parse=values.path,
        accepts=values.can_hold_files,
        environment=("GITLAB_MCP_RECORD",),
    ),
    Setting(
        name="replay",
        group="Record and replay",
        help="Answer from these cassettes (files or directories) in place of GitLab, without the network.",
        expects="cassette files or directories that exist",
        metavar="PATH",
        parse=values.paths,
        accepts=values.all_exist,
        default=(),
        environment=("GITLAB_MCP_REPLAY",),
        repeatable=True,
    ),
    Setting(
        name="record_as",
        group="Record and replay",
        help="The name under which the caller is recorded in place of the token.",
        expects="a short name",
        metavar="NAME",
        parse=values.text,
        environment=("GITLAB_MCP_RECORD_AS",),
    ),
    _switch(
        "scrub_emails",
        group="Record and replay",
        help="Replace e-mail addresses in what is recorded.",
        environment=("GITLAB_MCP_SCRUB_EMAILS",),
    ),
    _choice(
        "log_level",
        LOG_LEVELS,
        group="Logs",
        help="What is written to the standard error stream.",
        default="warning",
        environment=("GITLAB_MCP_LOG_LEVEL",),
    ),
    _choice(
        "log_format",
        LOG_FORMATS,
        group="Logs",
        help="Lines for people, or one JSON object per line.",
        default="text",
        environment=("GITLAB_MCP_LOG_FORMAT",),
    ),
    Setting(
        name="sentry_dsn",
        group="Logs",
        help="Where failures of GitLab, of the network and of this server are reported, when the package sentry-sdk is "
        "installed. Mistakes of callers never are. What is sent: the code, the operation, the status, and for a bug "
        "its stack trace without values.",
        expects="the DSN of a Sentry project",
        parse=values.secret,
        environment=("GITLAB_MCP_SENTRY_DSN", "SENTRY_DSN"),
        secret=True,
    ),
    _switch(
        "no_color",
        group="Logs",
        help="Never write colours to a terminal.",
        environment=("NO_COLOR",),
        parse=values.given_at_all,
    ),
)

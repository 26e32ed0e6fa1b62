"""What the operator decided, and where: the only reader of the environment, the settings file, the token file
and the git remote.

Everything about a setting is said once, in `SETTINGS`: its flag, its variables, its key in the file and its
line in docs/guides/settings.md all come from there. Flags win over variables, variables over the file, the
file over the default.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal
from urllib.parse import urlsplit

from gitlab_mcp.errors.failure import CallFailed, Failure

DEFAULT = "default"
"""The source of a value nobody gave."""


class SettingsError(CallFailed):
    """The settings as they are cannot be used; the failure names every problem, not only the first."""


class Secret:
    """A value that shows itself only when asked by name, so that no log, traceback or repr carries it."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        return self._value

    def __repr__(self) -> str:
        return "Secret(…)"

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return repr(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._value == self._value

    def __hash__(self) -> int:
        return hash(self._value)

    def __deepcopy__(self, memo: object) -> Secret:
        return self

    def __reduce__(self) -> Any:
        raise TypeError("a secret is not pickled")


TokenKind = Literal["private", "bearer", "job"]


@dataclass(frozen=True, slots=True)
class Token:
    value: Secret
    kind: TokenKind
    """How GitLab wants it: `private` (PRIVATE-TOKEN), `bearer` (Authorization) or `job` (JOB-TOKEN)."""


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
    secret: bool = False
    flag_only: bool = False
    switch: bool = False
    repeatable: bool = False

    @property
    def flag(self) -> str | None:
        """A secret has none: everybody on the machine can read a command line."""
        return None if self.secret else "--" + self.name.replace("_", "-")

    @property
    def in_file(self) -> bool:
        return not self.flag_only and self.name != "config"


def _text(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise ValueError
    text = str(value).strip()
    if not text or not text.isprintable():
        raise ValueError
    return text


def _secret(value: Any) -> Secret:
    text = _text(value)
    # A header value: anything else would be refused far from here, or smuggle in a second header.
    if not re.fullmatch(r"[!-~]+", text) or text.startswith(("${", "<", '"', "'")):
        raise ValueError
    return Secret(text)


def _word(value: Any) -> str:
    return _text(value).lower()


def _yes_or_no(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    known = {
        "true": True,
        "1": True,
        "yes": True,
        "on": True,
        "false": False,
        "0": False,
        "no": False,
        "off": False,
    }
    try:
        return known[_word(value)]
    except KeyError:
        raise ValueError from None


def _given_at_all(value: Any) -> bool:
    return value is not False


def _number(value: Any) -> float:
    if isinstance(value, bool):
        raise ValueError
    return float(value)


def _whole_number(value: Any) -> int:
    if isinstance(value, bool | float):
        raise ValueError
    return int(value)


def _words(value: Any) -> tuple[str, ...]:
    words = value if isinstance(value, list | tuple) else _text(value).split(",")
    return tuple(dict.fromkeys(_word(word) for word in words if str(word).strip()))


def _toolsets(value: Any) -> tuple[str, ...]:
    return tuple("core" if word == "default" else word for word in _words(value))


def _path(value: Any) -> Path:
    return Path(_text(value)).expanduser()


def _paths(value: Any) -> tuple[Path, ...]:
    several = value if isinstance(value, list | tuple) else _text(value).split(os.pathsep)
    return tuple(_path(each) for each in several)


def _gitlab_url(value: Any) -> str:
    """`https://host[:port][/relative/root]`, from a host, an API address or the address itself."""
    text = _text(value)
    parts = urlsplit(text if "://" in text else f"https://{text}")
    path = re.sub(r"/api(/v\d+|/graphql)?$", "", parts.path.rstrip("/"))
    _ = parts.port  # raises ValueError when it is none
    host = parts.hostname or ""
    if parts.scheme not in ("http", "https") or parts.username is not None or parts.query or parts.fragment:
        raise ValueError
    if not re.fullmatch(r"[\w.-]+|[0-9a-f:.]+(%\w+)?", host) or ".." in path or "//" in path:
        raise ValueError
    return f"{parts.scheme}://{parts.netloc.lower()}{path}"


def _readable(path: Path) -> bool:
    return path.is_file() and os.access(path, os.R_OK)


def _can_hold_files(path: Path) -> bool:
    return path.parent.is_dir() and not path.is_dir()


def _all_exist(paths: tuple[Path, ...]) -> bool:
    return bool(paths) and all(path.exists() for path in paths)


def _positive(number: float) -> bool:
    return 0 < number <= 3600


TIERS = ("free", "premium", "ultimate")
ERROR_STYLES = ("tier", "toolerror", "aql", "problem", "text")
FORMATS = ("json", "markdown", "both")
LOG_LEVELS = ("debug", "info", "warning", "error")
LOG_FORMATS = ("text", "json")


def _choice(name: str, choices: tuple[str, ...], **more: Any) -> Setting:
    return Setting(
        name=name,
        parse=_word,
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
            "parse": _yes_or_no,
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
        parse=_path,
        accepts=_readable,
        environment=("GITLAB_MCP_CONFIG",),
    ),
    Setting(
        name="url",
        group="GitLab",
        help="Where GitLab is, with or without /api/v4.",
        expects="an address such as https://gitlab.example.com, without a user name or password in it",
        parse=_gitlab_url,
        default="https://gitlab.com",
        environment=("GITLAB_URL", "GITLAB_API_URL", "GITLAB_HOST", "CI_SERVER_URL"),
    ),
    Setting(
        name="token",
        group="GitLab",
        help="A personal, project or group access token, or an OAuth token. It has no flag, because "
        "everybody on the machine can read a command line.",
        expects="a token on one line, without quotes or spaces; not a placeholder",
        parse=_secret,
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
        parse=_path,
        accepts=_readable,
        environment=("GITLAB_TOKEN_FILE",),
    ),
    Setting(
        name="job_token",
        group="GitLab",
        help="The token of a CI job, used only when there is no other. GitLab lets it do very little.",
        expects="the token GitLab puts into CI_JOB_TOKEN",
        parse=_secret,
        environment=("GITLAB_JOB_TOKEN", "CI_JOB_TOKEN"),
        secret=True,
    ),
    Setting(
        name="project",
        group="GitLab",
        help="The project that is meant when a call names none.",
        expects="a path such as acme/website, or a number",
        parse=_text,
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
        parse=_path,
        accepts=_readable,
        environment=("GITLAB_MCP_TIER_FEATURES",),
    ),
    Setting(
        name="ca_file",
        group="Network",
        help="A PEM file of the authorities to trust, for a GitLab with a certificate of its own.",
        expects="a readable PEM file",
        parse=_path,
        accepts=_readable,
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
        parse=_number,
        accepts=_positive,
        default=5.0,
        environment=("GITLAB_MCP_CONNECT_TIMEOUT",),
    ),
    Setting(
        name="read_timeout",
        group="Network",
        help="Seconds to wait for the next byte of an answer.",
        expects="a number of seconds above 0",
        parse=_number,
        accepts=_positive,
        default=30.0,
        environment=("GITLAB_MCP_READ_TIMEOUT",),
    ),
    Setting(
        name="deadline",
        group="Network",
        help="Seconds a whole call may take, retries included. Most clients give up after 60.",
        expects="a number of seconds above 0",
        parse=_number,
        accepts=_positive,
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
        parse=_toolsets,
        accepts=bool,
        default=("core",),
        environment=("GITLAB_TOOLSETS",),
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
        parse=_whole_number,
        accepts=lambda number: 1_000 <= number <= 200_000,
        default=24_000,
        environment=("GITLAB_MCP_MAX_BYTES",),
    ),
    Setting(
        name="record",
        group="Record and replay",
        help="Write every exchange with GitLab to this cassette, without secrets.",
        expects="a file name in a directory that exists",
        parse=_path,
        accepts=_can_hold_files,
        environment=("GITLAB_MCP_RECORD",),
    ),
    Setting(
        name="replay",
        group="Record and replay",
        help="Answer from these cassettes (files or directories) in place of GitLab, without the network.",
        expects="cassette files or directories that exist",
        parse=_paths,
        accepts=_all_exist,
        default=(),
        environment=("GITLAB_MCP_REPLAY",),
        repeatable=True,
    ),
    Setting(
        name="record_as",
        group="Record and replay",
        help="The name under which the caller is recorded in place of the token.",
        expects="a short name",
        parse=_text,
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
    _switch(
        "no_color",
        group="Logs",
        help="Never write colours to a terminal.",
        environment=("NO_COLOR",),
        parse=_given_at_all,
    ),
)


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
    format: str = "json"
    error_style: str = "tier"
    max_bytes: int = 24_000
    record: Path | None = None
    replay: tuple[Path, ...] = ()
    record_as: str | None = None
    scrub_emails: bool = False
    log_level: str = "warning"
    log_format: str = "text"
    no_color: bool = False
    sources: Mapping[str, str] = field(default_factory=dict)
    """Where each value came from: a flag, a variable, a key of the file, or `default`."""
    proxies: Mapping[str, str] = field(default_factory=dict)
    """The proxy variables in effect, without the user names and passwords they may hold."""

    def token_source(self) -> Callable[[], Token | None]:
        """Gives the token as it is now; one that comes from a file is read again when the file changes."""
        if self.token_file is not None:
            return TokenFile(self.token_file, self.sources.get("token_file", "token_file"))
        secret = self.token or self.job_token
        if secret is None:
            return lambda: None
        token = Token(secret, _kind(secret) if self.token else "job")
        return lambda: token


class TokenFile:
    def __init__(self, path: Path, source: str) -> None:
        self._path = path
        self._source = source
        self._read_at: tuple[int, int, int] | None = None
        self._token: Token | None = None

    def __call__(self) -> Token:
        try:
            stat = self._path.stat()
            # The inode too: a file renamed into place can carry the time of the old one.
            now = (stat.st_mtime_ns, stat.st_size, stat.st_ino)
            if self._token is None or now != self._read_at:
                secret = _secret(self._path.read_text("utf-8"))
                self._token, self._read_at = Token(secret, _kind(secret)), now
        except (OSError, ValueError) as problem:
            raise SettingsError(_failure([_no_token_in_file(self._source)])) from problem
        return self._token


def load(
    flags: Mapping[str, Any] = MappingProxyType({}),
    environ: Mapping[str, str] | None = None,
    directory: Path | None = None,
) -> Settings:
    """The settings in effect; SettingsError names all that is wrong with them."""
    environ = os.environ if environ is None else environ
    directory = Path.cwd() if directory is None else directory
    problems: list[Failure] = []
    values: dict[str, Any] = {}
    sources: dict[str, str] = {}
    ranks: dict[str, int] = {}

    def take(setting: Setting, found: _Found) -> None:
        value, sources[setting.name], ranks[setting.name] = setting.default, found.source, found.rank
        if found.source != DEFAULT:
            try:
                value = _anchored(setting.parse(found.value), found.base)
                if not setting.accepts(value):
                    raise ValueError
            except (ValueError, OSError, RuntimeError):
                problems.append(_bad_value(setting, found.source))
                value = setting.default
        values[setting.name] = value

    config = next(setting for setting in SETTINGS if setting.name == "config")
    take(config, _find(config, flags, environ, {}, directory, None))
    if values["config"] is None and sources["config"] == DEFAULT:
        values["config"] = _usual_file(environ)
    keys = _keys(values["config"], problems)
    for setting in SETTINGS:
        if setting is not config:
            take(setting, _find(setting, flags, environ, keys, directory, values["config"]))

    _keep_one_token(values, sources, ranks)
    if values["record"] and values["replay"]:
        problems.append(_record_and_replay(sources))
    if values["token_file"] is not None:
        try:
            _secret(values["token_file"].read_text("utf-8"))
        except (OSError, ValueError):
            problems.append(_no_token_in_file(sources["token_file"]))
    if problems:
        raise SettingsError(_failure(problems))
    if values["project"] is None and values["project_from_git"]:
        values["project"] = _project_of_checkout(directory, values["url"])
        if values["project"]:
            sources["project"] = "git remote origin"
    return Settings(**values, sources=sources, proxies=_proxies(environ))


@dataclass(frozen=True, slots=True)
class _Found:
    value: Any
    source: str
    rank: int
    """The lower, the nearer to the user: 0 for a flag, 1 for a variable, 2 for the file."""
    base: Path
    """Where relative paths start: at the settings file for what it says, else in the working directory."""


def _find(
    setting: Setting,
    flags: Mapping[str, Any],
    environ: Mapping[str, str],
    keys: Mapping[str, Any],
    directory: Path,
    config: Path | None,
) -> _Found:
    if flags.get(setting.name) is not None:
        return _Found(flags[setting.name], str(setting.flag), 0, directory)
    for variable in setting.environment:
        # Clients write an empty string for a field that was left blank.
        if environ.get(variable, "").strip():
            return _Found(environ[variable], variable, 1, directory)
    if setting.in_file and setting.name in keys and config is not None:
        return _Found(keys[setting.name], f"{setting.name} in {config}", 2, config.parent)
    return _Found(None, DEFAULT, 3, directory)


def _anchored(value: Any, base: Path) -> Any:
    if isinstance(value, Path):
        return base / value
    if isinstance(value, tuple):
        return tuple(_anchored(each, base) for each in value)
    return value


def _usual_file(environ: Mapping[str, str]) -> Path | None:
    home = environ.get("XDG_CONFIG_HOME") or (f"{environ['HOME']}/.config" if environ.get("HOME") else None)
    path = Path(home, "gitlab-mcp", "config.toml") if home else None
    return path if path and _readable(path) else None


def _keys(config: Path | None, problems: list[Failure]) -> Mapping[str, Any]:
    if config is None:
        return {}
    try:
        keys = tomllib.loads(config.read_text("utf-8"))
    except tomllib.TOMLDecodeError as error:
        where = re.search(r"\(at (.+)\)$", str(error))
        place = f" ({where[1]})" if where else ""
        problems.append(
            _problem("config", str(config), "a TOML file", f"Correct {config}{place}: it is not valid TOML.")
        )
        return {}
    except (OSError, ValueError):
        problems.append(
            _problem("config", str(config), "a TOML file in UTF-8", f"Make {config} readable, in UTF-8.")
        )
        return {}
    known = [setting.name for setting in SETTINGS if setting.in_file]
    for key in keys.keys() - set(known):
        near = get_close_matches(key, known, n=1)
        meant = (
            f"Did you mean {near[0]}?" if near else "Remove it, or see docs/guides/settings.md for the names."
        )
        problems.append(
            _problem(key, str(config), "the name of a setting", f"{config} has no setting {key}. {meant}")
        )
    return keys


def _keep_one_token(values: dict[str, Any], sources: dict[str, str], ranks: Mapping[str, int]) -> None:
    """Of `token` and `token_file` the nearer source stays; of equals the file, which can rotate."""
    if values["token"] is None or values["token_file"] is None:
        return
    loser = "token_file" if ranks["token"] < ranks["token_file"] else "token"
    values[loser], sources[loser] = None, DEFAULT


def _kind(secret: Secret) -> TokenKind:
    token = secret.reveal()
    if token.startswith("glcbt-"):
        return "job"
    # OAuth access tokens have no prefix: 64 hexadecimal digits, which GitLab takes as Bearer only.
    return "bearer" if re.fullmatch(r"[0-9a-f]{64}", token) else "private"


def _proxies(environ: Mapping[str, str]) -> dict[str, str]:
    found = {}
    for variable in ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        if environ.get(variable):
            found[variable] = re.sub(r"//[^/@]*@", "//", environ[variable])
    for variable in ("NO_PROXY", "no_proxy"):
        if environ.get(variable):
            found[variable] = environ[variable]
    return found


def _bad_value(setting: Setting, source: str) -> Failure:
    return _problem(setting.name, source, setting.expects, f"Set {source} to {setting.expects}.")


def _no_token_in_file(source: str) -> Failure:
    expected = "a readable file that holds one token and nothing else"
    return _problem("token_file", source, expected, f"Let the file named by {source} be {expected}.")


def _record_and_replay(sources: Mapping[str, str]) -> Failure:
    return _problem(
        "record",
        sources["record"],
        "record or replay, not both",
        f"Remove {sources['record']} or {sources['replay']}: what is replayed is recorded already.",
    )


def _problem(setting: str, source: str, expected: str, fix: str) -> Failure:
    facts = {
        "setting": setting,
        "source": source,
        "expected": expected,
        "suggested_fix": fix,
        "retryable": False,
    }
    return Failure("CONFIGURATION_ERROR", f"The setting {setting} from {source} is not usable.", facts)


def _failure(problems: list[Failure]) -> Failure:
    if len(problems) == 1:
        return problems[0]
    names = ", ".join(dict.fromkeys(problem.facts["setting"] for problem in problems))
    listed = [{k: v for k, v in problem.facts.items() if k != "retryable"} for problem in problems]
    fixes = " ".join(problem.facts["suggested_fix"] for problem in problems)
    return Failure(
        "CONFIGURATION_ERROR",
        f"{len(problems)} settings are not usable: {names}.",
        {"problems": listed, "suggested_fix": fixes, "retryable": False},
    )


def _project_of_checkout(directory: Path, url: str) -> str | None:
    """The project that `origin` names, when it lives on the GitLab at `url`."""
    try:
        config = _git_config(directory)
        remote = next(_origin_urls(config.read_text("utf-8", "replace")), None) if config else None
        return _project_of_remote(remote, url) if remote else None
    except (OSError, ValueError):
        return None


def _git_config(directory: Path) -> Path | None:
    for folder in (directory, *directory.parents):
        git = folder / ".git"
        if git.is_dir():
            return git / "config"
        if git.is_file():  # a worktree or a submodule: the file names the directory
            place = folder / git.read_text("utf-8").removeprefix("gitdir:").strip()
            shared = place / "commondir"
            return (place / shared.read_text("utf-8").strip() if shared.is_file() else place) / "config"
    return None


def _origin_urls(config: str) -> Iterator[str]:
    section = ""
    for line in map(str.strip, config.splitlines()):
        if line.startswith("["):
            section = line
        elif section == '[remote "origin"]' and (match := re.fullmatch(r'url\s*=\s*"?([^"#;\s]+)"?', line)):
            yield match[1]


def _project_of_remote(remote: str, url: str) -> str | None:
    gitlab = urlsplit(url)
    short = re.fullmatch(r"(?:[^@/]+@)?([^:/]+):(?!//)(.+)", remote)
    if short:
        host, path = short[1], short[2]
    else:
        parts = urlsplit(remote)
        host, path = parts.hostname or "", parts.path
        if parts.scheme in ("http", "https"):
            root = gitlab.path.rstrip("/") + "/"
            if not path.startswith(root):
                return None
            path = path[len(root) :]
    path = path.strip("/").removesuffix(".git")
    same = host.lower() == gitlab.hostname
    return path if same and re.fullmatch(r"[\w.+-]+(/[\w.+-]+)+", path) else None

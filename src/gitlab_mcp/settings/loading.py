"""Reads the settings. Flags win over variables, variables over the file, the file over the default."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from gitlab_mcp.failures.failure import Failure
from gitlab_mcp.settings import parsers
from gitlab_mcp.settings.errors import (
    SettingsError,
    bad_secret_file,
    bad_value,
    combined,
    not_a_cassette,
    not_recordings,
    problem,
    record_with_replay,
    several_versions,
)
from gitlab_mcp.settings.git_remote import project_of_checkout
from gitlab_mcp.settings.metadata import Setting
from gitlab_mcp.settings.settings import DEFAULT as DEFAULT
from gitlab_mcp.settings.settings import SETTINGS, Settings
from gitlab_mcp.settings.token_sources import SECRET_FILES, secret_parser

RECORDINGS = "the recordings"
"""The source of the URL when it is taken from the recordings that are replayed."""


def load(
    flags: Mapping[str, Any] = MappingProxyType({}),
    environ: Mapping[str, str] | None = None,
    directory: Path | None = None,
) -> Settings:
    """The settings in effect. SettingsError names every problem at once."""
    environ = os.environ if environ is None else environ
    directory = Path.cwd() if directory is None else directory
    problems: list[Failure] = []
    given: dict[str, Any] = {}
    sources: dict[str, str] = {}
    ranks: dict[str, int] = {}

    def take(setting: Setting, found: _Found) -> None:
        value, sources[setting.name], ranks[setting.name] = setting.default, found.source, found.rank
        if found.source != DEFAULT:
            try:
                value = _resolved(setting.parse(found.value), found.base)
                if not setting.accepts(value) or (setting.is_limit and not value):
                    raise ValueError
            except (ValueError, OSError, RuntimeError):
                problems.append(bad_value(setting, found.source))
                value = setting.default
        given[setting.name] = value

    config = next(setting for setting in SETTINGS if setting.name == "config")
    take(config, _find(config, flags, environ, {}, directory, None))
    if given["config"] is None and sources["config"] == DEFAULT:
        given["config"] = _default_config(environ)
    keys = _read_config(given["config"], problems)
    for setting in SETTINGS:
        if setting is not config:
            take(setting, _find(setting, flags, environ, keys, directory, given["config"]))

    _keep_one_token(given, sources, ranks)
    if given["record"] and given["replay"]:
        problems.append(record_with_replay(sources))
    elif given["record"] or given["replay"]:
        _look_into_recordings(given, sources, problems)
    for name in SECRET_FILES:
        if given[name] is not None:
            try:
                secret_parser(name)(given[name].read_text("utf-8"))
            except (OSError, ValueError):
                problems.append(bad_secret_file(name, sources[name]))
    if problems:
        raise SettingsError(combined(problems))
    if given["project"] is None and given["project_from_git"]:
        given["project"] = project_of_checkout(directory, given["url"])
        if given["project"]:
            sources["project"] = "git remote origin"
    return Settings(**given, sources=sources, proxies=_proxies(environ))


def environment() -> Mapping[str, str]:
    """For those who look in it where other programs have their files."""
    return os.environ


def is_completing() -> bool:
    """Whether a shell asks how a command line goes on, as `gitlab-mcp completion` has it do."""
    return "_ARGCOMPLETE" in os.environ


def _look_into_recordings(given: dict[str, Any], sources: dict[str, str], problems: list[Failure]) -> None:
    """What is replayed says which GitLab it is of."""
    from gitlab_mcp.recording.cassette import SeveralVersions
    from gitlab_mcp.settings.recorded_url import recorded_url

    if given["record"] and given["record"].exists():
        try:
            recorded_url([given["record"]])
        except ValueError:
            problems.append(not_a_cassette(sources["record"]))
    elif given["replay"]:
        try:
            recorded = recorded_url(given["replay"])
        except SeveralVersions as several:
            problems.append(several_versions(sources["replay"], several.folders))
        except ValueError:
            problems.append(not_recordings(sources["replay"]))
        else:
            if recorded and sources["url"] == DEFAULT:
                given["url"], sources["url"] = recorded, RECORDINGS


@dataclass(frozen=True, slots=True)
class _Found:
    value: Any
    source: str
    rank: int
    """0 for a flag, 1 for a variable, 2 for the file, 3 for the default; the lowest wins."""
    base: Path
    """Where relative paths start: beside the settings file for its values, else in the working directory."""


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
        # Clients write an empty string for a field that was left blank. For a limit that is no excuse.
        if environ.get(variable, "").strip() or (setting.is_limit and variable in environ):
            return _Found(environ[variable], variable, 1, directory)
    if setting.in_file and setting.name in keys and config is not None:
        return _Found(keys[setting.name], f"{setting.name} in {config}", 2, config.parent)
    return _Found(None, DEFAULT, 3, directory)


def _resolved(value: Any, base: Path) -> Any:
    if isinstance(value, Path):
        return base / value
    if isinstance(value, tuple):
        return tuple(_resolved(each, base) for each in value)
    return value


def _default_config(environ: Mapping[str, str]) -> Path | None:
    home = environ.get("XDG_CONFIG_HOME") or (f"{environ['HOME']}/.config" if environ.get("HOME") else None)
    path = Path(home, "gitlab-mcp", "config.toml") if home else None
    return path if path and parsers.is_readable_file(path) else None


def _read_config(config: Path | None, problems: list[Failure]) -> Mapping[str, Any]:
    if config is None:
        return {}
    import tomllib

    try:
        keys = tomllib.loads(config.read_text("utf-8"))
    except tomllib.TOMLDecodeError as error:
        where = re.search(r"\(at (.+)\)$", str(error))
        place = f" ({where[1]})" if where else ""
        problems.append(
            problem("config", str(config), "a TOML file", f"Correct {config}{place}: it is not valid TOML.")
        )
        return {}
    except (OSError, ValueError):
        problems.append(
            problem("config", str(config), "a TOML file in UTF-8", f"Make {config} readable, in UTF-8.")
        )
        return {}
    known = [setting.name for setting in SETTINGS if setting.in_file]
    for key in keys.keys() - set(known):
        from difflib import get_close_matches

        near = get_close_matches(key, known, n=1)
        meant = (
            f"Did you mean {near[0]}?" if near else "Remove it, or see docs/guides/settings.md for the names."
        )
        problems.append(
            problem(key, str(config), "the name of a setting", f"{config} has no setting {key}. {meant}")
        )
    return keys


def _keep_one_token(given: dict[str, Any], sources: dict[str, str], ranks: Mapping[str, int]) -> None:
    """Of `token` and `token_file`, keep the one whose source wins; the file on a tie, since it can be rotated."""
    if given["token"] is None or given["token_file"] is None:
        return
    loser = "token_file" if ranks["token"] < ranks["token_file"] else "token"
    given[loser], sources[loser] = None, DEFAULT


def _proxies(environ: Mapping[str, str]) -> dict[str, str]:
    found = {}
    for variable in ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        if environ.get(variable):
            found[variable] = re.sub(r"//[^/@]*@", "//", environ[variable])
    for variable in ("NO_PROXY", "no_proxy"):
        if environ.get(variable):
            found[variable] = environ[variable]
    return found

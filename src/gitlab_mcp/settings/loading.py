"""Reads the settings. Flags win over variables, variables over the file, the file over the default."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from gitlab_mcp.failures.failure import Failure
from gitlab_mcp.settings import parsers
from gitlab_mcp.settings.errors import (
    SettingsError,
    bad_profile_name,
    bad_secret_file,
    bad_value,
    beside_a_profile,
    combined,
    no_such_profile,
    not_a_cassette,
    not_in_profile,
    not_recordings,
    problem,
    profile_without_url,
    record_with_replay,
    several_versions,
)
from gitlab_mcp.settings.git_remote import project_of_checkout
from gitlab_mcp.settings.metadata import Setting
from gitlab_mcp.settings.settings import DEFAULT as DEFAULT
from gitlab_mcp.settings.settings import SETTINGS, Settings
from gitlab_mcp.settings.token_sources import SECRET_FILES, secret_parser

CONFIG_NAME = "config.toml"
NO_PROFILE = "default"
"""What calls name the account that is in no profile."""
RECORDINGS = "the recordings"
"""The source of the URL when it is taken from the recordings that are replayed."""
_SETTING = {setting.name: setting for setting in SETTINGS}


def load(
    flags: Mapping[str, Any] = MappingProxyType({}),
    environ: Mapping[str, str] | None = None,
    directory: Path | None = None,
) -> Settings:
    """The settings in effect. SettingsError names every problem at once."""
    environ = os.environ if environ is None else environ
    directory = Path.cwd() if directory is None else directory
    problems: list[Failure] = []
    folder = config_folder(environ)
    before = _Places(flags, environ, directory)
    config, source, _ = _taken(_SETTING["config"], before.find(_SETTING["config"]), problems)
    if config is None and source == DEFAULT:
        config = _default_config(folder)
    keys = dict(_read_config(config, problems))
    profiles = _profiles_in(keys.pop("profiles", {}), config, problems)
    places = replace(before, config=config, keys=keys, profiles=profiles)
    chosen, source, _ = _taken(_SETTING["profile"], places.find(_SETTING["profile"]), problems)
    if chosen is not None:
        if chosen not in profiles:
            raise SettingsError(combined([*problems, no_such_profile(source, list(profiles))]))
        given = [_SETTING[name] for name, value in flags.items() if value is not None and name in _SETTING]
        problems += [beside_a_profile(each.name, str(each.flag), chosen) for each in given if each.of_account]
    settings = _settings(places, chosen, folder, problems)
    of_profiles = {}
    if chosen is None and not settings.replay:
        found = {name: _settings(places, name, folder, problems) for name in profiles}
        # One cassette is of one GitLab.
        of_profiles = {name: replace(each, record=None) for name, each in found.items()}
    if problems:
        raise SettingsError(combined(list(_without_doubles(problems))))
    return replace(settings, profiles=of_profiles)


def _settings(places: _Places, profile: str | None, folder: Path | None, problems: list[Failure]) -> Settings:
    """As they are for a profile; without one, for the account that the settings name outside of all profiles. What is
    wrong with them goes to the problems."""
    given: dict[str, Any] = {"config": places.config, "profile": profile}
    sources: dict[str, str] = {}
    ranks: dict[str, int] = {}
    for name, setting in _SETTING.items():
        found = places.find(setting, profile)
        if name in given:
            sources[name] = found.source
        else:
            given[name], sources[name], ranks[name] = _taken(setting, found, problems)
    if profile is not None:
        sources["profile"] = sources["profile"] if sources["profile"] != DEFAULT else str(places.config)
        if sources["url"] == DEFAULT:
            problems.append(profile_without_url(places.table(profile)))
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
    if given["project"] is None and given["project_from_git"]:
        given["project"] = project_of_checkout(places.directory, given["url"])
        if given["project"]:
            sources["project"] = "git remote origin"
    return Settings(**given, sources=sources, proxies=_proxies(places.environ), folder=folder)


def _taken(setting: Setting, found: _Found, problems: list[Failure]) -> tuple[Any, str, int]:
    """The value, its source and its rank."""
    value = setting.default
    if found.source != DEFAULT:
        try:
            value = _resolved(setting.parse(found.value), found.base)
            if not setting.accepts(value) or (setting.is_limit and not value):
                raise ValueError
        except (ValueError, OSError, RuntimeError):
            problems.append(bad_value(setting, found.source))
            value = setting.default
    return value, found.source, found.rank


def _without_doubles(problems: list[Failure]) -> Iterator[Failure]:
    """What holds for every profile is wrong in each of them."""
    for number, each in enumerate(problems):
        if each not in problems[:number]:
            yield each


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


@dataclass(frozen=True, slots=True)
class _Places:
    """Where settings are looked for."""

    flags: Mapping[str, Any]
    environ: Mapping[str, str]
    directory: Path
    config: Path | None = None
    keys: Mapping[str, Any] = field(default_factory=dict)
    profiles: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def table(self, profile: str) -> str:
        return f"[profiles.{profile}] in {self.config}"

    def find(self, setting: Setting, profile: str | None = None) -> _Found:
        if profile is None or not setting.of_account:
            if self.flags.get(setting.name) is not None:
                return _Found(self.flags[setting.name], str(setting.flag), 0, self.directory)
            for variable in setting.environment:
                # Clients write an empty string for a field that was left blank. For a limit that is no excuse.
                if self.environ.get(variable, "").strip() or (setting.is_limit and variable in self.environ):
                    return _Found(self.environ[variable], variable, 1, self.directory)
        if self.config is not None:
            if profile is not None and setting.name in self.profiles[profile]:
                source = f"{setting.name} of {self.table(profile)}"
                return _Found(self.profiles[profile][setting.name], source, 2, self.config.parent)
            inherited = profile is None or not setting.of_account
            if inherited and setting.in_file and setting.name in self.keys:
                source = f"{setting.name} in {self.config}"
                return _Found(self.keys[setting.name], source, 2, self.config.parent)
        return _Found(None, DEFAULT, 3, self.directory)


def _resolved(value: Any, base: Path) -> Any:
    if isinstance(value, Path):
        return base / value
    if isinstance(value, tuple):
        return tuple(_resolved(each, base) for each in value)
    return value


def config_folder(environ: Mapping[str, str]) -> Path | None:
    """Where this person's programs keep their settings; ours are in a folder of their own."""
    home = environ.get("XDG_CONFIG_HOME") or (environ.get("APPDATA") if os.name == "nt" else None)
    home = home or (f"{environ['HOME']}/.config" if environ.get("HOME") else None)
    return Path(home, "gitlab-mcp") if home else None


def _default_config(folder: Path | None) -> Path | None:
    path = folder / CONFIG_NAME if folder else None
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
    _only_settings(keys.keys() - {"profiles"}, config, problems)
    return keys


def _only_settings(keys: Iterable[str], config: Path, problems: list[Failure]) -> None:
    known = [setting.name for setting in SETTINGS if setting.in_file]
    for key in sorted(set(keys) - set(known)):
        meant = _what_is_meant(key, known)
        problems.append(
            problem(key, str(config), "the name of a setting", f"{config} has no setting {key}. {meant}")
        )


def _profiles_in(
    tables: Any, config: Path | None, problems: list[Failure]
) -> Mapping[str, Mapping[str, Any]]:
    if not isinstance(tables, dict) or not all(map(_is_profile, tables.items())):
        problems.append(bad_profile_name(str(config)))
        return {}
    known = [setting.name for setting in SETTINGS if setting.in_profile]
    for name, keys in tables.items():
        where = f"[profiles.{name}] in {config}"
        problems += [
            not_in_profile(key, where, _what_is_meant(key, known)) for key in keys if key not in known
        ]
    return tables


def _is_profile(named: tuple[str, Any]) -> bool:
    name, keys = named
    return is_profile_name(name) and isinstance(keys, dict)


def is_profile_name(name: str) -> bool:
    """Agents write it into calls."""
    return bool(re.fullmatch(r"[A-Za-z0-9][\w-]{0,31}", name, re.ASCII)) and name != NO_PROFILE


def _what_is_meant(key: str, known: list[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(key, known, n=1)
    return f"Did you mean {near[0]}?" if near else "Remove it, or see docs/guides/settings.md for the names."


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

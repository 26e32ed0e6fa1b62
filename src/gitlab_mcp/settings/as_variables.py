"""The settings that were given, as the environment variables with which another program starts the server."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from gitlab_mcp.callers import Secret
from gitlab_mcp.settings.metadata import Setting
from gitlab_mcp.settings.settings import SETTINGS, Settings

_OF_THIS_TERMINAL: Final = frozenset({"no_color"})


def as_variables(settings: Settings, *, with_token: bool = False) -> Mapping[str, str]:
    """Those from flags and variables. The settings file is read again wherever the server starts.

    Secrets are left out, but for the token where `with_token` is set.
    """
    told = {}
    for setting in SETTINGS:
        if setting.name in _OF_THIS_TERMINAL or not _was_given(
            setting, settings.sources.get(setting.name, "")
        ):
            continue
        value = getattr(settings, setting.name)
        if isinstance(value, Secret):
            if with_token and setting.name == "token":
                told[setting.environment[0]] = value.reveal()
        else:
            told[setting.environment[0]] = _written(value)
    return told


def _was_given(setting: Setting, source: str) -> bool:
    return source == setting.flag or source in setting.environment


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        between = os.pathsep if any(isinstance(each, Path) for each in value) else ","
        return between.join(map(_written, value))
    return str(value.absolute()) if isinstance(value, Path) else str(value)

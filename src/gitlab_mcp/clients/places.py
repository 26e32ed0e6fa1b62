"""Where a client's file is. The system and its variables are handed in, so that each can be tried on any of them."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import PurePath, PurePosixPath, PureWindowsPath

from gitlab_mcp.clients.client import File, Refused, System

_OWN_FOLDERS = {"CODEX_HOME": ".codex"}
"""What a client's own variable stands for where it is not set."""


def this_system() -> System:
    return {"darwin": "macos", "win32": "windows"}.get(sys.platform, "linux")  # type: ignore[return-value]


def places(file: File, system: System, environ: Mapping[str, str]) -> list[PurePath]:
    """Where the file may be. Refused where the system does not say where a person's files are."""
    return [_place(each, system, environ) for each in file.places[system]]


def _place(template: str, system: System, environ: Mapping[str, str]) -> PurePath:
    flavour = PureWindowsPath if system == "windows" else PurePosixPath

    def folder(name: str) -> PurePath:
        if name == "home":
            variable = "USERPROFILE" if system == "windows" else "HOME"
            return _absolute(variable, flavour, environ) or _nowhere(variable)
        if name == "appdata":
            return _absolute("APPDATA", flavour, environ) or folder("home") / "AppData" / "Roaming"
        if name == "support":
            return folder("home") / "Library" / "Application Support"
        if name == "config":
            return _absolute("XDG_CONFIG_HOME", flavour, environ) or folder("home") / ".config"
        return _absolute(name, flavour, environ) or folder("home") / _OWN_FOLDERS[name]

    beginning, _, rest = template.partition("/")
    found = re.fullmatch(r"\{(\w+)\}", beginning)
    assert found, template
    return folder(found[1]) / rest


def _absolute(variable: str, flavour: type[PurePath], environ: Mapping[str, str]) -> PurePath | None:
    """A relative path counts as none, as the rules for these variables say."""
    path = flavour(environ.get(variable, ""))
    return path if path.is_absolute() else None


def _nowhere(variable: str) -> PurePath:
    raise Refused(
        f"{variable} is not set to a whole path, so nobody knows where your files are.",
        f"Set {variable} to your home folder, or use --print and paste what it prints.",
    )

"""The command that a client starts: the program that runs now, in a form that will still be there tomorrow."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit
from urllib.request import url2pathname

from gitlab_mcp.clients.client import Launch

DISTRIBUTION: Final = "gitlab-mcp-server"
_OF_UVX: Final = frozenset({"archive-v0", "builds-v0", "environments-v2"})
"""Folders of uv's cache, in which `uvx` makes environments that are cleared away with it."""


def launch(variables: Mapping[str, str]) -> Launch:
    # The link of an environment is not followed: it leads to a Python that does not have the package.
    folder = Path(sys.executable).parent
    program = folder / ("gitlab-mcp.exe" if sys.platform == "win32" else "gitlab-mcp")
    if _OF_UVX.intersection(folder.parts):
        return Launch(_whole_path("uvx"), ("--from", installed_from(), DISTRIBUTION), variables)
    if "pipx" in folder.parts and "venvs" not in folder.parts:
        return Launch(_whole_path("pipx"), ("run", "--spec", installed_from(), DISTRIBUTION), variables)
    if program.exists():
        return Launch(str(program), (), variables)
    return Launch(sys.executable, ("-m", "gitlab_mcp.cli"), variables)


def _whole_path(program: str) -> str:
    """Programs with windows are often started without the folder on their PATH that a terminal has."""
    return shutil.which(program) or program


def installed_from() -> str:
    """What an installer is given to get this package again: its name, or the file or address it came from."""
    try:
        origin = distribution(DISTRIBUTION).read_text("direct_url.json")
    except PackageNotFoundError:
        origin = None
    return requirement(json.loads(origin)) if origin else DISTRIBUTION


def requirement(origin: Mapping[str, object]) -> str:
    """Of what installers write down in `direct_url.json`."""
    url, repository = str(origin["url"]), origin.get("vcs_info")
    if isinstance(repository, dict):
        return f"{repository['vcs']}+{url}@{repository['commit_id']}"
    parts = urlsplit(url)
    return url2pathname(parts.path) if parts.scheme == "file" else url

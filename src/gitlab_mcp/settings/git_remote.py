"""The default project: the one that the git remote of the working directory names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit


def project_of_checkout(directory: Path, url: str) -> str | None:
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
        if git.is_file():  # in a worktree or submodule, a file that names the directory
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

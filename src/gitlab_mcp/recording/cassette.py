"""Reads and writes cassettes: files of recorded requests and responses, in the format of vcrpy.

A body that is not UTF-8 is kept by Python's `surrogateescape`. JSON can hold the result, and vcrpy can load the file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ALIAS_HEADER = "X-Recorded-As"
DEFAULT_ALIAS = "caller-1"
RECORDED_URL = "https://gitlab.example.com"
"""Written in place of the URL of the recorded GitLab."""

_VERSION = re.compile(r"\d+(\.\d+)+")
_BEGIN = '{"version": 1, "interactions": [\n'
_BETWEEN = ",\n"
_END = "\n]}\n"


@dataclass(frozen=True, slots=True)
class Interaction:
    """One recorded request and its response."""

    alias: str
    """Stands for the caller, whose token is not kept."""
    method: str
    uri: str
    request_body: str | None
    status: int
    reason: str
    headers: Mapping[str, str]
    """Of the response."""
    content: bytes
    """The body of the response."""


def dump_interaction(interaction: Interaction) -> str:
    """One line of a cassette."""
    return json.dumps(
        {
            "request": {
                "method": interaction.method,
                "uri": interaction.uri,
                "body": interaction.request_body,
                "headers": {ALIAS_HEADER: [interaction.alias]},
            },
            "response": {
                "status": {"code": interaction.status, "message": interaction.reason},
                "headers": {name: [value] for name, value in interaction.headers.items()},
                "body": {"string": interaction.content.decode("utf-8", "surrogateescape")},
            },
        }
    )


def dump_cassette(lines: Iterable[str]) -> str:
    return _BEGIN + _BETWEEN.join(lines) + _END


class SeveralVersions(ValueError):
    """A directory holds cassettes of several versions of GitLab, which contradict each other."""

    def __init__(self, folders: list[Path]) -> None:
        super().__init__(f"cassettes of several versions of GitLab: {', '.join(map(str, folders))}")
        self.folders = folders


def load_cassettes(path: Path) -> Iterator[Interaction]:
    """The interactions of a file, or of all cassettes in a directory and below it, sorted by file name.

    SeveralVersions for a directory with a folder for each of several versions, like `cassettes/` of this project.
    """
    for file in _files(path):
        for raw in _raw_interactions(file):
            yield _interaction(raw)


def _files(path: Path) -> list[Path]:
    if not path.exists():
        raise FileNotFoundError(f"there is no cassette at {path}")
    if path.is_file():
        return [path]
    versions = sorted(each for each in path.iterdir() if each.is_dir() and _VERSION.fullmatch(each.name))
    if len(versions) > 1:
        raise SeveralVersions(versions)
    files = sorted(file for file in path.rglob("*") if file.suffix in (".json", ".yaml", ".yml"))
    if not files:
        raise FileNotFoundError(f"there are no cassettes in {path}")
    return files


def _raw_interactions(file: Path) -> list[dict[str, Any]]:
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".json":
        document = json.loads(text)
    else:
        import yaml

        document = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    interactions = document.get("interactions") if isinstance(document, dict) else None
    if not isinstance(interactions, list):
        raise ValueError(f"{file} is not a cassette")
    return interactions


def _interaction(raw: Mapping[str, Any]) -> Interaction:
    request, response = raw["request"], raw["response"]
    headers = {name.lower(): _first(value) for name, value in (request.get("headers") or {}).items()}
    return Interaction(
        alias=headers.get(ALIAS_HEADER.lower(), DEFAULT_ALIAS),
        method=request["method"].upper(),
        uri=request["uri"],
        request_body=_as_text(request.get("body")),
        status=response["status"]["code"],
        reason=response["status"].get("message") or "",
        headers={name: _first(value) for name, value in (response.get("headers") or {}).items()},
        content=_as_bytes(response["body"].get("string")),
    )


def _first(value: Any) -> str:
    return str(value[0]) if isinstance(value, list) else str(value)


def _as_text(value: Any) -> str | None:
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else value


def _as_bytes(value: Any) -> bytes:
    return value.encode("utf-8", "surrogateescape") if isinstance(value, str) else value or b""

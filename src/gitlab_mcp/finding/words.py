"""What people call things: read from words.toml, which says what its tables are for."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib import resources
from typing import Final

_TABLES: Final[Mapping[str, Mapping[str, str]]] = tomllib.loads(
    resources.files("gitlab_mcp.finding").joinpath("words.toml").read_text("utf-8")
)


def _listed(table: str) -> dict[str, tuple[str, ...]]:
    return {name: tuple(phrases.split(", ")) for name, phrases in _TABLES[table].items()}


SAME: Final = _listed("same")
MEANS: Final = _listed("means")
PATHS: Final = _listed("paths")
ASKED: Final = _TABLES["asked"]
ELSEWHERE: Final = frozenset(_TABLES["elsewhere"]["names"].split())
MEANT_WITH: Final = frozenset(_TABLES["elsewhere"]["meant_with"].split())
LIGHT: Final = frozenset(_TABLES["light"]["words"].split())
VERBS: Final = {verb: kind for kind, verbs in _TABLES["verbs"].items() for verb in verbs.split()}

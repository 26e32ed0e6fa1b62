"""What an action does not say itself, because its endpoint does: docs, switch, feature, role.

`action_facts.json` is generated from `api/` and tier_features.yaml. When a tool is first called, its line is read.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Differs(Generic[T]):
    """What an action says otherwise than its endpoint, and why."""

    value: T
    because: str


def looked_up(tool: str, action: str) -> Mapping[str, Any]:
    return facts_of(tool).get(action, {})


@cache
def facts_of(tool: str) -> Mapping[str, Mapping[str, Any]]:
    """By action. Those of all tools, parsed, would be as large as all other data of an idle server together."""
    name = f"{json.dumps(tool)}:"
    line = next((line for line in _text().splitlines() if line.startswith(name)), f"{name}{{}}")
    facts: dict[str, dict[str, Any]] = json.loads(line.removeprefix(name).removesuffix(","))
    return facts


def all_facts() -> Mapping[str, Mapping[str, Mapping[str, Any]]]:
    """By tool and action."""
    facts: dict[str, dict[str, dict[str, Any]]] = json.loads(_text())
    return facts


def _text() -> str:
    return Path(__file__).parent.with_name("action_facts.json").read_text("utf-8")

"""What an action does not say itself, because its endpoint does: docs, switch, feature, role.

`action_facts.json` is generated from `api/` and tier_features.yaml, and read when a first tool is called.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Differs(Generic[T]):
    """What an action says otherwise than its endpoint, and why."""

    value: T
    because: str


def looked_up(tool: str, action: str) -> Mapping[str, Any]:
    return action_facts().get(tool, {}).get(action, {})


@cache
def action_facts() -> Mapping[str, Mapping[str, Mapping[str, Any]]]:
    text = resources.files("gitlab_mcp").joinpath("action_facts.json").read_text("utf-8")
    facts: dict[str, dict[str, dict[str, Any]]] = json.loads(text)
    return facts

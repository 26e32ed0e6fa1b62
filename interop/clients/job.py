"""What each library is asked to do, and how it reports.

It runs in their environments, so it knows only the standard library.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Call:
    tool: str
    arguments: Mapping[str, Any]
    filled_in: Mapping[str, Any]
    """The arguments as a strict mode sends them: every field of the tool."""


@dataclass(frozen=True, slots=True)
class Server:
    command: str
    args: list[str]
    env: Mapping[str, str]
    calls: list[Call]


@dataclass(slots=True)
class Report:
    loaded: int = 0
    """The tools whose schema the library took."""
    strict: int = 0
    """Of these, those that it took in strict mode."""
    texts: dict[str, str] = field(default_factory=dict)
    """By tool, what the library handed on of the answer."""


def run(use: Callable[[Server], Coroutine[Any, Any, Report]]) -> None:
    job = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    reports = []
    for server in job:
        calls = [Call(**call) for call in server.pop("calls")]
        reports.append(asdict(asyncio.run(use(Server(**server, calls=calls)))))
    Path(sys.argv[2]).write_text(json.dumps(reports), "utf-8")

"""A recorded mistake as the call an agent would have made of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from gitlab_mcp.actions.action import Action, Endpoint
from gitlab_mcp.actions.arguments.defaults import InstanceDefaults
from gitlab_mcp.actions.arguments.validation import validate
from gitlab_mcp.actions.fields import SentAs
from gitlab_mcp.actions.names import has_names
from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.actions.shape import shapes
from gitlab_mcp.failures.failure import CallFailed

API = "/api/v4"
HERE = InstanceDefaults("https://gitlab.example.com")


@dataclass(frozen=True)
class AsCalled:
    row: Mapping[str, Any]
    action: type[Action]
    arguments: Mapping[str, Any]

    @property
    def tool(self) -> str:
        return self.action.spec.tool.name


@cache
def endpoints() -> list[tuple[str, re.Pattern[str], Endpoint, type[Action]]]:
    found = []
    for action in Registry().actions():
        for endpoint in action.spec.endpoints:
            pattern = re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>[^/]+)", re.escape(endpoint.path))
            found.append((endpoint.method, re.compile(pattern), endpoint, action))
    return found


def as_called(row: Mapping[str, Any]) -> AsCalled | None:
    """The action whose endpoint this was, with the fields it has names for; of several the one that takes most.

    None also where a word stood for a number: it is looked up now, so that the recorded request is never made.
    """
    parts = urlsplit(row["path"])
    path = parts.path.removeprefix(API)
    sent = _sent(row, parts.query)
    best: AsCalled | None = None
    for method, pattern, endpoint, action in endpoints():
        match = pattern.fullmatch(path) if method == row["method"] else None
        if match is None:
            continue
        names = {_name_sent(name, shape): name for name, shape in shapes(action).items()}
        given = {names.get(name, name): value for name, value in sent.items()}
        placed = {name: unquote(value) for name, value in match.groupdict().items()}
        if set(placed) != set(endpoint.placeholders):
            continue
        called = AsCalled(row, action, {"action": action.spec.name, **given, **placed})
        if best is None or _fit(called) < _fit(best):
            best = called
    return None if best is not None and _fit(best)[1] else best


def _fit(called: AsCalled) -> tuple[bool, bool, int]:
    """Less is better: refused by our own validation, holds a name, how many fields the action does not have."""
    try:
        call = validate(Registry(), called.tool, without_strangers(called).arguments, HERE)
    except CallFailed:
        return True, False, _strange(called)
    return False, has_names(call.action), _strange(called)


def _strange(called: AsCalled) -> int:
    return len(set(called.arguments) - set(shapes(called.action)) - {"action"})


def without_strangers(called: AsCalled) -> AsCalled:
    """The same call without what our action has no field for."""
    known = {"action", *shapes(called.action)}
    return AsCalled(called.row, called.action, {k: v for k, v in called.arguments.items() if k in known})


def _name_sent(name: str, shape: Any) -> str:
    mark = shape.mark(SentAs)
    return mark.name if mark else name


def _sent(row: Mapping[str, Any], query: str) -> dict[str, Any]:
    sent: dict[str, Any] = {}
    for name, value in parse_qsl(query, keep_blank_values=True):
        if name.endswith("[]"):
            sent.setdefault(name[:-2], []).append(value)
        else:
            sent[name] = value
    body = row.get("request")
    return {**sent, **body} if isinstance(body, dict) else sent


def in_batches(calls: Iterable[AsCalled]) -> Iterator[list[AsCalled]]:
    """Batches in which no address is asked twice, so that one stand-in can answer each."""
    batches: list[tuple[set[tuple[str, str]], list[AsCalled]]] = []
    for call in calls:
        address = (call.row["method"], urlsplit(call.row["path"]).path)
        for taken, batch in batches:
            if address not in taken:
                taken.add(address)
                batch.append(call)
                break
        else:
            batches.append(({address}, [call]))
    return (batch for _, batch in batches)

"""The rows of src/gitlab_mcp/api/rows.jsonl, from the endpoints, the tools and the rules of naming. See `api.rows`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping

from gitlab_mcp.actions.action import Action
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.api.endpoints import EndpointFacts, facts_in, known_endpoints, normalised
from gitlab_mcp.api.operations import operations
from gitlab_mcp.api.row_answers import RAW, SHOWN_ONCE
from gitlab_mcp.api.row_dangers import SHOWS_A_SECRET, danger_of
from gitlab_mcp.api.row_names import name_of
from gitlab_mcp.api.row_sentences import sentence_of
from gitlab_mcp.api.row_toolsets import toolset_of
from gitlab_mcp.api.rows import Row
from gitlab_mcp.api.versions import READ
from gitlab_mcp.rows.places import path_of

_PAID = ("Premium", "Ultimate")


def rows_text(tools: Iterable[Tool], features: Mapping[str, str]) -> str:
    """One row a line, in the order of names."""
    found = sorted(made(list(tools), features), key=lambda row: row.name)
    return "".join(json.dumps(row.line(), ensure_ascii=False, separators=(",", ":")) + "\n" for row in found)


def made(tools: list[Tool], features: Mapping[str, str]) -> Iterator[Row]:
    actions = [action for tool in tools for action in tool.actions.values()]
    curated = [str(endpoint) for action in actions for endpoint in action.spec.endpoints]
    endpoints = [each.endpoint for each in operations(curated) if each.reached_by == "data"]
    lookups = Lookups(actions, endpoints)
    roles: dict[str, set[str | None]] = {}
    for endpoint in endpoints:
        roles.setdefault(_noun(endpoint), set()).add(newest(endpoint).role)
    for endpoint in endpoints:
        facts, name = newest(endpoint), name_of(endpoint)
        toolset = toolset_of(_noun(endpoint), roles[_noun(endpoint)])
        feature = features.get(normalised(endpoint))
        told = next((each.tier for each in facts.documented if each.tier), None)
        danger = danger_of(name, endpoint.partition(" ")[0], toolset)
        yield Row(
            name=name,
            endpoint=endpoint,
            does=sentence_of(endpoint),
            danger=danger,
            toolset=toolset,
            feature=feature,
            tier=told if told in _PAID and feature is None else None,
            since=known_endpoints()[normalised(endpoint)].get("since"),
            until=known_endpoints()[normalised(endpoint)].get("until"),
            look=lookups.of(endpoint) if danger != "read" else None,
            once=SHOWN_ONCE.get(name, ""),
            raw=name in RAW,
        )


def newest(endpoint: str) -> EndpointFacts:
    """What is known of an endpoint in the newest version that has it."""
    row = known_endpoints()[normalised(endpoint)]
    return next(filter(None, (facts_in(row, version) for version in reversed(READ))))


def _noun(endpoint: str) -> str:
    return name_of(endpoint).partition(".")[0]


class Lookups:
    """Where to look whether a write happened: what reads the thing itself, else the list it would be in."""

    def __init__(self, actions: Iterable[type[Action]], endpoints: Iterable[str]) -> None:
        self._reads: dict[str, tuple[str, list[str]]] = {}
        for endpoint in endpoints:
            if endpoint.startswith("GET ") and name_of(endpoint) not in SHOWS_A_SECRET:
                name = name_of(endpoint).replace(".", " ")
                self._reads[normalised(endpoint)] = (name, _fields_in(path_of(endpoint)))
        for action in actions:
            for read in action.spec.endpoints:
                if read.method == "GET" and not action.spec.writes:
                    name = f"{action.spec.tool.name} {action.spec.name}"
                    self._reads.setdefault(normalised(str(read)), (name, list(read.placeholders)))

    def of(self, endpoint: str) -> str | None:
        path = path_of(endpoint)
        given = _fields_in(path)
        for place in _places_to_look(path):
            key = normalised(f"GET {place}")
            if key in self._reads:
                name, fields = self._reads[key]
                pairs = (
                    theirs if theirs == ours else f"{theirs}={ours}"
                    for theirs, ours in zip(fields, given, strict=False)
                )
                return " ".join([name, *pairs])
        return None


def _places_to_look(path: str) -> Iterator[str]:
    """The path itself, then what is above it, down to the project or group."""
    segments = path.split("/")
    while len(segments) > 1:
        yield "/".join(segments)
        segments.pop()
        if not segments[-1]:
            return


def _fields_in(path: str) -> list[str]:
    return re.findall(r"\{(\w+)\}", path)

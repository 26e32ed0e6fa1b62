"""A cassette that may be given away: how GitLab answered, without what it answered about.

`--record` keeps what was read, but for secrets. Here nothing is kept but what tells one GitLab from another: status,
the sentences of refusals, the keys of an answer, and few values that are known to be harmless.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from http.client import responses
from typing import Any, Final, TypeVar
from urllib.parse import urlencode

from gitlab_mcp.actions.exchange import Answer, GitLab, Request
from gitlab_mcp.gitlab.address import GRAPHQL_PATH
from gitlab_mcp.gitlab.faults import GraphQLRefused, Refused
from gitlab_mcp.recording.cassette import (
    DEFAULT_ALIAS,
    RECORDED_URL,
    Interaction,
    dump_cassette,
    dump_interaction,
)
from gitlab_mcp.recording.scrub import Scrubber

T = TypeVar("T")

_KEPT: Final = frozenset(
    {"version", "plan", "requiredPlan", "trial", "kind", "visibility", "scopes", "access_level"}
)
"""The keys whose values are kept. Yes, no and nothing are kept under every key."""
_STAND_INS: Final = {"path_with_namespace": "group/project", "full_path": "group"}
_NUMBERED: Final = re.compile(r"(?<=/)(projects|groups|namespaces|members/all)/([^/?]+)")
_BELOW: Final = re.compile(r"/(?:projects|groups)/[^/]+/.+")
_THING: Final = re.compile(r"(?<=[a-z])/\d+(?=/|$)")
_THINGS_NUMBER: Final = 4
"""Of an issue or a merge request, whichever it was."""
_NUMBERS: Final = {"projects": 1, "groups": 2, "namespaces": 2, "members/all": 3}


@dataclass(slots=True)
class Noting:
    """GitLab, each request with `seconds` of its own. Remembers what was asked and answered."""

    gitlab: GitLab
    seconds: float
    exchanges: list[tuple[Request, Answer | Refused]] = field(default_factory=list)

    async def send(self, request: Request) -> Answer:
        try:
            answer = await self.gitlab.with_deadline(self.seconds).send(request)
        except Refused as refused:
            self.exchanges.append((request, refused))
            raise
        self.exchanges.append((request, answer))
        return answer

    async def get(self, path: str, **query: Any) -> Answer:
        return await self.send(Request("GET", path, query))

    async def stream(self, request: Request, read: Callable[[Iterator[bytes], Mapping[str, str]], T]) -> T:
        return await self.gitlab.stream(request, read)

    async def graphql(self, document: str, variables: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
        body = {"query": document, "variables": dict(variables or {})}
        request = Request("POST", GRAPHQL_PATH, body=body, repeatable=True)
        try:
            data = await self.gitlab.with_deadline(self.seconds).graphql(document, variables)
        except GraphQLRefused as refused:
            errors = [
                {key: each[key] for key in ("message", "path") if key in each} for each in refused.errors
            ]
            self.exchanges.append((request, Answer(200, {}, {"errors": errors})))
            raise
        except Refused as refused:
            self.exchanges.append((request, refused))
            raise
        self.exchanges.append((request, Answer(200, {}, {"data": data})))
        return data

    def with_deadline(self, seconds: float) -> Noting:
        return Noting(self.gitlab, seconds, self.exchanges)

    @property
    def today(self) -> date:
        return self.gitlab.today

    @property
    def seconds_left(self) -> float:
        return self.gitlab.seconds_left

    async def pause(self, seconds: float) -> bool:
        return await self.gitlab.pause(seconds)

    @property
    def base_url(self) -> str:
        return self.gitlab.base_url

    def report(self, done: float, total: float | None = None, what: str = "") -> None:
        self.gitlab.report(done, total, what)

    def contribution(self) -> str:
        """The text of the cassette. It replays with `--project 1 --group 2`."""
        return dump_cassette(dump_interaction(_interaction(*each)) for each in self.exchanges)


def _interaction(request: Request, reply: Answer | Refused) -> Interaction:
    if request.path == GRAPHQL_PATH:
        uri, body = f"{RECORDED_URL}{GRAPHQL_PATH}", _with_other_path(request.body or {})
        return _replayed("POST", uri, body, reply, GRAPHQL_PATH)
    path = _with_other_numbers(request.path)
    query = {name: "group" if name == "group_path" else value for name, value in request.query.items()}
    if "project_id" in query:
        query["project_id"] = 1
    uri = f"{RECORDED_URL}/api/v4{path}{'?' + urlencode(query) if query else ''}"
    return _replayed(request.method, uri, None, reply, path)


def _replayed(method: str, uri: str, body: str | None, reply: Answer | Refused, path: str) -> Interaction:
    if isinstance(reply, Refused):
        # A page may be anybody's, and says nothing that could be learned from.
        content = (
            b""
            if not reply.is_json
            else Scrubber(emails=True).body(reply.content.decode("utf-8", "replace")).encode()
        )
    elif isinstance(reply.body, dict) and path == GRAPHQL_PATH and "errors" in reply.body:
        # They speak of the question alone.
        content = json.dumps(reply.body).encode()
    else:
        content = json.dumps(_emptied(reply.body, path)).encode()
    kind = "application/json" if isinstance(reply, Answer) or reply.is_json else "text/html"
    return Interaction(
        DEFAULT_ALIAS,
        method,
        uri,
        body,
        reply.status,
        responses.get(reply.status, ""),
        {"content-type": kind},
        content,
    )


def _with_other_path(body: Mapping[str, Any]) -> str:
    """The question about the project or group that stands in for the one that was asked about."""
    kind = "path_with_namespace" if "{ project(" in body["query"] else "full_path"
    return json.dumps({"query": body["query"], "variables": {"path": _STAND_INS[kind]}})


def _with_other_numbers(path: str) -> str:
    place, below, rest = _NUMBERED.sub(_numbered, path).partition("/members/all/")
    if below or not _BELOW.fullmatch(place):
        return f"{place}{below}{rest}"
    kind, number, things = place[1:].split("/", 2)
    return f"/{kind}/{number}/{_THING.sub(f'/{_THINGS_NUMBER}', things)}"


def _numbered(match: re.Match[str]) -> str:
    # 0 is no project: GitLab is asked for it to see what a licence opens.
    return match[0] if match[2] == "0" else f"{match[1]}/{_NUMBERS[match[1]]}"


def _number_at(path: str) -> int:
    """The number that what is read there gets in its place."""
    if path in ("/user", "/personal_access_tokens/self"):
        return 3
    if _BELOW.fullmatch(path):
        return _THINGS_NUMBER
    return next((number for kind, number in _NUMBERS.items() if path.startswith(f"/{kind}")), 0)


def _emptied(value: Any, path: str, key: str = "") -> Any:
    match value:
        case dict():
            within = "/groups" if key == "namespace" else path if not key else ""
            return {name: _emptied(each, within, name) for name, each in value.items()}
        case list() if key not in _KEPT:
            # One entry shows the keys; more would only show how many there are.
            return [_emptied(each, path) for each in value[:1]]
        case None | bool():
            return value
        case _ if key in _KEPT:
            return value
        case str():
            return _STAND_INS.get(key, "")
        case int() | float():
            if key == "user_id":
                return 3
            return _number_at(path) if key in ("id", "iid") else 0
        case _:
            return None

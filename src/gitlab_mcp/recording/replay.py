"""Answers requests from cassettes, and never from the network."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import BytesIO
from threading import Lock
from typing import Any

import requests
from requests.adapters import BaseAdapter
from requests.structures import CaseInsensitiveDict

from gitlab_mcp.gitlab.address import GRAPHQL_PATH
from gitlab_mcp.gitlab.transport import NotRecorded
from gitlab_mcp.recording.cassette import UNNAMED, Interaction
from gitlab_mcp.recording.matching import Names, Question, learned_from, place, question
from gitlab_mcp.recording.scrub import Scrubber

_PLAIN = Scrubber()
_WITHOUT_EMAILS = Scrubber(emails=True)


class _Reel:
    """The answers to one question in the order they came; the last one stays."""

    __slots__ = ("_answers", "_next")

    def __init__(self) -> None:
        self._answers: list[Interaction] = []
        self._next = 0

    def add(self, interaction: Interaction) -> None:
        self._answers.append(interaction)

    def play(self) -> Interaction:
        interaction = self._answers[self._next]
        self._next = min(self._next + 1, len(self._answers) - 1)
        return interaction


class _Shelf:
    """What was recorded about one place; sorted into reels when somebody asks."""

    __slots__ = ("_reels", "_unsorted")

    def __init__(self) -> None:
        self._unsorted: list[Interaction] = []
        self._reels: dict[Question, _Reel] = {}

    def add(self, interaction: Interaction) -> None:
        self._unsorted.append(interaction)

    def find(self, asked: Question) -> _Reel | None:
        return self._sorted().get(asked)

    def questions(self, method: str) -> list[Question]:
        return [each for each in self._sorted() if each.method == method]

    def _sorted(self) -> Mapping[Question, _Reel]:
        for interaction in self._unsorted:
            recorded = question(interaction.method, interaction.uri, interaction.request_body, _PLAIN)
            self._reels.setdefault(recorded, _Reel()).add(interaction)
        self._unsorted.clear()
        return self._reels


class ReplayAdapter(BaseAdapter):
    """A token that is the alias of a recorded caller speaks for that caller; any other for the first one."""

    def __init__(self, interactions: Iterable[Interaction]) -> None:
        super().__init__()
        self._interactions = list(interactions)
        self._aliases = {interaction.alias for interaction in self._interactions}
        self._default = self._interactions[0].alias if self._interactions else UNNAMED
        self._shelves: dict[tuple[str, str], _Shelf] = {}
        for interaction in self._interactions:
            shelf = (interaction.alias, place(interaction.uri, _PLAIN))
            self._shelves.setdefault(shelf, _Shelf()).add(interaction)
        self._names: Names | None = None
        self._lock = Lock()

    def send(self, request: requests.PreparedRequest, *args: Any, **kwargs: Any) -> requests.Response:
        token = token_of(request.headers)
        alias = token if token in self._aliases else self._default
        with self._lock:
            ways = []
            for asked in self._ways_to_ask(request):
                ways.append(asked)
                shelf = self._shelves.get((alias, asked.path))
                reel = shelf.find(asked) if shelf is not None else None
                if reel is not None:
                    return _response(request, reel.play())
            nearest = self._nearest(alias, ways)
        raise NotRecorded(str(ways[0]), _told_apart(nearest, ways) if nearest else None)

    def close(self) -> None:
        pass

    def _ways_to_ask(self, request: requests.PreparedRequest) -> Iterator[Question]:
        """As it is, then less and less literally."""
        for scrubber in (_PLAIN, _WITHOUT_EMAILS):
            asked = question(request.method or "", request.url or "", body_of(request), scrubber)
            yield asked
            yield from self._known_names().otherwise(asked)

    def _nearest(self, alias: str, ways: Sequence[Question]) -> Question | None:
        """What was recorded of the same place, else of the same kind of place."""
        for apart in (0, 1):
            found = [
                (asked.unlike(recorded), recorded)
                for asked in ways
                for (who, path), shelf in self._shelves.items()
                if who == alias and _names_apart(asked.path, path) == apart
                for recorded in shelf.questions(asked.method)
            ]
            if found:
                return min(found, key=lambda pair: (pair[0], str(pair[1])))[1]
        return None

    def _known_names(self) -> Names:
        if self._names is None:
            self._names = learned_from(interaction.content for interaction in self._interactions)
        return self._names


def token_of(headers: Mapping[str, str]) -> str | None:
    bearer = headers.get("Authorization", "").removeprefix("Bearer ")
    return headers.get("PRIVATE-TOKEN") or headers.get("JOB-TOKEN") or bearer or None


def body_of(request: requests.PreparedRequest) -> str | None:
    body = request.body
    return body.decode("utf-8", "surrogateescape") if isinstance(body, bytes) else body


def _names_apart(one: str, other: str) -> int | None:
    """In how many of the things they name two paths differ; None where they are about other kinds of things."""
    ours, theirs = one.split("/"), other.split("/")
    # /api/v4/projects/1/issues/2: the kinds are at the odd places, and each is followed by the name of one.
    if len(ours) != len(theirs) or ours[1::2] != theirs[1::2]:
        return None
    return sum(mine != yours for mine, yours in zip(ours, theirs, strict=True))


def _told_apart(nearest: Question, ways: Sequence[Question]) -> str | None:
    """None for GraphQL, where all is in the body, and that is not shown."""
    if nearest.path == GRAPHQL_PATH:
        return None
    only_the_body = any(str(asked) == str(nearest) for asked in ways)
    return f"{nearest} with another body" if only_the_body else str(nearest)


def _response(request: requests.PreparedRequest, interaction: Interaction) -> requests.Response:
    response = requests.Response()
    response.status_code = interaction.status
    response.reason = interaction.reason
    response.headers = CaseInsensitiveDict(interaction.headers)
    response.raw = BytesIO(interaction.content)
    response.url = request.url or ""
    response.request = request
    return response

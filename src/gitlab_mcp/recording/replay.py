"""Answers requests from cassettes, never from the network."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import BytesIO
from threading import Lock

from urllib3 import HTTPHeaderDict, HTTPResponse, Timeout

from gitlab_mcp.gitlab.address import GRAPHQL_PATH
from gitlab_mcp.gitlab.transport import Incoming, NotRecorded, Outgoing
from gitlab_mcp.recording.cassette import DEFAULT_ALIAS, Interaction
from gitlab_mcp.recording.matching import (
    IdsAndPaths,
    RequestKey,
    normalized_path,
    request_key,
    token_of,
)
from gitlab_mcp.recording.request_bodies import recorded_bodies
from gitlab_mcp.recording.scrub import Scrubber

_SCRUBBER = Scrubber()
_EMAIL_SCRUBBER = Scrubber(emails=True)


class _AnswerSequence:
    """The recorded answers to one request, in order. The last one repeats."""

    __slots__ = ("_answers", "_next")

    def __init__(self) -> None:
        self._answers: list[Interaction] = []
        self._next = 0

    def add(self, interaction: Interaction) -> None:
        self._answers.append(interaction)

    @property
    def is_whole_list(self) -> bool:
        """Whether the answer is a list of one page, which a longer page would hold just so."""
        headers = HTTPHeaderDict(self._answers[self._next].headers)
        return "x-page" in headers and not headers.get("x-next-page")

    def next(self) -> Interaction:
        interaction = self._answers[self._next]
        self._next = min(self._next + 1, len(self._answers) - 1)
        return interaction


class _PathIndex:
    """What was recorded of one path. Request keys are slow to make, so they are made when the path is first used."""

    __slots__ = ("_by_key", "_not_indexed")

    def __init__(self) -> None:
        self._not_indexed: list[Interaction] = []
        self._by_key: dict[RequestKey, _AnswerSequence] = {}

    def add(self, interaction: Interaction) -> None:
        self._not_indexed.append(interaction)

    def find(self, key: RequestKey) -> _AnswerSequence | None:
        return self._indexed().get(key)

    def keys(self, method: str) -> list[RequestKey]:
        return [key for key in self._indexed() if key.method == method]

    def _indexed(self) -> Mapping[RequestKey, _AnswerSequence]:
        for interaction in self._not_indexed:
            key = request_key(interaction.method, interaction.uri, interaction.request_body, _SCRUBBER)
            self._by_key.setdefault(key, _AnswerSequence()).add(interaction)
        self._not_indexed.clear()
        return self._by_key


class ReplayAdapter:
    """A token that is the alias of a recorded caller gets the answers of that caller. Any other token gets those of the
    first recorded caller."""

    def __init__(self, interactions: Iterable[Interaction]) -> None:
        self._interactions = list(interactions)
        self._aliases = {interaction.alias for interaction in self._interactions}
        self._first_alias = self._interactions[0].alias if self._interactions else DEFAULT_ALIAS
        self._by_path: dict[tuple[str, str], _PathIndex] = {}
        for interaction in self._interactions:
            alias_and_path = (interaction.alias, normalized_path(interaction.uri, _SCRUBBER))
            self._by_path.setdefault(alias_and_path, _PathIndex()).add(interaction)
        self._ids_and_paths: IdsAndPaths | None = None
        self._lock = Lock()

    def send(self, request: Outgoing, timeout: Timeout, verify: bool | str) -> Incoming:
        token = token_of(request.headers)
        alias = token if token in self._aliases else self._first_alias
        with self._lock:
            tried = []
            for key in self._candidate_keys(request):
                tried.append(key)
                index = self._by_path.get((alias, key.path))
                answers = index.find(key) if index is not None else None
                if answers is not None:
                    return _response(answers.next())
                whole = index.find(key.in_short_pages()) if index is not None else None
                if whole is not None and whole.is_whole_list:
                    return _response(whole.next())
            nearest = self._nearest(alias, tried)
        raise NotRecorded(str(tried[0]), _describe(nearest, tried) if nearest else None)

    def close(self) -> None:
        pass

    def _candidate_keys(self, request: Outgoing) -> Iterator[RequestKey]:
        """The key of the request, then keys that match more loosely."""
        for body in recorded_bodies(request):
            for scrubber in (_SCRUBBER, _EMAIL_SCRUBBER):
                key = request_key(request.method, request.url, body, scrubber)
                yield key
                yield from self._known_ids_and_paths().alternatives(key)

    def _nearest(self, alias: str, tried: Sequence[RequestKey]) -> RequestKey | None:
        """The most similar recorded request: of the same path, else of a path that names one other object."""
        for differences in (0, 1):
            candidates = [
                (key.distance(recorded), recorded)
                for key in tried
                for (recorded_alias, path), index in self._by_path.items()
                if recorded_alias == alias and _different_names(key.path, path) == differences
                for recorded in index.keys(key.method)
            ]
            if candidates:
                return min(candidates, key=lambda pair: (pair[0], str(pair[1])))[1]
        return None

    def _known_ids_and_paths(self) -> IdsAndPaths:
        if self._ids_and_paths is None:
            self._ids_and_paths = IdsAndPaths.found_in(each.content for each in self._interactions)
        return self._ids_and_paths


def _different_names(one: str, other: str) -> int | None:
    """In how many names of objects two paths differ. None where they are about other kinds of objects."""
    segments, other_segments = one.split("/"), other.split("/")
    # In /api/v4/projects/1/issues/2 the kinds are the odd segments, and a name follows each kind.
    if len(segments) != len(other_segments) or segments[1::2] != other_segments[1::2]:
        return None
    return sum(a != b for a, b in zip(segments, other_segments, strict=True))


def _describe(nearest: RequestKey, tried: Sequence[RequestKey]) -> str | None:
    """None for GraphQL, where requests differ only in the body, which is not shown."""
    if nearest.path == GRAPHQL_PATH:
        return None
    only_body_differs = any(str(key) == str(nearest) for key in tried)
    return f"{nearest} with another body" if only_body_differs else str(nearest)


def _response(interaction: Interaction) -> Incoming:
    return HTTPResponse(
        BytesIO(interaction.content),
        interaction.headers,
        interaction.status,
        reason=interaction.reason,
        preload_content=False,
    )

"""GitLab for a step of a larger call, with what that call knows already: a step need not read it again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, TypeVar

from gitlab_mcp.actions.exchange import Answer, GitLab, Request

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class KnowingGitLab:
    gitlab: GitLab
    known: dict[str, Answer]
    """By path, whatever the query. Each is given once: who reads again wants to know what is so by then."""

    async def send(self, request: Request) -> Answer:
        return await self.gitlab.send(request)

    async def get(self, path: str, **query: Any) -> Answer:
        known = self.known.pop(path, None)
        return await self.gitlab.get(path, **query) if known is None else known

    async def stream(self, request: Request, read: Callable[[Iterator[bytes], Mapping[str, str]], T]) -> T:
        return await self.gitlab.stream(request, read)

    async def graphql(self, document: str, variables: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
        return await self.gitlab.graphql(document, variables)

    def with_deadline(self, seconds: float) -> GitLab:
        return KnowingGitLab(self.gitlab.with_deadline(seconds), self.known)

    async def pause(self, seconds: float) -> bool:
        return await self.gitlab.pause(seconds)

    @property
    def seconds_left(self) -> float:
        return self.gitlab.seconds_left

    @property
    def today(self) -> date:
        return self.gitlab.today

    @property
    def base_url(self) -> str:
        return self.gitlab.base_url

    def report(self, done: float, total: float | None = None, what: str = "") -> None:
        self.gitlab.report(done, total, what)

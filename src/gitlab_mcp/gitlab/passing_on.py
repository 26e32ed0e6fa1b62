"""GitLab with something in front of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, TypeVar

from gitlab_mcp.actions.exchange import Answer, GitLab, Request

T = TypeVar("T")


@dataclass(slots=True)
class PassingOn:
    """Passes everything on; a subclass says what it does otherwise."""

    gitlab: GitLab

    async def send(self, request: Request) -> Answer:
        return await self.gitlab.send(request)

    async def get(self, path: str, **query: Any) -> Answer:
        return await self.gitlab.get(path, **query)

    async def stream(self, request: Request, read: Callable[[Iterator[bytes], Mapping[str, str]], T]) -> T:
        return await self.gitlab.stream(request, read)

    async def graphql(self, document: str, variables: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
        return await self.gitlab.graphql(document, variables)

    def with_deadline(self, seconds: float) -> GitLab:
        return self.gitlab.with_deadline(seconds)

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

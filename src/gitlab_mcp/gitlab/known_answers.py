"""GitLab for a call that knows something already, from a look before it was made or from a larger call it is a step of:
that is not read again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gitlab_mcp.actions.exchange import Answer, GitLab, Request
from gitlab_mcp.gitlab.graphql import is_mutation
from gitlab_mcp.gitlab.passing_on import PassingOn


@dataclass(slots=True)
class KnowingGitLab(PassingOn):
    known: dict[str, Answer]
    """By path, whatever the query. Each is given once, and none after a write: who reads again wants to know what is so
    by then."""

    async def get(self, path: str, **query: Any) -> Answer:
        known = self.known.pop(path, None)
        return await self.gitlab.get(path, **query) if known is None else known

    async def send(self, request: Request) -> Answer:
        if not request.reads:
            self.known.clear()
        return await self.gitlab.send(request)

    async def graphql(self, document: str, variables: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
        if is_mutation(document):
            self.known.clear()
        return await self.gitlab.graphql(document, variables)

    def with_deadline(self, seconds: float) -> GitLab:
        return KnowingGitLab(self.gitlab.with_deadline(seconds), self.known)

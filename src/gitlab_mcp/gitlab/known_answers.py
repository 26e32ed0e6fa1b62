"""GitLab for a step of a larger call, with what that call knows already: a step need not read it again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.gitlab.passing_on import PassingOn


@dataclass(slots=True)
class KnowingGitLab(PassingOn):
    known: dict[str, Answer]
    """By path, whatever the query. Each is given once: who reads again wants to know what is so by then."""

    async def get(self, path: str, **query: Any) -> Answer:
        known = self.known.pop(path, None)
        return await self.gitlab.get(path, **query) if known is None else known

    def with_deadline(self, seconds: float) -> GitLab:
        return KnowingGitLab(self.gitlab.with_deadline(seconds), self.known)

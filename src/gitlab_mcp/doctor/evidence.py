"""What GitLab answered to the doctor's questions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from gitlab_mcp.actions.action import fill
from gitlab_mcp.actions.ask import Ask, InstanceFacts
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.gitlab.faults import BadAnswer, NoToken, Refused, ReplayMiss, Unreachable
from gitlab_mcp.gitlab.instance import lacks_permission
from gitlab_mcp.settings import Settings

_QUESTIONS = 5

Reply = Answer | Refused | Unreachable | BadAnswer | ReplayMiss | NoToken


@dataclass(frozen=True, slots=True)
class Evidence:
    """A reply is None where GitLab was not asked, because it cannot be reached."""

    version: Reply
    received_at: datetime
    """When the version came, by this machine's clock."""
    token: Reply | None = None
    user: Reply | None = None
    project: Reply | None = None
    instance: InstanceFacts | None = None

    @property
    def username(self) -> str:
        """Whose token it is; empty where GitLab does not say."""
        user = self.user.body if isinstance(self.user, Answer) else None
        return str(user.get("username") or "") if isinstance(user, dict) else ""

    @property
    def fine_grained(self) -> bool:
        """Whether the token has single permissions in place of scopes."""
        own = self.token.body if isinstance(self.token, Answer) else None
        return lacks_permission(self.token) or (isinstance(own, dict) and own.get("granular") is True)

    @property
    def gitlab_reached(self) -> bool:
        return not isinstance(self.version, Unreachable | BadAnswer)


async def gather_evidence(settings: Settings, gitlab: GitLab, ask: Ask) -> Evidence:
    """Says before each question what is asked, for a person who waits for a slow GitLab."""
    gitlab.report(0, _QUESTIONS, "which version is it?")
    version = await _reply(gitlab, "/version")
    received_at = datetime.now(UTC)
    if not isinstance(version, Answer | Refused | ReplayMiss):
        return Evidence(version, received_at)
    gitlab.report(1, _QUESTIONS, "which project?")
    project = await _reply(gitlab, fill("/projects/{id}", id=settings.project)) if settings.project else None
    gitlab.report(2, _QUESTIONS, "what may the token do?")
    token = await _reply(gitlab, "/personal_access_tokens/self")
    gitlab.report(3, _QUESTIONS, "whose token is it?")
    # A fine-grained token that may not read itself says so, and is alive.
    user = None if lacks_permission(token) else await _reply(gitlab, "/user")
    gitlab.report(4, _QUESTIONS, "which tier is it?")
    instance = await ask.instance()
    return Evidence(version, received_at, token, user, project, instance)


async def _reply(gitlab: GitLab, path: str) -> Reply:
    try:
        return await gitlab.get(path)
    except (Refused, Unreachable, BadAnswer, ReplayMiss, NoToken) as fault:
        return fault

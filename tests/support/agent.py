"""An agent at work: a real client of the whole server, with a GitLab on loopback behind it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from mcp import Client

from gitlab_mcp.app import App
from gitlab_mcp.protocol.server import GitLabServer
from gitlab_mcp.settings import Secret, Settings
from tests.support.guarded import UNGUARDED
from tests.support.standin import StandIn
from tests.support.versions import OLDEST, cassettes_of

CASSETTES = cassettes_of(OLDEST)


@dataclass(frozen=True, slots=True)
class Heard:
    """One call and its answer."""

    asked: str
    said: str
    data: dict[str, Any]


@dataclass(slots=True)
class Agent:
    client: Client
    heard: list[Heard] = field(default_factory=list)

    async def ask(self, tool: str, action: str, **arguments: Any) -> Heard:
        """One call that must succeed."""
        answer = await self.client.call_tool(tool, {"action": action, **arguments})
        texts = [block.text for block in answer.content if block.type == "text"]
        assert not answer.is_error, texts
        asked = json.dumps({"name": tool, "arguments": {"action": action, **arguments}})
        self.heard.append(Heard(asked, "\n".join(texts), json.loads(texts[0])))
        return self.heard[-1]


@dataclass(frozen=True, slots=True)
class Story:
    title: str
    set_up: Callable[[StandIn], None]
    tell: Callable[[Agent], Awaitable[None]]


@asynccontextmanager
async def hearing(story: Story, era: Any = "auto") -> AsyncIterator[Agent]:
    """The story, told to its end; the agent still knows what it heard."""
    with StandIn() as gitlab:
        story.set_up(gitlab)
        settings = Settings(url=gitlab.url, token=Secret("alice"), toolsets=("all",), **UNGUARDED)
        app = App(settings)
        server = GitLabServer(app, error_style=settings.error_style, format=settings.format)
        try:
            async with Client(server, mode=era) as client:
                agent = Agent(client)
                await story.tell(agent)
                yield agent
            assert [f"{request.method} {request.route}" for request in gitlab.unanswered] == []
        finally:
            app.close()

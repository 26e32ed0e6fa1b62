"""A model does a job: it is told the person's sentence and has the tools; what it leaves and says is checked."""

from __future__ import annotations

import shlex
import urllib.error
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from anyio.to_thread import run_sync
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client

from evals.models import Conversation, Json, ToolCall
from tests.journeys.all_jobs import JOBS
from tests.journeys.everyday_jobs import Job
from tests.support.jobs import Beside
from tests.support.process import environment, parameters
from tests.support.standin import StandIn
from tests.support.standin.shop import Shop
from tests.support.versions import OLDEST, cassettes_of

MOST_TURNS = 20
SYSTEM = (
    "You do jobs on GitLab with the tools you have. Nobody answers questions: decide yourself, and do what is asked and"
    " nothing else. When it is done, or cannot be done, say so in a few sentences, with names, numbers and ids."
)
Begin = Callable[[str, str, Sequence[Json]], Conversation]
"""From what the model is, the job and the tools to a conversation."""

CHECKED = [job for job in JOBS if (job.leaves or job.says) and job.caller == "alice"]
"""The jobs whose end can be judged whoever does them."""


@dataclass(slots=True)
class Attempt:
    job: Job
    calls: int = 0
    errors: int = 0
    tokens_read: int = 0
    tokens_written: int = 0
    answer: str = ""
    problem: str = ""
    unanswered: int = 0
    """Reads that the stand-in for GitLab had no answer to: then it may not be the model's fault."""


async def attempts(begin: Begin, jobs: Sequence[Job], server: str = "") -> AsyncIterator[Attempt]:
    """Each job on the recorded shop as it was, through this server, or another one that is started by a command."""
    with StandIn() as gitlab:
        shop, beside = Shop(cassettes_of(OLDEST)), Beside()
        gitlab.add(beside)
        gitlab.add(shop)
        async with Client(stdio_client(_started_by(server, gitlab.url))) as client:
            listed = (await client.list_tools()).tools
            tools = [tool.model_dump(by_alias=True, mode="json", exclude_none=True) for tool in listed]
            for job in jobs:
                shop.start_over()
                beside.part = job.beside() if job.beside else None
                attempt = Attempt(job)
                conversation = begin(SYSTEM, job.said.replace("{gitlab}", gitlab.url), tools)
                await _do(attempt, conversation, client, shop)
                yield attempt


def _started_by(server: str, url: str) -> StdioServerParameters:
    if not server:
        return parameters(url, "--trust", "dangerous", "--confirm", "never")
    command, *words = shlex.split(server)
    # The names under which servers for GitLab look for these.
    known = {"GITLAB_API_URL": f"{url}/api/v4", "GITLAB_PERSONAL_ACCESS_TOKEN": "alice"}
    return StdioServerParameters(command=command, args=words, env=environment(url, **known))


async def _do(attempt: Attempt, conversation: Conversation, client: Client, shop: Shop) -> None:
    try:
        for _ in range(MOST_TURNS):
            turn = await run_sync(conversation.say)
            attempt.tokens_read += turn.tokens_read
            attempt.tokens_written += turn.tokens_written
            attempt.answer = turn.text
            if not turn.calls:
                break
            conversation.answer({call.id: await _result(call, attempt, client) for call in turn.calls})
        else:
            attempt.problem = f"not done after {MOST_TURNS} turns"
            return
        attempt.job.check(shop, attempt.answer)
    except (AssertionError, LookupError, TypeError, ValueError) as problem:
        attempt.problem = f"{type(problem).__name__} {str(problem)[:200]}".strip()
    except (urllib.error.URLError, TimeoutError) as problem:
        attempt.problem = f"the model did not answer: {str(problem)[:200]}"
    finally:
        attempt.unanswered = len(shop.unknown)


async def _result(call: ToolCall, attempt: Attempt, client: Client) -> tuple[str, bool]:
    attempt.calls += 1
    arguments: Any = call.arguments if isinstance(call.arguments, dict) else {"arguments": call.arguments}
    try:
        answer = await client.call_tool(call.name, arguments)
    except MCPError as refused:
        attempt.errors += 1
        return str(refused), True
    attempt.errors += bool(answer.is_error)
    texts = [block.text if block.type == "text" else f"[{block.type}]" for block in answer.content]
    return "\n".join(texts), bool(answer.is_error)

"""Resolves all open threads of an issue or a merge request: each by a write of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gitlab_mcp.actions.exchange import Answer
from gitlab_mcp.actions.result import Omission, Result
from gitlab_mcp.actions.server import Server
from gitlab_mcp.gitlab.paging import every_page, has_next_page
from gitlab_mcp.workflows.merge_requests.open_threads import is_open, open_threads
from gitlab_mcp.workflows.several_writes import each_of
from gitlab_mcp.workflows.steps import require_steps, take

RESOLVE: Final = "manage_discussion resolve"
MOST: Final = 100
"""Threads of one call."""
_FIRST_WORDS: Final = 80
"""Characters of the first comment, to know a resolved thread by."""


async def resolve_all(server: Server, path: str, where: Mapping[str, Any], *, dry_run: bool) -> Result:
    """`path` is that of the threads, `where` the arguments that name what they are on."""
    require_steps(server, RESOLVE)
    answer = await every_page(server.gitlab, path, per_page=100)
    threads = {thread["id"]: thread for thread in answer.body if is_open(thread)}
    chosen = list(threads)[:MOST]
    left_out = []
    if len(threads) > MOST or has_next_page(answer):
        rest = None if has_next_page(answer) else len(threads) - MOST
        left_out.append(Omission("later threads", rest, "the same call again, when these are resolved"))
    if dry_run:
        would = open_threads(threads[each] for each in chosen)
        return Result(data={"dry_run": True, "would_resolve": would}, truncated=left_out)

    async def resolve(thread_id: str) -> None:
        known = {f"{path}/{thread_id}": Answer(200, body=threads[thread_id])}
        await take(server, RESOLVE, {**where, "discussion_id": thread_id}, known)

    resolved = await each_of(server.gitlab, chosen, resolve, "threads")
    resolved.refuse_where_all_failed("thread", "resolved")
    done = [each for each in chosen if each in resolved.done]
    data: dict[str, Any] = {"resolved": done}
    if done:
        data["threads"] = open_threads((threads[each] for each in done), _FIRST_WORDS)
    warnings = resolved.warnings("thread", "resolved", "discussion_id")
    return Result(data=data, warnings=warnings, truncated=left_out)

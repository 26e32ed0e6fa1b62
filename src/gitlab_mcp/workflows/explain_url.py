"""Says what page of GitLab a URL is and shows what is on it, by the calls that read it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import anyio

from gitlab_mcp.actions.arguments.defaults import not_ours
from gitlab_mcp.actions.arguments.urls import NotOurs, Page, fields_of, page_of
from gitlab_mcp.actions.result import Result
from gitlab_mcp.actions.server import Server
from gitlab_mcp.actions.shape import shapes
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.workflows.page_reads import Read, reads_of

_ROOM_FOR_WHAT: Final = 800
"""Bytes of what is said before the content."""
_SHARE_BESIDE: Final = 0.5
_LONGEST_NAME: Final = 40
_TRY_THE_NEXT: Final = (Code.NOT_FOUND, Code.REPLAY_MISS)


async def explain_url(url: str, server: Server) -> Result:
    page = _page(url, server.gitlab.base_url)
    first: CallFailed | None = None
    for read in reads_of(page, _fields(url, server.gitlab.base_url)):
        try:
            return await _content(read, server)
        except CallFailed as failed:
            if failed.failure.code not in _TRY_THE_NEXT:
                raise
            first = first or failed
    if first is not None:
        raise first
    return Result(data={"what": "a page of this GitLab that no action shows", "empty": True})


def _page(url: str, base_url: str) -> Page:
    try:
        return page_of(url, base_url)
    except NotOurs as foreign:
        raise CallFailed(not_ours(str(foreign), base_url)) from None
    except ValueError:
        raise CallFailed(
            Failure(Code.INVALID_VALUE, "That is no URL.").knowing(
                invalid_fields=[
                    {
                        "field": "url",
                        "expected": f"a URL that begins with {base_url}/",
                        "received": "other text",
                    }
                ],
                suggested_fix="Send the address of the page as the browser shows it.",
            )
        ) from None


def _fields(url: str, base_url: str) -> Mapping[str, str]:
    try:
        return fields_of(url, base_url)
    except ValueError:
        # A page of no place.
        return {}


async def _content(read: Read, server: Server) -> Result:
    tool, _, name = read.call.partition(" ")
    action = server.registry.action(tool, name)
    taken = {key: value for key, value in read.arguments.items() if action and key in shapes(action)}
    dropped = [*read.left_out, *(key for key in read.arguments if key not in taken)]
    room = server.max_bytes - _ROOM_FOR_WHAT
    results: dict[str, Result | CallFailed] = {}

    async def make(member: str, call: str, arguments: Mapping[str, Any], share: float) -> None:
        to, _, what = call.partition(" ")
        try:
            results[member] = await server.make_call(
                to, {"action": what, **arguments}, max_bytes=max(int(room * share), 1000)
            )
        except CallFailed as failed:
            results[member] = failed

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(make, "", read.call, taken, 1 - _SHARE_BESIDE if read.beside else 1)
        for member, (call, arguments) in read.beside.items():
            tasks.start_soon(make, member, call, arguments, _SHARE_BESIDE)
    main = results.pop("")
    if isinstance(main, CallFailed):
        raise main
    if read.call == "browse_users list" and not main.data.get("items"):
        nobody = Failure(
            Code.NOT_FOUND, "There is no group and no person of that name that this token can see."
        )
        raise CallFailed(nobody.knowing(missing="group or username", suggested_fix="Check the URL."))
    data: dict[str, Any] = {"what": read.what, "call": {"tool": tool, "arguments": {"action": name, **taken}}}
    if dropped:
        data["filters_left_out"] = [each[:_LONGEST_NAME] for each in dropped]
    data |= main.data
    text, image = main.text, main.image
    for member, result in results.items():
        if isinstance(result, CallFailed):
            data[member] = {"error": server.render(result.failure)}
            continue
        data[member] = result.data
        text = text or result.text
    return Result(data=data, text=text, image=image, is_presented=True)

"""Fields that this version of GitLab does not know: it takes them and does nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator

from gitlab_mcp.actions.fields import Only
from gitlab_mcp.actions.result import Notice
from gitlab_mcp.actions.shape import shapes
from gitlab_mcp.api.versions import is_in, version_number
from gitlab_mcp.success_checks.not_applied_notice import not_applied
from gitlab_mcp.success_checks.success import Success


async def fields_unknown_to_version(success: Success) -> AsyncIterator[Notice]:
    """Certain where that version was read. Else a filter is only doubted: what a write kept is in its answer."""
    fields = shapes(type(success.action))
    marked = {name: mark for name, _, _ in success.sent if (mark := fields[name].mark(Only))}
    version = (await success.ask.instance()).version if marked else None
    if version is None:
        return
    for name, mark in marked.items():
        there = is_in(version, mark.since, mark.until)
        if there or (there is None and success.writes):
            continue
        yield not_applied(
            _message(name, success.writes, is_certain=there is False),
            field=name,
            gitlab_version=".".join(map(str, version_number(version))),
            since=mark.since,
            until=mark.until,
        )


def _message(name: str, writes: bool, *, is_certain: bool) -> str:
    if writes:
        return f"This version of GitLab does not know {name}: the rest was done without it."
    if is_certain:
        return (
            f"This version of GitLab does not know {name} and ignored it: the answer is not narrowed by it."
        )
    return f"This version of GitLab may not know {name}: check whether the answer keeps to it."

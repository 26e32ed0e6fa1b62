"""Lists that are empty because of a switch, a ref or a path."""

from __future__ import annotations

from typing import Final

from gitlab_mcp.actions.result import Notice
from gitlab_mcp.api.switches import WHERE, instance_runs_no_registry, switch_of, switched_off
from gitlab_mcp.failures.codes import NoticeCode
from gitlab_mcp.success_checks.success import Success

NO_REGISTRY: Final = Notice(
    NoticeCode.EMPTY_BECAUSE,
    "This instance seems to run no container registry: the project shows no image prefix.",
    {"suggested_fix": "Ask an administrator to switch the container registry on."},
)
_REFS: Final = ("ref", "ref_name", "sha", "branch", "source_branch", "target_branch")


async def empty_list_reason(success: Success) -> Notice | None:
    """The first reason found. Asks for the project, and for the commit of a given ref."""
    if not success.is_empty_list:
        return None
    if reason := _by_arguments(success):
        return reason
    project_id = success.given.get("project_id")
    if not project_id or "{project_id}" not in success.path:
        return None
    return await _switched_off(success, str(project_id)) or await _no_such_ref(success, str(project_id))


def _by_arguments(success: Success) -> Notice | None:
    given = success.given
    if success.path.endswith("/repository/tree") and given.get("path"):
        message = "path names a file: git has no empty directories."
        return Notice(
            NoticeCode.EMPTY_BECAUSE, message, {"field": "path", "suggested_fix": "Use browse_files get."}
        )
    if success.path.endswith("/blame") and given.get("range_start"):
        message = "The range begins behind the last line of the file."
        return Notice(NoticeCode.EMPTY_BECAUSE, message, {"field": "range_start"})
    return None


async def _switched_off(success: Success, project_id: str) -> Notice | None:
    switch = success.action.spec.switch or switch_of(success.path)
    project = await success.ask.project(project_id) if switch else None
    if not switch or not project:
        return None
    if not (off := switched_off(switch, project)):
        return NO_REGISTRY if switch == "container_registry" and instance_runs_no_registry(project) else None
    titles = " and ".join(each.title for each in off)
    return Notice(
        NoticeCode.EMPTY_BECAUSE,
        f"{titles}: switched off in this project.",
        {"suggested_fix": f"Ask a maintainer to switch it on: {WHERE}."},
    )


async def _no_such_ref(success: Success, project_id: str) -> Notice | None:
    for field in _REFS:
        ref = success.given.get(field)
        if isinstance(ref, str) and await success.ask.has_commit(project_id, ref) is False:
            message = f"The project has no branch, tag or commit that {field} names."
            return Notice(NoticeCode.EMPTY_BECAUSE, message, {"field": field})
    return None

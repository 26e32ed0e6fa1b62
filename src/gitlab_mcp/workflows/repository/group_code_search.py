"""Searches the code of a group project by project, where GitLab itself does not: without advanced search it has no code
search above a single project."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Final

from gitlab_mcp.actions.action import fill
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.result import Notice, Omission, Result, Text
from gitlab_mcp.failures.codes import NoticeCode
from gitlab_mcp.failures.counted import counted
from gitlab_mcp.gitlab.concurrently import concurrently
from gitlab_mcp.gitlab.faults import Fault, Refused
from gitlab_mcp.gitlab.paging import has_next_page, items_of

MOST_PROJECTS: Final = 20
"""In one call. GitLab allows thirty searches a minute where nobody changed it."""
MOST_HITS: Final = 20
_NOT_OF_GROUPS: Final = re.compile(
    rb"scope (not supported|supported only|does not have a valid value)", re.IGNORECASE
)
"""What 17.2, 19.3 and the Community Edition say."""

Hit = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Searched:
    project: str
    hits: Sequence[Hit]
    more: bool

    @property
    def count(self) -> int | str:
        return f"{len(self.hits)}+" if self.more else len(self.hits)


def groups_are_not_searched(refused: Refused) -> bool:
    """Whether GitLab refused because it searches code only project by project."""
    return refused.status == 400 and _NOT_OF_GROUPS.search(refused.content) is not None


async def search_projects_of_group(
    gitlab: GitLab, group_id: str, words: str, *, page: int, most_hits: int, archived: bool
) -> Result:
    """One page of the group's projects, those that changed last first, and what is found in each."""
    path = fill("/groups/{group_id}/projects", group_id=group_id)
    only_live = {} if archived else {"archived": False}
    listed = await gitlab.get(
        path, include_subgroups=True, with_shared=False, order_by="last_activity_at", sort="desc",
        per_page=MOST_PROJECTS, page=page, **only_live,
    )  # fmt: skip
    every = items_of(listed, path)
    projects = [each for each in every if _has_code(each)]
    gitlab.report(0, len(projects), "projects")
    done = 0

    async def search(project: Mapping[str, Any]) -> Answer:
        nonlocal done
        try:
            return await gitlab.get(f"/projects/{project['id']}/search", scope="blobs", search=words)
        finally:
            done += 1
            gitlab.report(done, len(projects), "searched")

    asks = [lambda project=project: search(project) for project in projects]
    answers = await concurrently(asks)
    searched, unread = [], []
    for project, answer in zip(projects, answers, strict=True):
        name = str(project["path_with_namespace"])
        if isinstance(answer, Answer):
            searched.append(_Searched(name, items_of(answer, path), has_next_page(answer)))
        else:
            unread.append((name, answer))
    if unread and not searched:
        raise unread[0][1]
    return _told(searched, unread, listed, len(every), page, most_hits)


def _has_code(project: Mapping[str, Any]) -> bool:
    return not project.get("empty_repo") and project.get("repository_access_level") != "disabled"


def _told(
    searched: Sequence[_Searched],
    unread: Sequence[tuple[str, Fault]],
    listed: Answer,
    on_page: int,
    page: int,
    most_hits: int,
) -> Result:
    found = [each for each in searched if each.hits]
    shown = _one_of_each_first(found)[:most_hits]
    data: dict[str, Any] = {
        "items": [
            {"project": name, "path": hit["path"], "start_line": hit["startline"], "ref": hit["ref"]}
            for name, hit in shown
        ],
        "found_in": {each.project: each.count for each in found},
        "projects_searched": len(searched),
    }
    if not found:
        data["why_empty"] = (
            "Nothing matches in the default branches of these projects that this token may read."
        )
    left_out = []
    if has_next_page(listed):
        data["next_page"] = page + 1
        rest = None if listed.total is None else listed.total - (page - 1) * MOST_PROJECTS - on_page
        left_out.append(Omission("projects that changed longer ago", rest, f"page={page + 1}"))
    if hits := sum(len(each.hits) for each in found) - len(shown):
        left_out.append(Omission("hits", hits, "search code with the project_id"))
    return Result(
        data={name: value for name, value in data.items() if value != {}},
        text=Text(_as_text(shown), "code found") if shown else None,
        warnings=_not_searched(unread),
        truncated=left_out,
    )


def _one_of_each_first(found: Sequence[_Searched]) -> list[tuple[str, Hit]]:
    """So that many hits in one project do not hide the others."""
    rows = zip_longest(*([(each.project, hit) for hit in each.hits] for each in found))
    return [hit for row in rows for hit in row if hit is not None]


def _not_searched(unread: Sequence[tuple[str, Fault]]) -> list[Notice]:
    if not unread:
        return []
    limited = any(isinstance(fault, Refused) and fault.status == 429 for _, fault in unread)
    why = "GitLab allows no more searches in this minute" if limited else "their code could not be searched"
    message = f"{counted(len(unread), 'project')} left out: {why}."
    return [Notice(NoticeCode.PARTIAL, message, {"unread": [name for name, _ in unread]})]


def _as_text(hits: Sequence[tuple[str, Hit]]) -> str:
    return "\n".join(f"{name} {excerpt(hit)}" for name, hit in hits)


def excerpt(hit: Hit) -> str:
    """The path of a hit, and its lines with their numbers."""
    lines = str(hit["data"]).rstrip("\n").split("\n")
    numbered = (f"{number:>5} {line}" for number, line in enumerate(lines, hit["startline"]))
    return "\n".join((f"{hit['path']}:", *numbered))

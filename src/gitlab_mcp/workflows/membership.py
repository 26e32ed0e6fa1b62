"""Where the members of a project or group have their roles from: GitLab lists the inherited ones without saying it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from gitlab_mcp.actions.action import fill
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.fields import role_name
from gitlab_mcp.actions.result import partial_read_notices
from gitlab_mcp.gitlab.concurrently import concurrently
from gitlab_mcp.gitlab.faults import FAULTS
from gitlab_mcp.gitlab.paging import every_page, has_next_page, items_of

Member = Mapping[str, Any]

_BIGGEST_PAGE: Final = 100
_MOST_PLACES: Final = 25
"""Of which the members are read: GitLab nests groups twenty deep."""


@dataclass(frozen=True, slots=True)
class Source:
    """A place that gives its members a role here: this one, a group above it, or a group it is shared with."""

    path: str
    members: str
    """Where its direct members are listed."""
    at_most: int | None = None
    """The role that sharing is limited to."""

    def gives(self, member: Member) -> int:
        level = int(member["access_level"])
        return level if self.at_most is None else min(level, self.at_most)


@dataclass(frozen=True, slots=True)
class Place:
    about: Mapping[str, Any]
    """The project or group as GitLab shows it."""
    sources: tuple[Source, ...]


async def read_place(gitlab: GitLab, project_id: str | None, group_id: str | None) -> Place:
    if project_id is not None:
        path = fill("/projects/{id}", id=project_id)
        about = (await gitlab.get(path)).body
        own = Source(about["path_with_namespace"], f"{path}/members")
        namespace = about.get("namespace") or {}
        above = namespace["full_path"] if namespace.get("kind") == "group" else ""
    else:
        path = fill("/groups/{id}", id=group_id)
        # GitLab would list all projects of the group with it.
        about = (await gitlab.get(path, with_projects="false")).body
        own = Source(about["full_path"], f"{path}/members")
        above = about["full_path"].rpartition("/")[0]
    shared = [
        replace(_group(each["group_full_path"]), at_most=each["group_access_level"])
        for each in about.get("shared_with_groups") or ()
    ]
    sources = (own, *(_group(each) for each in _upwards(above)), *shared)
    return Place(about, sources[:_MOST_PLACES])


def _group(path: str) -> Source:
    return Source(path, fill("/groups/{id}/members", id=path))


def _upwards(path: str) -> Iterable[str]:
    while path:
        yield path
        path = path.rpartition("/")[0]


async def everybody(gitlab: GitLab, path: str) -> Answer:
    """A whole list. Most fit on one page of GitLab's own size; a longer one is read in the biggest pages."""
    answer = await gitlab.get(path)
    if not has_next_page(answer):
        return Answer(answer.status, answer.headers, items_of(answer, path))
    return await every_page(gitlab, path, per_page=_BIGGEST_PAGE)


async def with_sources(gitlab: GitLab, answer: Answer, place: Place, *, is_whole: bool) -> Answer:
    """The members of an answer, each with the place its role is from, and the role by its name.

    `is_whole`: it lists all members. Then those of the places above are among them, and their lists are no longer.
    """
    found = items_of(answer, place.sources[0].members)
    ids = None if is_whole else [member["id"] for member in found]
    lists = await concurrently([partial(_members, gitlab, each, ids) for each in place.sources])
    roles = [each if isinstance(each, Mapping) else {} for each in lists]
    unread = [
        f"members of {source.path}"
        for source, each in zip(place.sources, lists, strict=True)
        if not isinstance(each, Mapping)
    ]
    body = [named(member, _source_of(member, place.sources, roles)) for member in found]
    warnings = partial_read_notices(unread) if any(member["from"] is None for member in body) else []
    return replace(answer, body=body, warnings=(*answer.warnings, *warnings))


async def _members(gitlab: GitLab, source: Source, ids: Sequence[int] | None) -> Mapping[int, Member]:
    if ids is None:
        members = (await everybody(gitlab, source.members)).body
    elif ids:
        answer = await gitlab.get(source.members, user_ids=list(ids), per_page=_BIGGEST_PAGE)
        members = items_of(answer, source.members)
    else:
        members = []
    return {member["id"]: member for member in members}


def _source_of(
    member: Member, sources: Sequence[Source], roles: Sequence[Mapping[int, Member]]
) -> Source | None:
    """The nearest place that gives just the role the member has."""
    for source, members in zip(sources, roles, strict=True):
        there = members.get(member["id"])
        if there is not None and source.gives(there) == member["access_level"]:
            return source
    return None


async def source_of_one(gitlab: GitLab, member: Member, place: Place) -> Source | None:
    for source in place.sources:
        try:
            there = (await gitlab.get(f"{source.members}/{int(member['id'])}")).body
        except FAULTS:
            # Mostly 404: no member there. Where it cannot be read, the place stays unknown.
            continue
        if source.gives(there) == member["access_level"]:
            return source
    return None


def named(member: Member, source: Source | None) -> dict[str, Any]:
    return {**with_role_name(member), "from": source.path if source else None}


def with_role_name(member: Member) -> dict[str, Any]:
    return {**member, "access_level": role_name(member.get("access_level"))}

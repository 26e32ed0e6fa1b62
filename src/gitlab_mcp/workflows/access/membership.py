"""Where the members of a project or group have their roles from: GitLab lists the inherited ones without saying it."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from gitlab_mcp.actions.action import fill
from gitlab_mcp.actions.exchange import Answer, GitLab, Request
from gitlab_mcp.actions.fields import role_name
from gitlab_mcp.actions.result import Notice
from gitlab_mcp.failures.codes import NoticeCode
from gitlab_mcp.gitlab.concurrently import all_at_once, concurrently
from gitlab_mcp.gitlab.faults import FAULTS
from gitlab_mcp.gitlab.paging import BIGGEST_PAGE, every_page, has_next_page, items_of

Member = Mapping[str, Any]

_PROJECT_PATH: Final = re.compile(r"(?:[A-Za-z0-9_][\w.-]*/)+[A-Za-z0-9_][\w.-]*", re.ASCII)
_MOST_PLACES: Final = 25
"""Of which the members are read: GitLab nests groups twenty deep."""
_MOST_NAMED: Final = 20


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
    above: tuple[str, ...]
    """The groups above it, the nearest first."""


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
    shared = _shares(about)
    groups = tuple(_upwards(above))
    sources = (own, *map(_group, groups), *shared)
    return Place(about, sources[:_MOST_PLACES], groups)


def likely_sources(project_id: str) -> tuple[Source, ...]:
    """The places that its path names, where it is one; those above may be a person's and no group."""
    own = Source(project_id, fill("/projects/{id}/members", id=project_id))
    above = project_id.rpartition("/")[0] if _PROJECT_PATH.fullmatch(project_id) else ""
    return (own, *map(_group, _upwards(above)))[:_MOST_PLACES]


async def with_place(
    gitlab: GitLab, request: Request, project_id: str | None, group_id: str | None
) -> tuple[Answer, Place]:
    """What GitLab answers of the members of a place, and the place, asked for at once."""
    asks: list[Callable[[], Awaitable[Any]]] = [
        partial(gitlab.send, request),
        partial(read_place, gitlab, project_id, group_id),
    ]
    answer, place = await all_at_once(asks)
    return answer, place


async def _shared_above(gitlab: GitLab, place: Place) -> tuple[Source, ...]:
    """The groups that the groups above are shared with: their members have a role here too."""
    asked = [
        partial(gitlab.get, fill("/groups/{id}", id=each), with_projects="false") for each in place.above
    ]
    found: dict[str, Source] = {}
    for answer in await concurrently(asked):
        if isinstance(answer, Answer):
            found |= {each.path: each for each in _shares(answer.body)}
    return tuple(found.values())[:_MOST_PLACES]


def _shares(about: Mapping[str, Any]) -> list[Source]:
    return [
        replace(_group(each["group_full_path"]), at_most=each["group_access_level"])
        for each in about.get("shared_with_groups") or ()
    ]


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
    return await every_page(gitlab, path)


async def with_sources(gitlab: GitLab, answer: Answer, place: Place, *, is_whole: bool) -> Answer:
    """The answer with its members as `members_with_sources` tells them, and a warning where it cannot."""
    members, unread = await members_with_sources(gitlab, answer, place, is_whole=is_whole)
    return replace(answer, body=members, warnings=(*answer.warnings, *unknown_sources(members, unread)))


async def members_with_sources(
    gitlab: GitLab, answer: Answer, place: Place, *, is_whole: bool
) -> tuple[list[dict[str, Any]], tuple[str, ...]]:
    """The members of an answer, each with the place its role is from, and the role by its name; and the places whose
    members could not be read.

    `is_whole`: it lists all members. Then those of the places above are among them, and their lists are no longer.
    """
    found = items_of(answer, place.sources[0].members)
    ids = None if is_whole else [member["id"] for member in found]
    given = await _Given.read(gitlab, place.sources, ids)
    left = [member["id"] for member in found if given.by(member) is None]
    if left and place.above:
        given = given.and_also(await _Given.read(gitlab, await _shared_above(gitlab, place), left))
    return [named(member, given.by(member)) for member in found], given.unread


@dataclass(frozen=True, slots=True)
class _Given:
    """Which places give whom a role."""

    members: tuple[tuple[Source, Mapping[int, Member]], ...]
    unread: tuple[str, ...]

    @classmethod
    async def read(cls, gitlab: GitLab, sources: Sequence[Source], ids: Sequence[int] | None) -> _Given:
        lists = await concurrently([partial(_members, gitlab, each, ids) for each in sources])
        both = list(zip(sources, lists, strict=True))
        read = tuple((source, each) for source, each in both if isinstance(each, Mapping))
        return cls(read, tuple(source.path for source, each in both if not isinstance(each, Mapping)))

    def and_also(self, other: _Given) -> _Given:
        return _Given((*self.members, *other.members), (*self.unread, *other.unread))

    def by(self, member: Member) -> Source | None:
        """The nearest place that gives just the role the member has."""
        for source, members in self.members:
            there = members.get(member["id"])
            if there is not None and source.gives(there) == member["access_level"]:
                return source
        return None


def unknown_sources(rows: Sequence[Mapping[str, Any]], unread: Sequence[str]) -> list[Notice]:
    """Names those of the people shown whose row cannot say where the role is from."""
    unknown = [str(each.get("username") or each.get("id")) for each in rows if each.get("from") is None]
    if not unknown:
        return []
    message = (
        "Which place gives the people of usernames their role could not be read: their rows have no from."
    )
    places = {"unread": [f"members of {path}" for path in unread]} if unread else {}
    return [Notice(NoticeCode.PARTIAL, message, {"usernames": unknown[:_MOST_NAMED], **places})]


async def _members(gitlab: GitLab, source: Source, ids: Sequence[int] | None) -> Mapping[int, Member]:
    if ids is None:
        members = (await everybody(gitlab, source.members)).body
    elif ids:
        answer = await gitlab.get(source.members, user_ids=list(ids), per_page=BIGGEST_PAGE)
        members = items_of(answer, source.members)
    else:
        members = []
    return {member["id"]: member for member in members}


async def source_of_one(gitlab: GitLab, member: Member, place: Place) -> Source | None:
    if found := await _first_that_gives(gitlab, member, place.sources):
        return found
    return await _first_that_gives(gitlab, member, await _shared_above(gitlab, place))


async def _first_that_gives(gitlab: GitLab, member: Member, sources: Sequence[Source]) -> Source | None:
    for source in sources:
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
    if "access_level" not in member:
        return dict(member)
    return {**member, "access_level": role_name(member["access_level"])}

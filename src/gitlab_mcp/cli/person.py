"""Whom `gitlab-mcp policy explain` is about: as the command line tells it, or as GitLab does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gitlab_mcp.actions.action import Action
from gitlab_mcp.actions.ask import NobodyToAsk, User
from gitlab_mcp.actions.exchange import GitLab
from gitlab_mcp.actions.fields import NamesPlace
from gitlab_mcp.actions.reach import reached
from gitlab_mcp.callers import TokenSort
from gitlab_mcp.cli.usage_error import UsageError
from gitlab_mcp.gitlab.instance import AnswerCache, CachedLookups


@dataclass(frozen=True, slots=True)
class Person:
    username: str | None
    """None: whose token it is."""
    groups: Sequence[str] | None
    """None: GitLab is asked."""
    token_kind: str


class AsTold(NobodyToAsk):
    """A person and a tree of groups as the command line tells them: places are compared by their paths."""

    def __init__(self, user: User, groups: Sequence[str], action: Action) -> None:
        self._user = user
        self._groups = {group.casefold() for group in groups}
        self._projects = {
            str(each.value).casefold()
            for each in reached(action)
            if isinstance(each.reach, NamesPlace) and each.reach.kind == "project"
        }
        self._paths: list[str] = []

    async def user(self) -> User | None:
        return self._user

    async def is_member(self, group: str, *, direct: bool = False) -> bool | None:
        if direct:
            return not self._groups.isdisjoint((group, f"group:{group}"))
        # Who is in a group is in all below it.
        above = [group.rsplit("/", cut)[0] for cut in range(group.count("/") + 1)]
        return not self._groups.isdisjoint({*above, f"group:{group}"})

    async def project(self, id: str) -> Mapping[str, Any] | None:
        path = id.casefold()
        if path not in self._projects or "/" not in path:
            return None
        namespace = {"kind": "group", "id": self._number(path.rpartition("/")[0])}
        return {"id": self._number(path), "path_with_namespace": path, "namespace": namespace}

    async def group(self, id: str) -> Mapping[str, Any] | None:
        path = self._paths[int(id) - 1] if id.isdecimal() else id.casefold()
        above = path.rpartition("/")[0]
        return {
            "id": self._number(path),
            "full_path": path,
            "parent_id": self._number(above) if above else None,
        }

    def _number(self, path: str) -> int:
        if path not in self._paths:
            self._paths.append(path)
        return self._paths.index(path) + 1


class InGitLab(CachedLookups):
    """GitLab's word on the person who is named, or on whose token it is, as the token there is may see it."""

    def __init__(self, gitlab: GitLab, person: Person, sort: TokenSort | None) -> None:
        super().__init__(gitlab, AnswerCache(), caller="", sort=sort)
        self._person = person

    async def _fetch_user(self) -> User | str:
        if self._person.username is None:
            return await super()._fetch_user()
        found = (await self._gitlab.get("/users", username=self._person.username)).body
        match found:
            case [{"id": int(number), "username": str(username)}, *_]:
                return User(number, username, self._person.token_kind, "")
        raise UsageError("GitLab has no user of this name.", "Correct --as: it takes a username without @.")

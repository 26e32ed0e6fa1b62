"""Who may see a project, or push or merge to a branch of it: people, each with the reason."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Literal

from gitlab_mcp.actions.action import Role, fill
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.fields import role_name
from gitlab_mcp.actions.result import Notice, Result, partial_read_notices
from gitlab_mcp.actions.server import Server
from gitlab_mcp.gitlab.concurrently import all_at_once, concurrently
from gitlab_mcp.gitlab.faults import FAULTS, Fault
from gitlab_mcp.gitlab.known_answers import KnowingGitLab
from gitlab_mcp.gitlab.paging import has_next_page
from gitlab_mcp.tiers.effective_tier import effective_tier_at
from gitlab_mcp.tiers.notices import TierNotices
from gitlab_mcp.workflows.access.membership import (
    Member,
    Place,
    everybody,
    likely_sources,
    members_with_sources,
    read_place,
    unknown_sources,
)

What = Literal["see", "push", "merge"]

_NOBODY: Final = 0
_ALSO_SEE: Final = {
    "private": (),
    "internal": ("everybody with an account on this GitLab, but for external users",),
    "public": ("anybody, without an account",),
}
_ADMINISTRATORS: Final = "administrators of this GitLab, who are not listed"


@dataclass(frozen=True, slots=True)
class _Rules:
    """What the protected branches that fit a branch say together: GitLab lets in whom one of them lets in."""

    names: tuple[str, ...]
    least_role: int | None
    """None where no role is let in."""
    administrators: bool = False
    users: tuple[int, ...] = ()
    groups: tuple[int, ...] = ()
    deploy_keys: tuple[int, ...] = ()


async def who_can(server: Server, what: What, project_id: str, branch: str | None) -> Result:
    gitlab, path = server.gitlab, fill("/projects/{id}", id=project_id)
    asks: list[Callable[[], Awaitable[Any]]] = [
        partial(read_place, gitlab, project_id, None),
        partial(everybody, gitlab, f"{path}/members/all"),
        partial(_of_likely_sources, gitlab, project_id),
        *([] if what == "see" else [partial(_protected_branches, gitlab, path)]),
    ]
    place, listed, known, *protected_branches = await all_at_once(asks)
    everyone, unread_places = await members_with_sources(
        KnowingGitLab(gitlab, known), listed, place, is_whole=True
    )
    warnings = [*listed.warnings, *_cut_short(has_next_page(listed))]
    members = [each for each in everyone if _is_active(each)]
    if what == "see":
        people = [_person(each, "member") for each in members]
        data = {
            "visibility": place.about.get("visibility"),
            "people": people,
            "also": [*_ALSO_SEE.get(place.about.get("visibility", ""), ()), _ADMINISTRATORS],
        }
        warnings += unknown_sources(people, unread_places)
        return Result(data={"what": what, **data}, warnings=warnings)
    branch = branch or place.about.get("default_branch") or "main"
    if closed := _closed(place, what):
        return Result(data={"what": what, "branch": branch, "people": [], "nobody_because": closed})
    protected = protected_branches[0]
    if not isinstance(protected, Answer):
        raise protected
    rules = _rules([each for each in protected.body if fits(each["name"], branch)], what)
    in_groups, unread = await _people_of(gitlab, rules.groups)
    warnings += partial_read_notices(unread)
    if rules.users or rules.groups:
        warnings += await _above_tier(server, project_id)
    people = list(_let_in(members, rules, in_groups))
    warnings += unknown_sources(people, unread_places)
    data = {
        "protected_by": list(rules.names) or None,
        "least_role": None if rules.least_role is None else role_name(rules.least_role),
        "people": people,
        "deploy_keys": list(rules.deploy_keys) or None,
        "also": [_ADMINISTRATORS] if rules.administrators else None,
    }
    told = {name: value for name, value in data.items() if value is not None}
    return Result(data={"what": what, "branch": branch, **told}, warnings=warnings)


async def _of_likely_sources(gitlab: GitLab, project_id: str) -> dict[str, Answer]:
    """The members of the places above, as far as the path of the project names them: beside the project, which tells
    whether they are groups."""
    paths = [each.members for each in likely_sources(project_id)]
    lists = await concurrently([partial(everybody, gitlab, each) for each in paths])
    return {path: each for path, each in zip(paths, lists, strict=True) if isinstance(each, Answer)}


async def _protected_branches(gitlab: GitLab, path: str) -> Answer | Fault:
    """A project that lets nobody push may not show them."""
    try:
        return await everybody(gitlab, f"{path}/protected_branches")
    except FAULTS as fault:
        return fault


def _closed(place: Place, what: What) -> str | None:
    about = place.about
    if about.get("archived"):
        return "the project is archived"
    if about.get("marked_for_deletion_on"):
        return "the project is marked for deletion"
    if about.get("repository_access_level") == "disabled":
        return "the repository is switched off"
    if what == "merge" and about.get("merge_requests_access_level") == "disabled":
        return "merge requests are switched off"
    return None


def fits(pattern: str, branch: str) -> bool:
    """Whether the name of a protected branch, in which `*` stands for anything, is that of the branch."""
    first, *others = pattern.split("*")
    if not others:
        return pattern == branch
    *middle, last = others
    if not branch.startswith(first) or not branch.endswith(last):
        return False
    position = len(first)
    for part in middle:
        position = branch.find(part, position)
        if position < 0:
            return False
        position += len(part)
    return position <= len(branch) - len(last)


def _rules(protected: Sequence[Mapping[str, Any]], what: What) -> _Rules:
    if not protected:
        return _Rules((), Role.DEVELOPER)
    entries = [entry for each in protected for entry in each.get(f"{what}_access_levels") or ()]
    roles = [each["access_level"] for each in entries if not _names_one(each)]
    # Of an administrator alone the role in the project says nothing.
    ranked = [level for level in roles if level not in (_NOBODY, Role.ADMIN)]
    return _Rules(
        tuple(each["name"] for each in protected),
        min(ranked, default=None),
        administrators=Role.ADMIN in roles,
        users=tuple(_named(entries, "user_id")),
        groups=tuple(_named(entries, "group_id")),
        deploy_keys=tuple(_named(entries, "deploy_key_id")),
    )


def _names_one(entry: Mapping[str, Any]) -> bool:
    return any(entry.get(name) for name in ("user_id", "group_id", "deploy_key_id"))


def _named(entries: Sequence[Mapping[str, Any]], name: str) -> Iterator[int]:
    yield from dict.fromkeys(entry[name] for entry in entries if entry.get(name))


async def _people_of(gitlab: GitLab, groups: Sequence[int]) -> tuple[dict[int, frozenset[int]], list[str]]:
    """The people of each group by its number, and which groups could not be read."""
    lists = await concurrently([partial(everybody, gitlab, f"/groups/{each}/members") for each in groups])
    read: dict[int, frozenset[int]] = {}
    unread = []
    for group, answer in zip(groups, lists, strict=True):
        if isinstance(answer, Exception):
            unread.append(f"members of group {group}")
        else:
            read[group] = frozenset(member["id"] for member in answer.body)
    return read, unread


def _let_in(
    members: Sequence[Member], rules: _Rules, in_groups: Mapping[int, frozenset[int]]
) -> Iterator[dict[str, Any]]:
    """Nobody below Developer can push or merge at all, also who is named."""
    able = [member for member in members if _level(member) >= Role.DEVELOPER]
    for member in able:
        if rules.least_role is not None and _level(member) >= rules.least_role:
            yield _person(member, "role")
        elif member["id"] in rules.users:
            yield _person(member, "named in the rule")
        elif groups := [group for group, people in in_groups.items() if member["id"] in people]:
            yield _person(member, "in a group named in the rule", group_id=groups[0])


def _person(member: Member, because: str, **more: Any) -> dict[str, Any]:
    shown = ("username", "name", "access_level", "from", "expires_at")
    person = {name: member[name] for name in shown if member.get(name) is not None}
    return {**person, **({} if because == "member" else {"because": because}), **more}


def _level(member: Member) -> int:
    """From the name back to the number; a role without a name is none that lets anybody push."""
    name = str(member["access_level"])
    return Role[name.upper()] if name.upper() in Role.__members__ else _NOBODY


def _is_active(member: Member) -> bool:
    return member.get("state") == "active" and member.get("membership_state") in (None, "active")


def _cut_short(more: bool) -> list[Notice]:
    return partial_read_notices(["members beyond the first thousand"]) if more else []


async def _above_tier(server: Server, project_id: str) -> list[Notice]:
    """Entries for single users and groups are paid; what became of them when a licence ended is not known."""
    feature = server.tier_map()["protected_branch_allowlist"]
    tier = await effective_tier_at(server.ask, project_id, None)
    if not tier.lacks(feature):
        return []
    return [TierNotices(feature, tier, {"project_id": project_id}).not_enforced(surely=False)]

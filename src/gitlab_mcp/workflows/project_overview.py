"""Reads in one job what a newcomer asks about a project: what it is, how alive it is, and whom to ask."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote

from gitlab_mcp.actions.action import Role, fill
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.result import Omission, Result, partial_read_notices
from gitlab_mcp.gitlab.concurrently import answered, concurrently
from gitlab_mcp.gitlab.faults import FAULTS, Fault, Refused
from gitlab_mcp.gitlab.instance import BOT_USERNAME
from gitlab_mcp.gitlab.paging import has_next_page, how_many
from gitlab_mcp.results.file_contents import file_result
from gitlab_mcp.results.shown_fields import pick_fields, shown_fields, times_to_the_second, without_empty
from gitlab_mcp.workflows.repository.codeowners_file import PATHS, parse_codeowners
from gitlab_mcp.workflows.repository.path_patterns import TooMuchWork

MOST_NAMES: Final = 5
"""Of a list that is shown here."""
LONGEST_TEXT: Final = 180
"""Bytes of a text that is shown here: the whole answer is to be short, in every alphabet."""
LONGEST_NAME: Final = 36
_NEVER_CUT: Final = ("path_with_namespace", "web_url", "sha")
"""Half an address leads nowhere."""
_MORE_MEMBERS: Final = 100
_LARGEST_FILE: Final = 200_000

_PROJECT = shown_fields(
    "id path_with_namespace description visibility archived:mark marked_for_deletion_on topics"
    " forked_from=forked_from_project.path_with_namespace created_at:date last_activity_at:date"
    " stars=star_count forks=forks_count web_url"
).in_a_list
_COMMIT = shown_fields("sha=short_id title author=author_name committed=committed_date:date").in_a_list
_PIPELINE = shown_fields("id status sha finished_at:date").in_a_list
_RELEASE = shown_fields("tag_name name released_at:date").in_a_list

_SWITCHES: Final = {
    "open_merge_requests": "merge_requests_access_level",
    "last_release": "releases_access_level",
    "pipeline": "builds_access_level",
    "commits": "repository_access_level",
    "languages": "repository_access_level",
}
"""The switch of the project without which a part is not there."""


@dataclass(frozen=True, slots=True)
class _Start:
    """The project, and what its own answer names: a guess at them would miss."""

    project: Mapping[str, Any]
    readme: Answer | Fault | None
    code_owners: Sequence[Answer | Fault]


async def read_overview(gitlab: GitLab, project_id: str) -> Result:
    """Only the project itself must be readable."""
    path = fill("/projects/{project_id}", project_id=project_id)
    started: list[_Start] = []

    async def start() -> Answer:
        answer = await gitlab.get(path)
        started.append(await _start(gitlab, path, answer.body))
        return answer

    asks: dict[str, Callable[[], Awaitable[Answer]]] = {
        "project": start,
        "languages": lambda: gitlab.get(f"{path}/languages"),
        "commits": lambda: gitlab.get(f"{path}/repository/commits"),
        "pipeline": lambda: gitlab.get(f"{path}/pipelines/latest"),
        "open_merge_requests": lambda: gitlab.get(f"{path}/merge_requests", state="opened", per_page=1),
        "last_release": lambda: gitlab.get(f"{path}/releases"),
        "members": lambda: _members(gitlab, path),
    }
    answers = dict(zip(asks, await concurrently(list(asks.values())), strict=True))
    answered(answers.pop("project"))
    return _told(started[0], answers)


async def _start(gitlab: GitLab, path: str, project: Mapping[str, Any]) -> _Start:
    branch, readme_url = project.get("default_branch"), project.get("readme_url")
    if not branch or project.get("empty_repo") or project.get("repository_access_level") == "disabled":
        return _Start(project, None, ())

    def read(file: str) -> Callable[[], Awaitable[Answer]]:
        address = path + fill("/repository/files/{file}", file=file)
        return lambda: gitlab.get(address, ref=branch)

    # All places at once: one after the other would take as long as the rest of the overview.
    wanted = [*PATHS, *([_readme_path(readme_url, branch)] if readme_url else [])]
    read_files = await concurrently([read(file) for file in wanted])
    return _Start(project, read_files[-1] if readme_url else None, read_files[: len(PATHS)])


def _readme_path(url: str, branch: str) -> str:
    return unquote(url).partition(f"/-/blob/{branch}/")[2] or "README.md"


async def _members(gitlab: GitLab, path: str) -> Answer:
    answer = await gitlab.get(f"{path}/members/all")
    if not has_next_page(answer):
        return answer
    return await gitlab.get(f"{path}/members/all", per_page=_MORE_MEMBERS)


def _told(start: _Start, answers: Mapping[str, Answer | Fault]) -> Result:
    project = start.project
    parts: dict[str, Any] = {}
    unread: list[str] = []
    for name, answer in answers.items():
        if isinstance(answer, Answer):
            parts[name] = answer
        elif project.get(_SWITCHES.get(name, "")) != "disabled" and not _is_none(name, answer):
            unread.append(name)
    owners, is_read = _code_owners(start.code_owners)
    people, omitted = _people(parts.get("members"))
    told = {
        **_short(pick_fields(project, _PROJECT)),
        "readme": _readme(start.readme),
        "languages": _languages(parts.get("languages")),
        "default_branch": _default_branch(project, parts),
        "open": _open(project, parts.get("open_merge_requests")),
        "last_release": _last_release(parts.get("last_release")),
        **people,
        "code_owners": owners,
    }
    if not is_read:
        unread.append("code_owners")
    if isinstance(start.readme, FAULTS) and not _is_absent(start.readme):
        unread.append("readme")
    return Result(
        data=without_empty(told),
        warnings=partial_read_notices(unread),
        truncated=omitted,
    )


def _is_absent(fault: object) -> bool:
    return isinstance(fault, Refused) and fault.status == 404


def _is_none(name: str, fault: Fault) -> bool:
    """GitLab 17 answers 403 where a branch has no pipeline."""
    return _is_absent(fault) or (name == "pipeline" and isinstance(fault, Refused) and fault.status == 403)


def _default_branch(project: Mapping[str, Any], parts: Mapping[str, Answer]) -> dict[str, Any]:
    """Its newest commit, who wrote the latest ones, and what its pipeline says."""
    if not project.get("default_branch"):
        return {"empty_repository": True} if project.get("empty_repo") else {}
    told: dict[str, Any] = {"name": _cut(project["default_branch"], LONGEST_NAME)}
    commits: Sequence[Any] = parts["commits"].body if "commits" in parts else ()
    if commits:
        authors = Counter(_cut(str(each.get("author_name")), LONGEST_NAME) for each in commits)
        told["last_commit"] = _short(pick_fields(commits[0], _COMMIT))
        told["latest_commits"] = {
            "count": len(commits),
            "since": str(commits[-1].get("committed_date"))[:10],
            "by": dict(authors.most_common(3)),
        }
    if project.get("builds_access_level") == "disabled":
        told["pipeline"] = "CI/CD is switched off"
    elif "pipeline" in parts:
        told["pipeline"] = _short(pick_fields(parts["pipeline"].body, _PIPELINE))
    return told


def _open(project: Mapping[str, Any], merge_requests: Answer | None) -> dict[str, Any]:
    counts = {"issues": project.get("open_issues_count")}
    if merge_requests is not None:
        counts["merge_requests"] = how_many(merge_requests)
    return {name: count for name, count in counts.items() if count is not None}


def _last_release(releases: Answer | None) -> dict[str, Any] | None:
    out = [each for each in (releases.body if releases else ()) if not each.get("upcoming_release")]
    return _short(pick_fields(out[0], _RELEASE)) if out else None


def _languages(answer: Answer | None) -> dict[str, Any]:
    shares = answer.body if answer is not None and isinstance(answer.body, Mapping) else {}
    return {_cut(name, LONGEST_NAME): share for name, share in list(shares.items())[:4]}


def _people(members: Answer | None) -> tuple[dict[str, Any], list[Omission]]:
    if members is None:
        return {}, []
    # The account of an access token is a member, and nobody answers there.
    active = [
        each
        for each in members.body
        if each.get("state") == "active" and not BOT_USERNAME.match(each["username"])
    ]
    told = {
        kind: _names(each["username"] for each in active if each["access_level"] == role)
        for kind, role in (("owners", Role.OWNER), ("maintainers", Role.MAINTAINER))
    }
    omitted = None if members.total is None else members.total - len(members.body)
    cut = [Omission("members", omitted, "browse_members list")] if has_next_page(members) else []
    return told, cut


def _code_owners(files: Sequence[Answer | Fault]) -> tuple[list[str], bool]:
    """The owners that the rules name most often, and whether the file was read."""
    for file in files:
        if not isinstance(file, Answer):
            if _is_absent(file):
                continue
            return [], False
        text = _text(file)
        try:
            parsed = parse_codeowners(text)
        except TooMuchWork:
            return [], False
        rules = (rule for section in parsed.sections for rule in section.rules)
        named = Counter(owner for rule in rules for owner in rule.owners)
        return _names(name for name, _ in named.most_common()), True
    return [], True


def _readme(answer: Answer | Fault | None) -> str | None:
    """Its first paragraph: no heading, badge or comment."""
    if not isinstance(answer, Answer):
        return None
    for paragraph in re.split(r"\n\s*\n", _text(answer)):
        lines = [line.strip() for line in paragraph.splitlines()]
        said = [
            line
            for line in lines
            if line and not line.startswith(("#", "=", "-", "<", "[!", "![", "|", "```"))
        ]
        if said:
            return _cut(" ".join(said), LONGEST_TEXT)
    return None


def _text(answer: Answer) -> str:
    if int(answer.body.get("size") or 0) > _LARGEST_FILE:
        return ""
    text = file_result(answer.body).text
    return text.content if text else ""


def _names(names: Iterable[str]) -> list[str]:
    every = list(names)
    more = [f"and {len(every) - MOST_NAMES} more"] if len(every) > MOST_NAMES else []
    return [_cut(name, LONGEST_NAME) for name in every[:MOST_NAMES]] + more


def _short(value: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _short_value(name, member) for name, member in times_to_the_second(dict(value)).items()}


def _short_value(name: str, value: Any) -> Any:
    if isinstance(value, list):
        return _names(map(str, value))
    if not isinstance(value, str) or name in _NEVER_CUT:
        return value
    return _cut(value, LONGEST_TEXT if name in ("description", "title") else LONGEST_NAME)


def _cut(text: str, most_bytes: int) -> str:
    encoded = text.encode()
    return text if len(encoded) <= most_bytes else encoded[:most_bytes].decode(errors="ignore") + "…"

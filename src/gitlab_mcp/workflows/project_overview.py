"""Reads in one job what a newcomer asks about a project: what it is, how alive it is, and whom to ask."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import unquote

from gitlab_mcp.actions.action import Role, fill
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.result import Omission, Result, partial_read_notices
from gitlab_mcp.gitlab.concurrently import answered, concurrently
from gitlab_mcp.gitlab.faults import Fault, Refused
from gitlab_mcp.gitlab.graphql import value_at
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
    "code_owners": "repository_access_level",
    "readme": "repository_access_level",
}
"""The switch of the project without which a part is not there."""

_ABOUT: Final = (
    "query($p: ID!, $f: [String!]!) { project(fullPath: $p) { languages { name share }"
    " mergeRequests(state: opened) { count }"
    " releases(first: 20) { nodes { tagName name releasedAt upcomingRelease } }"
    " repository { blobs(paths: $f) { nodes { path size rawTextBlob } } } } }"
)
_USUAL_README: Final = "README.md"


@dataclass(slots=True)
class _About:
    """What GraphQL tells in one answer, and REST in seven."""

    languages: Mapping[str, Any] = field(default_factory=dict)
    open_merge_requests: int | None = None
    releases: Sequence[Mapping[str, Any]] = ()
    code_owners: str | None = None
    """The text of the first file that is there."""
    readme: str | None = None
    unread: list[str] = field(default_factory=list)


async def read_overview(gitlab: GitLab, project_id: str) -> Result:
    """Only the project itself must be readable."""
    path = fill("/projects/{project_id}", project_id=project_id)
    asks: dict[str, Callable[[], Awaitable[Any]]] = {
        "project": lambda: gitlab.get(path),
        "commits": lambda: gitlab.get(f"{path}/repository/commits"),
        "pipeline": lambda: gitlab.get(f"{path}/pipelines/latest"),
        "members": lambda: _members(gitlab, path),
    }
    if not project_id.isdecimal():
        asks["about"] = lambda: _as_graphql_tells(gitlab, project_id)
    answers = dict(zip(asks, await concurrently(list(asks.values())), strict=True))
    project = answered(answers.pop("project")).body
    readme = _readme_path(project)
    # GraphQL takes no numbers.
    about = answers.pop("about", None)
    if about is None:
        [about] = await concurrently([lambda: _as_graphql_tells(gitlab, project["path_with_namespace"])])
    if not isinstance(about, _About):
        about = await _as_rest_tells(gitlab, path, project, readme)
    elif readme is None:
        about.readme = None
    elif readme != _USUAL_README and "readme" not in about.unread:
        [file] = await concurrently([_reading(gitlab, path, readme, project)])
        about.readme = _text_or_unread(file, "readme", about)
    return _told(project, about, answers)


async def _as_graphql_tells(gitlab: GitLab, full_path: str) -> _About:
    data = await gitlab.graphql(_ABOUT, {"p": full_path, "f": [*PATHS, _USUAL_README]})
    found = value_at(data, "project")
    about = _About()
    # What the caller may not see is null.
    if (languages := found.get("languages")) is None:
        about.unread.append("languages")
    else:
        about.languages = {each["name"]: each["share"] for each in languages}
    if (merge_requests := found.get("mergeRequests")) is None:
        about.unread.append("open_merge_requests")
    else:
        about.open_merge_requests = merge_requests["count"]
    if (releases := found.get("releases")) is None:
        about.unread.append("last_release")
    else:
        about.releases = [
            {
                "tag_name": each["tagName"],
                "name": each["name"],
                "released_at": each["releasedAt"],
                "upcoming_release": each["upcomingRelease"],
            }
            for each in releases["nodes"]
        ]
    if (repository := found.get("repository")) is None:
        about.unread += ["code_owners", "readme"]
        return about
    blobs = (repository.get("blobs") or {}).get("nodes") or ()
    texts = {each["path"]: _short_enough(each["rawTextBlob"], each["size"]) for each in blobs}
    about.code_owners = next((texts[each] for each in PATHS if each in texts), None)
    about.readme = texts.get(_USUAL_README)
    return about


async def _as_rest_tells(gitlab: GitLab, path: str, project: Mapping[str, Any], readme: str | None) -> _About:
    asks: dict[str, Callable[[], Awaitable[Answer]]] = {
        "languages": lambda: gitlab.get(f"{path}/languages"),
        "open_merge_requests": lambda: gitlab.get(f"{path}/merge_requests", state="opened", per_page=1),
        "last_release": lambda: gitlab.get(f"{path}/releases"),
    }
    if _has_files(project):
        # All places at once: one after the other would take as long as the rest of the overview.
        asks |= {
            each: _reading(gitlab, path, each, project) for each in (*PATHS, *([readme] if readme else []))
        }
    answers = dict(zip(asks, await concurrently(list(asks.values())), strict=True))
    about = _About()
    languages, merge_requests, releases = (
        _unless_unread(answers[each], each, about)
        for each in ("languages", "open_merge_requests", "last_release")
    )
    if languages is not None and isinstance(languages.body, Mapping):
        about.languages = languages.body
    about.open_merge_requests = how_many(merge_requests) if merge_requests is not None else None
    about.releases = releases.body if releases is not None else ()
    for each in PATHS:
        if each in answers and not _is_absent(answers[each]):
            about.code_owners = _text_or_unread(answers[each], "code_owners", about)
            break
    if readme in answers:
        about.readme = _text_or_unread(answers[readme], "readme", about)
    return about


def _reading(
    gitlab: GitLab, path: str, file: str, project: Mapping[str, Any]
) -> Callable[[], Awaitable[Answer]]:
    address = path + fill("/repository/files/{file}", file=file)
    return lambda: gitlab.get(address, ref=project["default_branch"])


def _has_files(project: Mapping[str, Any]) -> bool:
    is_empty = not project.get("default_branch") or project.get("empty_repo")
    return not is_empty and project.get("repository_access_level") != "disabled"


def _readme_path(project: Mapping[str, Any]) -> str | None:
    url = project.get("readme_url")
    if not url or not _has_files(project):
        return None
    return unquote(url).partition(f"/-/blob/{project['default_branch']}/")[2] or _USUAL_README


def _unless_unread(answer: Answer | Fault, name: str, about: _About) -> Answer | None:
    if isinstance(answer, Answer):
        return answer
    if not _is_absent(answer):
        about.unread.append(name)
    return None


def _text_or_unread(answer: Answer | Fault, name: str, about: _About) -> str | None:
    file = _unless_unread(answer, name, about)
    if file is None:
        return None
    text = file_result(file.body).text
    return _short_enough(text.content if text else "", file.body.get("size"))


def _short_enough(text: str | None, size: Any) -> str:
    return "" if text is None or int(size or 0) > _LARGEST_FILE else text


async def _members(gitlab: GitLab, path: str) -> Answer:
    answer = await gitlab.get(f"{path}/members/all")
    if not has_next_page(answer):
        return answer
    return await gitlab.get(f"{path}/members/all", per_page=_MORE_MEMBERS)


def _told(project: Mapping[str, Any], about: _About, answers: Mapping[str, Answer | Fault]) -> Result:
    parts: dict[str, Answer] = {}
    unread: list[str] = []
    for name, answer in answers.items():
        if isinstance(answer, Answer):
            parts[name] = answer
        elif not _is_none(name, answer):
            unread.append(name)
    owners = _code_owners(about)
    people, omitted = _people(parts.get("members"))
    told = {
        **_short(pick_fields(project, _PROJECT)),
        "readme": _first_paragraph(about.readme),
        "languages": {_cut(name, LONGEST_NAME): share for name, share in list(about.languages.items())[:4]},
        "default_branch": _default_branch(project, parts),
        "open": _open(project, about),
        "last_release": _last_release(about),
        **people,
        "code_owners": owners,
    }
    of_no_files = () if _has_files(project) else ("code_owners", "readme", "languages")
    unread = [
        name
        for name in (*unread, *about.unread)
        if name not in of_no_files and project.get(_SWITCHES.get(name, "")) != "disabled"
    ]
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


def _open(project: Mapping[str, Any], about: _About) -> dict[str, Any]:
    counts = {"issues": project.get("open_issues_count"), "merge_requests": about.open_merge_requests}
    return {name: count for name, count in counts.items() if count is not None}


def _last_release(about: _About) -> dict[str, Any] | None:
    out = [each for each in about.releases if not each.get("upcoming_release")]
    return _short(pick_fields(out[0], _RELEASE)) if out else None


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


def _code_owners(about: _About) -> list[str]:
    """The owners that the rules name most often."""
    try:
        parsed = parse_codeowners(about.code_owners or "")
    except TooMuchWork:
        about.unread.append("code_owners")
        return []
    rules = (rule for section in parsed.sections for rule in section.rules)
    named = Counter(owner for rule in rules for owner in rule.owners)
    return _names(name for name, _ in named.most_common())


def _first_paragraph(readme: str | None) -> str | None:
    """No heading, badge or comment."""
    for paragraph in re.split(r"\n\s*\n", readme or ""):
        lines = [line.strip() for line in paragraph.splitlines()]
        said = [
            line
            for line in lines
            if line and not line.startswith(("#", "=", "-", "<", "[!", "![", "|", "```"))
        ]
        if said:
            return _cut(" ".join(said), LONGEST_TEXT)
    return None


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

"""What a next release would hold: the changes since the last one, a version for them and why, and notes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, Final

from gitlab_mcp.actions.action import fill
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.result import Notice, Result, partial_read_notices
from gitlab_mcp.failures import allowed_words as words
from gitlab_mcp.failures.codes import NoticeCode
from gitlab_mcp.failures.counted import counted
from gitlab_mcp.gitlab.concurrently import answered, concurrently, unread
from gitlab_mcp.gitlab.faults import Refused
from gitlab_mcp.gitlab.paging import every_page, has_next_page, items_if_read
from gitlab_mcp.results.shown_fields import without_empty

FIRST_VERSION: Final = "v0.1.0"
MOST_LINES: Final = 100
"""Of a section of the notes."""
_FIT_TO_RELEASE: Final = ("success", "skipped")
"""Of the newest pipeline of the ref."""
_LONGEST_TITLE: Final = 200
_VERSION: Final = re.compile(r"(.*?)(\d{1,9})\.(\d{1,9})\.(\d{1,9})(-[0-9A-Za-z.-]+)?(?:\+.*)?")
_CONVENTIONAL: Final = re.compile(r"(\w+)(?:\([^)]*\))?(!)?:\s")
_BREAKING_TRAILER: Final = re.compile(r"^BREAKING[ -]CHANGE:", re.MULTILINE)
_TRAILER: Final = re.compile(r"^Changelog:[ \t]*(\w+)", re.MULTILINE | re.IGNORECASE)

BREAKING, FEATURE, FIX, OTHER = "Breaking changes", "Features", "Fixes", "Other changes"
_SECTIONS: Final = (BREAKING, FEATURE, FIX, OTHER)
_BY_LABEL: Final = {
    BREAKING: ("breaking", "breaking change", "breaking-change", "major"),
    FEATURE: ("feature", "enhancement", "feat", "minor"),
    FIX: ("bug", "fix", "bugfix", "security", "regression", "patch"),
}
_BY_PREFIX: Final = {"feat": FEATURE, "feature": FEATURE, "fix": FIX, "perf": FIX, "security": FIX}
_BY_TRAILER: Final = {
    "added": FEATURE,
    "feature": FEATURE,
    "fixed": FIX,
    "security": FIX,
    "removed": BREAKING,
}


@dataclass(frozen=True, slots=True)
class _Change:
    section: str
    because: str
    """What decided the section: `label`, `prefix`, `trailer` or nothing."""
    title: str
    reference: str
    author: str


@dataclass(frozen=True, slots=True)
class _Tag:
    name: str
    prefix: str
    version: tuple[int, int, int]
    is_candidate: bool
    """It announces a version that is not out yet: v1.2.0-rc1."""
    date: str

    def next(self, section: str) -> str:
        major, minor, patch = self.version
        # Before 1.0.0 nothing is promised, so what breaks counts as a feature does.
        if section == BREAKING and major > 0:
            return f"{self.prefix}{major + 1}.0.0"
        if section in (BREAKING, FEATURE):
            return f"{self.prefix}{major}.{minor + 1}.0"
        return f"{self.prefix}{major}.{minor}.{patch + 1}"


@dataclass(frozen=True, slots=True)
class _Span:
    since: str | None
    date: str
    """Of the commit it begins after."""
    to_ref: str

    @property
    def as_range(self) -> str:
        return f"{self.since}..{self.to_ref}" if self.since else self.to_ref

    def holds(self, time: Any) -> bool:
        """Of a time as GitLab writes it; each has an offset of its own."""
        if not self.date or not time:
            return not self.date
        return datetime.fromisoformat(str(time)) >= datetime.fromisoformat(self.date)


async def plan_release(
    gitlab: GitLab, project_id: str, from_ref: str | None, to_ref: str | None, tag_name: str | None = None
) -> Result:
    """Since `from_ref`, or else the highest version tag, up to `to_ref`, or else the default branch. Where the release
    gets `tag_name`: since the version below it, and up to that tag where it is there."""
    path = fill("/projects/{project_id}", project_id=project_id)
    start = fill("/repository/commits/{ref}", ref=from_ref) if from_ref else "/repository/tags"
    answers = await concurrently([partial(gitlab.get, path), partial(gitlab.get, path + start)])
    project, begin = map(answered, answers)
    rows = [{"name": from_ref, "commit": begin.body}] if from_ref else begin.body
    is_tagged = any(each["name"] == tag_name for each in rows)
    end = to_ref or (tag_name if is_tagged else project.body.get("default_branch"))
    if not end:
        return Result(data={"commits": 0, "why_empty": "The repository is empty."})
    tags = _before(tag_name, _versions(rows))
    last = next((tag for tag in tags if from_ref or not tag.is_candidate), None)
    if from_ref:
        span = _Span(from_ref, str(begin.body.get("committed_date") or ""), end)
    else:
        span = _Span(last.name if last else None, last.date if last else "", end)
    return await _plan(gitlab, path, span, last, tags)


async def _plan(gitlab: GitLab, path: str, span: _Span, last: _Tag | None, tags: Sequence[_Tag]) -> Result:
    updated = {"updated_after": span.date} if span.date else {}
    pipelines, found, requests, issues = await concurrently(
        [
            partial(gitlab.get, f"{path}/pipelines", ref=span.to_ref, per_page=1),
            partial(_all, gitlab, f"{path}/repository/commits", ref_name=span.as_range),
            partial(_all, gitlab, f"{path}/merge_requests", state="merged", **updated),
            partial(_all, gitlab, f"{path}/issues", state="closed", **updated),
        ]
    )
    commits = answered(found)
    if not commits.body:
        return Result(data={"since": span.since, "commits": 0, "why_empty": "Nothing changed since."})
    merged = _merged_with(commits.body, items_if_read(requests))
    changes = [_of_merge_request(each) for each in merged]
    changes += [_of_commit(each) for each in _on_their_own(commits.body, merged)]
    closed = [issue for issue in items_if_read(issues) if span.holds(issue.get("closed_at"))]
    version, why = _proposed(changes, last, tags)
    notes = _notes(changes, closed)
    data: dict[str, Any] = {
        "since": span.since,
        "since_date": span.date[:10] or None,
        "commits": len(commits.body),
        "merge_requests": len(merged),
        "by_label": dict(
            Counter(label for each in merged for label in each.get("labels") or ()).most_common(12)
        ),
        "authors": dict(Counter(each.author for each in changes).most_common(12)),
        "issues_closed": [{"iid": each["iid"], "title": each["title"]} for each in closed[:MOST_LINES]],
        "means": why,
        "release": {"tag_name": version, "ref": span.to_ref, "name": version, "description": notes},
        "then": "manage_release create with project_id and what release holds, as it is or changed.",
    }
    cut = isinstance(requests, Answer) and has_next_page(requests)
    # Pipelines are refused where CI/CD is switched off.
    no_ci = isinstance(pipelines, Refused) and pipelines.status in (403, 404)
    asked = {"merge_requests": requests, "issues": issues, **({} if no_ci else {"pipelines": pipelines})}
    missing = unread(asked)
    warnings = [*_not_green(items_if_read(pipelines)), *partial_read_notices(missing)]
    if has_next_page(commits) or cut:
        message = (
            f"More happened than is looked at: the first {counted(len(commits.body), 'commit')} are in it."
        )
        warnings.append(Notice(NoticeCode.TRUNCATED, message))
    return Result(data=without_empty(data), warnings=warnings)


def _not_green(newest: Sequence[Mapping[str, Any]]) -> list[Notice]:
    """The warning that the ref is not fit to be released, as far as its newest pipeline says so."""
    status = words.ci_status(newest[0].get("status")) if newest else None
    if status is None or status in _FIT_TO_RELEASE:
        return []
    told = "failed" if status == "failed" else f"has not succeeded: it is {status}"
    facts = {"pipeline_id": newest[0]["id"], "look_with": "browse_pipelines failure_digest"}
    return [Notice(NoticeCode.NOT_GREEN, f"The newest pipeline of the ref {told}.", facts)]


async def _all(gitlab: GitLab, path: str, **query: Any) -> Answer:
    """A release is mostly one page; of a bigger one the pages are bigger too."""
    answer = await gitlab.get(path, **query)
    return await every_page(gitlab, path, per_page=100, **query) if has_next_page(answer) else answer


def _versions(tags: Iterable[Mapping[str, Any]]) -> list[_Tag]:
    """Tags that are versions, the highest first."""
    found = []
    for tag in tags:
        if match := _VERSION.fullmatch(str(tag["name"])):
            prefix, major, minor, patch, candidate = match.groups()
            date = str((tag.get("commit") or {}).get("committed_date") or "")
            version = (int(major), int(minor), int(patch))
            found.append(_Tag(str(tag["name"]), prefix, version, candidate is not None, date))
    return sorted(found, key=lambda tag: (tag.version, not tag.is_candidate), reverse=True)


def _before(tag_name: str | None, tags: list[_Tag]) -> list[_Tag]:
    """Without the version that is released, and those above it."""
    wanted = _versions([{"name": tag_name}]) if tag_name else []
    return [each for each in tags if each.version < wanted[0].version] if wanted else tags


def _merged_with(
    commits: Sequence[Mapping[str, Any]], requests: Iterable[Mapping[str, Any]]
) -> list[Mapping[str, Any]]:
    """The merge requests whose commit is among these: what went to another branch is not."""
    shas = {each["id"] for each in commits}
    names = ("merge_commit_sha", "squash_commit_sha", "sha")
    return [each for each in requests if any(each.get(name) in shas for name in names)]


def _on_their_own(
    commits: Sequence[Mapping[str, Any]], merged: Sequence[Mapping[str, Any]]
) -> list[Mapping[str, Any]]:
    """Commits that no merge request brought in: those on the first-parent line that merge nothing."""
    by_request = {
        each.get(name) for each in merged for name in ("merge_commit_sha", "squash_commit_sha", "sha")
    }
    by_id = {each["id"]: each for each in commits}
    line, each = [], commits[0] if commits else None
    while each is not None:
        line.append(each)
        parents = each.get("parent_ids") or [None]
        each = by_id.get(parents[0])
        if each is not None and len(line) > len(commits):
            break
    return [each for each in line if each["id"] not in by_request and len(each.get("parent_ids") or ()) < 2]


def _of_merge_request(request: Mapping[str, Any]) -> _Change:
    title, labels = str(request["title"]), [str(each) for each in request.get("labels") or ()]
    section, because = _section(title, str(request.get("description") or ""), labels)
    author = str((request.get("author") or {}).get("username") or "")
    return _Change(section, because, title, f"!{request['iid']}", author and f"@{author}")


def _of_commit(commit: Mapping[str, Any]) -> _Change:
    section, because = _section(str(commit["title"]), str(commit.get("message") or ""), ())
    return _Change(
        section, because, str(commit["title"]), str(commit["id"])[:8], str(commit.get("author_name"))
    )


def _section(title: str, text: str, labels: Sequence[str]) -> tuple[str, str]:
    """What GitLab's own words and those of many teams mean, the gravest first."""
    named = {label.lower().rpartition("::")[2].replace("_", " ") for label in labels}
    prefix = _CONVENTIONAL.match(title)
    trailer = _TRAILER.search(text)
    if named & set(_BY_LABEL[BREAKING]):
        return BREAKING, "label"
    if (prefix and prefix[2]) or _BREAKING_TRAILER.search(text):
        return BREAKING, "commit message"
    for section in (FEATURE, FIX):
        if named & set(_BY_LABEL[section]):
            return section, "label"
    if prefix and (section := _BY_PREFIX.get(prefix[1].lower(), "")):
        return section, "commit message"
    if trailer and (section := _BY_TRAILER.get(trailer[1].lower(), "")):
        return section, "commit message"
    return OTHER, ""


def _proposed(changes: Sequence[_Change], last: _Tag | None, tags: Sequence[_Tag]) -> tuple[str, str]:
    """The version and, in our words, why it is that one."""
    if last is None:
        return FIRST_VERSION, "There is no version tag yet, so this is a first one."
    gravest = next(section for section in _SECTIONS if any(each.section == section for each in changes))
    deciding = [each for each in changes if each.section == gravest]
    version = last.next(gravest)
    step = {BREAKING: "a major version", FEATURE: "a minor version"}.get(gravest, "a patch")
    if gravest == BREAKING and last.version[0] == 0:
        step = "a minor version, since before 1.0.0 nothing is promised"
    by = sorted({each.because for each in deciding if each.because})
    told = f" by {' and '.join(by)}" if by else ""
    words = {BREAKING: "breaking", FEATURE: "a feature", FIX: "a fix"}.get(
        gravest, "neither breaking nor a feature"
    )
    why = f"{step[0].upper()}{step[1:]}: {counted(len(deciding), 'change')} of {len(changes)} {words}{told}."
    announced = next((tag for tag in tags if tag.is_candidate and tag.version > last.version), None)
    [proposed] = _versions([{"name": version}])
    if announced and announced.version >= proposed.version:
        version = f"{announced.prefix}{'.'.join(map(str, announced.version))}"
        why += " A later version is announced by a tag already, so it is that one."
    return version, why


def _notes(changes: Sequence[_Change], closed: Sequence[Mapping[str, Any]]) -> str:
    parts = []
    for section in _SECTIONS:
        lines = [
            f"- {_one_line(each.title)} ({each.reference}{f' {each.author}' if each.author else ''})"
            for each in changes
            if each.section == section
        ]
        parts += _part(section, lines)
    parts += _part(
        "Issues closed", [f"- {_one_line(str(each['title']))} (#{each['iid']})" for each in closed]
    )
    return "\n\n".join(parts)


def _part(title: str, lines: Sequence[str]) -> list[str]:
    if not lines:
        return []
    rest = [f"- and {len(lines) - MOST_LINES} more"] if len(lines) > MOST_LINES else []
    return ["\n".join((f"## {title}", "", *lines[:MOST_LINES], *rest))]


def _one_line(title: str) -> str:
    return " ".join(title.split())[:_LONGEST_TITLE]

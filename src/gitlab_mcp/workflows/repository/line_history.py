"""Why a line is there: the commit that wrote it, the merge request that brought it in, the issues that it closed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from typing import Any, Final

from gitlab_mcp.actions.action import fill
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.result import Omission, Result, Text, partial_read_notices
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.gitlab.concurrently import concurrently
from gitlab_mcp.results.shown_fields import pick_fields, shown_fields

MOST_COMMITS: Final = 6
"""Whose merge requests are looked up. Those that wrote most of the lines come first."""
MOST_LINES: Final = 200
_LONGEST_MESSAGE: Final = 600
_MOST_PLACES: Final = 10

_COMMIT = shown_fields("sha=id author=author_name").in_a_list
_MERGE_REQUEST = shown_fields("iid title state author=author.username merged_at:date web_url").in_a_list
_ISSUE = shown_fields("iid title state web_url").in_a_list

_DEFINES: Final = (
    r"^\s*(?:[\w@.\[\]<>*&,]+\s+)*"
    r"(?:def|class|function|func|fn|interface|type|struct|enum|trait|module|impl|const|let|var|val|sub|macro|record)"
    r"\s+(?:\([^)]*\)\s*)?(?:[\w.]+[.:#])?{name}\b"
)
_ASSIGNS: Final = r"^\s*(?:export\s+|static\s+|public\s+|private\s+|final\s+)*(?:self\.|this\.)?{name}\s*[:=]"
_HAS_A_BODY: Final = r"^\s*(?:[\w<>\[\],*&]+\s+)+\*?{name}\s*\([^;]*$"
_WORD: Final = re.compile(r"[A-Za-z_]\w{2,}")


@dataclass(frozen=True, slots=True)
class Line:
    number: int
    text: str
    commit: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Lines:
    """The lines that are asked about, and where else the symbol is defined."""

    lines: Sequence[Line]
    also_at: Sequence[int] = ()


def blamed_lines(parts: Iterable[Mapping[str, Any]], start: int) -> list[Line]:
    """GitLab's answer, line by line."""
    found: list[Line] = []
    for part in parts:
        for text in part["lines"]:
            found.append(Line(start + len(found), str(text), part["commit"]))
    return found


def lines_of_symbol(every: Sequence[Line], symbol: str, within: range) -> Lines:
    """The definition that begins within these lines, down to where its indentation ends."""
    name = re.escape(re.split(r"[.#/]|::", symbol.removesuffix("()"))[-1])
    for rule in (_DEFINES, _HAS_A_BODY, _ASSIGNS, r"(?<!\w){name}(?!\w)"):
        pattern = re.compile(rule.replace("{name}", name))
        starts = [
            index for index, line in enumerate(every) if line.number in within and pattern.search(line.text)
        ]
        if starts:
            first, *others = starts
            also = [every[index].number for index in others[:_MOST_PLACES]]
            return Lines(every[first : _end_of_block(every, first)][:MOST_LINES], also)
    raise CallFailed(_no_such_symbol(every, symbol))


def _end_of_block(every: Sequence[Line], start: int) -> int:
    """After the last line that belongs to what begins here: those indented deeper, and a closing bracket."""
    indent = _indent(every[start].text)
    end = start + 1
    for index in range(start + 1, len(every)):
        text = every[index].text
        if not text.strip():
            continue
        if _indent(text) <= indent and not (text.strip() == "{" and index == start + 1):
            return index + 1 if re.match(r"\s*[})\]]|\s*end\b", text) else end
        end = index + 1
    return end


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())


def _no_such_symbol(every: Sequence[Line], symbol: str) -> Failure:
    words = {word for line in every for word in _WORD.findall(line.text)}
    near = get_close_matches(symbol, sorted(words), 3, 0.6)
    failure = Failure(Code.NOT_FOUND, "The file has no such symbol.").knowing(
        missing="symbol",
        confidence="certain",
        suggested_fix="Search for it: search code with project_id; or name the lines: start_line and end_line.",
    )
    return failure.knowing(did_you_mean=near) if near else failure


async def why(gitlab: GitLab, project_id: str, asked: Lines, file_path: str) -> Result:
    by_commit: dict[str, list[Line]] = {}
    for line in asked.lines:
        by_commit.setdefault(str(line.commit["id"]), []).append(line)
    ranked = sorted(by_commit.values(), key=len, reverse=True)
    looked_up = [str(lines[0].commit["id"]) for lines in ranked[:MOST_COMMITS]]
    requests, unread = await _merge_requests(gitlab, project_id, looked_up)
    issues, unread_issues = await _issues(gitlab, project_id, requests)
    commits = [
        _commit(lines, requests.get(str(lines[0].commit["id"])), issues)
        for lines in by_commit.values()
        if str(lines[0].commit["id"]) in looked_up
    ]
    data: dict[str, Any] = {
        "start_line": asked.lines[0].number,
        "end_line": asked.lines[-1].number,
        "commits": commits,
    }
    if asked.also_at:
        data["symbol_also_at_lines"] = list(asked.also_at)
    rest = len(by_commit) - len(looked_up)
    return Result(
        data=data,
        text=Text(_as_text(asked.lines), f"blame of {file_path}"),
        warnings=partial_read_notices([*unread, *unread_issues]),
        truncated=[Omission("commits", rest, "browse_files blame")] if rest else [],
    )


async def _merge_requests(
    gitlab: GitLab, project_id: str, shas: Sequence[str]
) -> tuple[dict[str, Mapping[str, Any]], list[str]]:
    """The merge request that brought in each commit: the first that was merged, where there are several."""
    paths = [
        fill("/projects/{id}/repository/commits/{sha}/merge_requests", id=project_id, sha=sha) for sha in shas
    ]
    answers = await concurrently([partial(gitlab.get, path) for path in paths])
    found: dict[str, Mapping[str, Any]] = {}
    for sha, answer in zip(shas, answers, strict=True):
        if isinstance(answer, Answer) and answer.body:
            found[sha] = min(answer.body, key=lambda each: (each.get("state") != "merged", each["iid"]))
    unread = ["merge_requests"] if not all(isinstance(answer, Answer) for answer in answers) else []
    return found, unread


async def _issues(
    gitlab: GitLab, project_id: str, requests: Mapping[str, Mapping[str, Any]]
) -> tuple[dict[int, Sequence[Mapping[str, Any]]], list[str]]:
    iids = list(dict.fromkeys(int(each["iid"]) for each in requests.values()))
    paths = [
        fill("/projects/{id}/merge_requests/{iid}/closes_issues", id=project_id, iid=iid) for iid in iids
    ]
    answers = await concurrently([partial(gitlab.get, path) for path in paths])
    found = {
        iid: answer.body for iid, answer in zip(iids, answers, strict=True) if isinstance(answer, Answer)
    }
    return found, ["closes_issues"] if len(found) < len(iids) else []


def _commit(
    lines: Sequence[Line],
    request: Mapping[str, Any] | None,
    issues: Mapping[int, Sequence[Mapping[str, Any]]],
) -> dict[str, Any]:
    commit = lines[0].commit
    title, _, rest = str(commit["message"]).partition("\n")
    shown = {
        **pick_fields(commit, _COMMIT),
        "title": title,
        "lines": len(lines),
    }
    shown |= {"sha": str(commit["id"])[:8], "date": str(commit.get("authored_date"))[:10]}
    if rest.strip():
        shown["message"] = rest.strip()[:_LONGEST_MESSAGE]
    if request is not None:
        shown["merge_request"] = pick_fields(request, _MERGE_REQUEST)
        if closed := issues.get(int(request["iid"])):
            shown["issues"] = [pick_fields(issue, _ISSUE) for issue in closed]
    return shown


def _as_text(lines: Iterable[Line]) -> str:
    return "\n".join(f"{str(line.commit['id'])[:8]} {line.number:>4} {line.text}" for line in lines)

"""Files and directories of a repository."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from gitlab_mcp.actions.action import GET
from gitlab_mcp.actions.action_facts import Differs
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.fields import FilePath, Flag, Integer, NonEmpty, Ref, SentAs, broken_rule
from gitlab_mcp.actions.other_names import Instead
from gitlab_mcp.actions.result import Result, Text
from gitlab_mcp.actions.scopes import InProject, Paged
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.results.file_contents import file_result
from gitlab_mcp.results.list_pages import correct_paging_headers
from gitlab_mcp.workflows.repository.line_history import MOST_LINES, Lines, blamed_lines, lines_of_symbol, why

browse = Tool(
    "browse_files",
    "Read files and directories of a repository.",
    also=(
        "repository",
        "file_content",
        "content",
        "directory",
        "blob",
    ),
    instead={
        "list ls dir directory folder list_files files list_directory": "tree",
        "cat raw content contents download open": "get",
        "search grep find": Instead("search code", needs=("search",)),
        "history log commits": "browse_commits list",
        "annotate": "blame",
        "why_is_this_here line_history explain_line who_wrote origin provenance": "why",
        "info stat metadata": "get",
    },
)

DEFAULT_BRANCH = "HEAD"

LineNumber = Annotated[Integer, Field(ge=1, le=2**31 - 1)]


class OfFile(InProject):
    file_path: FilePath
    ref: Ref | None = None


def _check_lines(start_line: int | None, end_line: int | None) -> None:
    if start_line is not None and end_line is not None and end_line < start_line:
        raise broken_rule("a line that is not before start_line", field="end_line")


@browse.action(
    "tree",
    GET("/projects/{project_id}/repository/tree"),
    example={"project_id": "acme/website"},
    shows="path type",
)
class Tree(InProject, Paged):
    """List a directory, or with recursive all that is below it."""

    path: Annotated[NonEmpty, Field(description="Directory")] | None = None
    ref: Ref | None = None
    recursive: Flag | None = None

    async def run(self, gitlab: GitLab) -> Answer | Result:
        answer = await gitlab.send(self.request())
        if answer.body or self.path is None or self.page not in (None, 1):
            return replace(answer, headers=correct_paging_headers(answer.headers, len(answer.body)))
        # Git keeps no empty directories: GitLab 17 answers an empty list where there is no such directory.
        why = "There is no such directory at this ref; a file is read with get."
        return Result(data={"items": [], "total": 0, "why_empty": why})


@browse.action(
    "get",
    GET("/projects/{project_id}/repository/files/{file_path}"),
    example={"project_id": "acme/website", "file_path": "src/app.py", "ref": "main"},
)
class GetFile(OfFile):
    """Read a file: text by lines, images as images, other binaries as size and type."""

    start_line: LineNumber | None = None
    end_line: LineNumber | None = None

    @model_validator(mode="after")
    def _lines_in_order(self) -> Self:
        _check_lines(self.start_line, self.end_line)
        return self

    async def run(self, gitlab: GitLab) -> Result:
        request = self.request(ref=self.ref or DEFAULT_BRANCH, start_line=None, end_line=None)
        answer = await gitlab.send(request)
        lines = {"start_line": self.start_line, "end_line": self.end_line}
        return file_result(answer.body, asked_for=self.file_path, **lines)


@browse.action(
    "blame",
    GET("/projects/{project_id}/repository/files/{file_path}/blame"),
    example={"project_id": "acme/website", "file_path": "src/app.py", "ref": "main"},
)
class BlameFile(OfFile):
    """Who last changed each line, and with which commit."""

    start_line: Annotated[LineNumber, SentAs("range[start]")] | None = None
    end_line: Annotated[LineNumber, SentAs("range[end]")] | None = None

    @model_validator(mode="after")
    def _both_ends(self) -> Self:
        _check_lines(self.start_line, self.end_line)
        if self.start_line is not None and self.end_line is None:
            raise broken_rule("a line number, as start_line is given", field="end_line")
        return self

    async def run(self, gitlab: GitLab) -> Result:
        # GitLab wants both ends of a range or none.
        start = 1 if self.end_line is not None and self.start_line is None else self.start_line
        changes = {"ref": self.ref or DEFAULT_BRANCH, "range[start]": start}
        answer = await gitlab.send(self.request(**changes))
        return _blame_result(answer.body, self.file_path, start or 1)


@browse.action(
    "why",
    GET("/projects/{project_id}/repository/files/{file_path}/blame"),
    docs=Differs(
        "user/project/repository/files/git_blame/", "the page about the question, not about its first request"
    ),
    example={"project_id": "acme/shop", "file_path": "src/shop/cart.py", "ref": "main", "symbol": "add"},
    seldom_given="symbol",
)
class Why(OfFile):
    """Why lines are there: their commits, the merge requests that brought them in, the issues these closed.

    Of a line, of a range of lines, or of a symbol: a function, class or name that the file defines, there where several
    do."""

    needs_one_of = ("start_line", "symbol")

    start_line: LineNumber | None = None
    end_line: LineNumber | None = None
    symbol: Annotated[NonEmpty, Field(max_length=200)] | None = None

    @model_validator(mode="after")
    def _lines_or_a_symbol(self) -> Self:
        _check_lines(self.start_line, self.end_line)
        if self.symbol is not None:
            return self
        if self._end - self._start >= MOST_LINES:
            raise broken_rule(f"at most {MOST_LINES} lines after start_line", field="end_line")
        return self

    @property
    def _start(self) -> int:
        return self.start_line or 1

    @property
    def _end(self) -> int:
        return self.end_line or self._start

    async def run(self, gitlab: GitLab) -> Result:
        request = self.request(ref=self.ref or DEFAULT_BRANCH, symbol=None, start_line=None, end_line=None)
        if self.symbol is None:
            ends = {"range[start]": self._start, "range[end]": self._end}
            request = replace(request, query={**request.query, **ends})
        lines = blamed_lines((await gitlab.send(request)).body, self._start if self.symbol is None else 1)
        if self.symbol is not None:
            # Its definition may go on after the lines in which it begins.
            last = self.end_line or len(lines)
            asked = lines_of_symbol(lines, self.symbol, range(self._start, last + 1))
        else:
            asked = Lines(lines)
        if not asked.lines:
            return Result(data={"commits": [], "why_empty": "The file has no such lines."})
        return await why(gitlab, self.project_id, asked, self.file_path)


def _blame_result(parts: Iterable[Mapping[str, Any]], file_path: str, start_line: int) -> Result:
    """Each commit once, and the lines with the commit each is from."""
    commits: dict[str, dict[str, Any]] = {}
    lines = []
    number = start_line
    for part in parts:
        commit = part["commit"]
        sha = str(commit["id"])[:8]
        commits.setdefault(
            sha,
            {
                "sha": sha,
                "author": commit["author_name"],
                "date": str(commit["authored_date"])[:10],
                "title": commit["message"].split("\n", 1)[0],
            },
        )
        for line in part["lines"]:
            lines.append(f"{sha} {number:>4} {line}")
            number += 1
    data: dict[str, Any] = {"start_line": start_line, "lines": len(lines), "commits": list(commits.values())}
    if not lines:
        return Result(data={"lines": 0, "why_empty": "The file has no such lines."})
    return Result(data=data, text=Text("\n".join(lines), f"blame of {file_path}"))

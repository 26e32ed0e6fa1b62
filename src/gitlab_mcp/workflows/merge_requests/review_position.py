"""Works out the position of a review comment: shas, paths and line numbers. GitLab stores wrong ones without a word."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gitlab_mcp.actions.action import fill
from gitlab_mcp.actions.exchange import GitLab, Request
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.workflows.merge_requests.diff_lines import DiffLine, DiffLines, read_diff

Json = Mapping[str, Any]

_MOST_LINES = 100_000
"""Of one file's diff. GitLab leaves such diffs out unless its limits were raised."""


@dataclass(frozen=True, slots=True)
class CommentedLines:
    """The commented line, or the last and the first of several, each by its new or its old number."""

    line: int | None = None
    old_line: int | None = None
    start_line: int | None = None
    old_start_line: int | None = None


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A file that a merge request changes, in its latest version."""

    path: str
    """The path of the merge request, below /api/v4."""
    shas: Mapping[str, str]
    entry: Json

    @property
    def file_position(self) -> dict[str, Any]:
        """The position of a comment on the file as a whole."""
        return {"position_type": "file", **self.shas, **self._paths}

    async def line_position(
        self, gitlab: GitLab, commented: CommentedLines
    ) -> tuple[dict[str, Any], DiffLine]:
        """The position of a comment on one line or several, and the line it is shown at."""
        diff = str(self.entry["diff"] or "")
        if not diff.startswith("@@") or diff.count("\n") > _MOST_LINES:
            raise CallFailed(_no_lines(self.entry, diff))
        lines = read_diff(diff)
        last = await self._find_line(gitlab, lines, commented.line, commented.old_line, ("line", "old_line"))
        position = {"position_type": "text", **self.shas, **self._paths, **last.numbers}
        if commented.start_line is None and commented.old_start_line is None:
            return position, last
        names = ("start_line", "old_start_line")
        first = await self._find_line(gitlab, lines, commented.start_line, commented.old_start_line, names)
        if (first.old, first.new) > (last.old, last.new) or first.new > last.new:
            name = "start_line" if commented.start_line is not None else "old_start_line"
            raise CallFailed(_not_a_line(name, "a line before the last one"))
        # GitLab refuses line numbers in a range: it wants line codes and types.
        return {
            **position,
            "line_range": {"start": self._range_end(first), "end": self._range_end(last)},
        }, last

    @property
    def _paths(self) -> dict[str, str]:
        return {"new_path": self.entry["new_path"], "old_path": self.entry["old_path"]}

    def _range_end(self, line: DiffLine) -> dict[str, str]:
        types = {"added": {"type": "new"}, "removed": {"type": "old"}, "unchanged": {}}
        return {"line_code": line.code(self.entry["new_path"]), **types[line.kind]}

    async def _find_line(
        self, gitlab: GitLab, lines: DiffLines, new: int | None, old: int | None, names: tuple[str, str]
    ) -> DiffLine:
        name = names[0] if new is not None else names[1]
        found = lines.new(new) if new is not None else lines.old(old or 1)
        if found is None:
            last = lines.hunks[-1].after
            end = last.new - 1 if new is not None else last.old - 1
            raise CallFailed(_not_a_line(name, f"at most {end}, where the file ends"))
        if new is not None and old is not None and found.numbers != {"old_line": old, "new_line": new}:
            raise CallFailed(_not_a_line(names[1], _right_number(found)))
        if lines.is_after_last_hunk(found) and (count := await self._line_count(gitlab)) < found.new:
            end = count if new is not None else count - (found.new - found.old)
            raise CallFailed(_not_a_line(name, f"at most {end}, where the file ends"))
        return found

    async def _line_count(self, gitlab: GitLab) -> int:
        """How many lines the file has now, which the diff does not tell."""
        project = self.path.partition("/merge_requests/")[0]
        file = fill("/repository/files/{file_path}/raw", file_path=self.entry["new_path"])
        return await gitlab.stream(
            Request("GET", project + file, {"ref": self.shas["head_sha"]}), _count_lines
        )


def _count_lines(chunks: Iterator[bytes], headers: Mapping[str, str]) -> int:
    count, last = 0, b"\n"
    for chunk in chunks:
        count += chunk.count(b"\n")
        last = chunk[-1:] or last
    return count + (last != b"\n")


@dataclass(frozen=True, slots=True)
class ChangedFiles:
    """The files of the latest version: its shas belong to its diffs, and it has the collapsed diffs too."""

    path: str
    shas: Mapping[str, str]
    entries: Sequence[Json]

    def file(self, file_path: str) -> ChangedFile:
        for side in ("new_path", "old_path"):
            for entry in self.entries:
                if entry[side] == file_path:
                    return ChangedFile(self.path, self.shas, entry)
        raise CallFailed(_not_changed(file_path, [entry["new_path"] for entry in self.entries]))


async def read_changed_file(gitlab: GitLab, path: str, file_path: str) -> ChangedFile:
    return (await read_changed_files(gitlab, path)).file(file_path)


async def read_changed_files(gitlab: GitLab, path: str) -> ChangedFiles:
    versions = (await gitlab.get(f"{path}/versions")).body
    if not versions:
        raise CallFailed(_no_changes())
    version = (await gitlab.get(f"{path}/versions/{versions[0]['id']}")).body
    shas = {name: version[f"{name.removesuffix('_sha')}_commit_sha"] for name in _SHAS}
    if not all(shas.values()):
        raise CallFailed(_no_changes())
    return ChangedFiles(path, shas, version.get("diffs") or ())


_LONGEST_COMPARED = 200
_MOST_COMPARED = 200
_SHAS = ("base_sha", "start_sha", "head_sha")


def _right_number(line: DiffLine) -> str:
    if line.kind == "unchanged":
        return f"{line.old}, the number this unchanged line had before"
    return "left out: the line was added"


def _not_a_line(name: str, expected: str) -> Failure:
    return Failure(Code.INVALID_VALUE, "GitLab would not find this line, or lose the comment.").knowing(
        invalid_fields=[{"field": name, "expected": expected, "received": "a line that is not there"}],
        confidence="certain",
        evidence=["the diff of the latest version"],
        suggested_fix=f"Give {name} as {expected}; browse_merge_requests diffs shows the lines.",
    )


def _no_changes() -> Failure:
    return Failure(
        Code.CONFLICT, "The merge request has no diff yet, so nothing can be commented in it."
    ).knowing(
        state="no diff",
        confidence="certain",
        evidence=["it has no version with commits"],
        suggested_fix="Read detailed_merge_status: browse_merge_requests get; or comment with manage_discussion.",
    )


def _not_changed(file_path: str, changed: list[str]) -> Failure:
    return Failure(Code.NOT_FOUND, "The merge request does not change this file.").knowing(
        missing="file_path",
        did_you_mean=_most_alike(file_path, changed),
        confidence="certain",
        evidence=["the latest version does not name it"],
        suggested_fix="Take a path from browse_merge_requests diffs, or comment with manage_discussion create.",
    )


def _most_alike(file_path: str, changed: list[str]) -> str | None:
    """Comparing takes the square of their lengths, so only a few short ones are compared."""
    if len(file_path) > _LONGEST_COMPARED:
        return None
    few = [path for path in changed if isinstance(path, str) and len(path) <= _LONGEST_COMPARED][
        :_MOST_COMPARED
    ]
    return next(iter(difflib.get_close_matches(file_path, few, n=1)), None)


def _no_lines(entry: Json, diff: str) -> Failure:
    modes = (entry.get("a_mode"), entry.get("b_mode"))
    if diff.startswith("@@"):
        why = "its diff is too large"
    elif diff:
        why = "it is binary"
    elif entry.get("renamed_file"):
        why = "it was renamed and not changed"
    elif modes[0] != modes[1] and "0" not in modes:
        why = "only its mode was changed"
    else:
        why = "its diff is empty or too large"
    return Failure(Code.CONFLICT, f"The file has no lines to comment on: {why}.").knowing(
        state=why,
        confidence="certain",
        evidence=["the latest version has no diff of its lines"],
        suggested_fix="Comment on the file as a whole: manage_review comment_file, naming the line in the text.",
    )

"""Diffs: a list of the changed files as data, and their diffs as text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from gitlab_mcp.actions.result import DiffText, Omission, Result


@dataclass(frozen=True, slots=True)
class FileDiff:
    path: str
    kind: str
    added: int
    removed: int
    renamed_from: str | None
    remarks: tuple[str, ...]
    diff: str

    def summary(self) -> dict[str, Any]:
        """An entry of the file list."""
        entry: dict[str, Any] = {"path": self.path}
        if self.kind != "changed":
            entry["is"] = self.kind
        if self.renamed_from:
            entry["from"] = self.renamed_from
        if self.added or self.removed or not self.remarks:
            entry["added"], entry["removed"] = self.added, self.removed
        if self.remarks:
            entry["remark"] = "; ".join(self.remarks)
        return entry


def file_diff(entry: Mapping[str, Any]) -> FileDiff:
    """One entry of `/diffs`, `/changes`, `/compare` or a commit's diff."""
    path, old_path = str(entry.get("new_path") or ""), str(entry.get("old_path") or "")
    diff = str(entry.get("diff") or "")
    lines = f"\n{diff}" if diff.startswith("@@") else ""
    return FileDiff(
        path=path,
        kind=_kind(entry),
        added=lines.count("\n+"),
        removed=lines.count("\n-"),
        renamed_from=old_path if entry.get("renamed_file") else None,
        remarks=tuple(_remarks(entry, diff)),
        diff=diff,
    )


def diff_result(
    entries: Iterable[Mapping[str, Any]],
    *,
    source: str,
    changes_count: str | None = None,
    facts: Mapping[str, Any] | None = None,
) -> Result:
    """`changes_count` is that of the merge request; "1000+" means that GitLab left files out."""
    files = [file_diff(entry) for entry in entries]
    data: dict[str, Any] = {
        **(facts or {}),
        "files": [file.summary() for file in files],
        "added": sum(file.added for file in files),
        "removed": sum(file.removed for file in files),
    }
    truncated = []
    if changes_count is not None and changes_count.endswith("+"):
        data["changes_count"] = changes_count
        how = "GitLab does not give more; compare smaller ranges of commits"
        truncated.append(Omission("files, by GitLab", None, how))
    shown = [file for file in files if file.diff]
    text = "\n".join(
        f"diff --git a/{file.renamed_from or file.path} b/{file.path}\n{file.diff.rstrip()}" for file in shown
    )
    return Result(data=data, text=DiffText(text, source) if shown else None, truncated=truncated)


def _kind(entry: Mapping[str, Any]) -> str:
    if entry.get("new_file"):
        return "new"
    if entry.get("deleted_file"):
        return "deleted"
    return "renamed" if entry.get("renamed_file") else "changed"


def _remarks(entry: Mapping[str, Any], diff: str) -> Iterable[str]:
    modes = (entry.get("a_mode"), entry.get("b_mode"))
    mode_changed = all(mode not in (None, "0") for mode in modes) and modes[0] != modes[1]
    if mode_changed:
        yield f"mode {modes[0]} → {modes[1]}"
    if entry.get("generated_file"):
        yield "generated"
    if diff.startswith("Binary files"):
        yield "binary"
    elif entry.get("too_large"):
        yield "too large: GitLab left its diff out; read the file itself"
    elif entry.get("collapsed"):
        yield "collapsed: GitLab left its diff out; read the file itself"
    elif not diff and entry.get("renamed_file"):
        yield "content unchanged"
    elif not diff and not mode_changed:
        # GitLab before 18 does not say which of the two it is.
        yield "no diff: the file is empty, or GitLab left its diff out for its size; read the file itself"

"""Reads the diff of one file of a merge request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gitlab_mcp.actions.exchange import GitLab
from gitlab_mcp.gitlab.paging import find_item

Json = Mapping[str, Any]


async def read_file_diff(gitlab: GitLab, path: str, file_path: str) -> Json | None:
    """`path` is that of the merge request. None for a file that it does not change."""
    entry = await find_item(
        gitlab, f"{path}/diffs", lambda each: file_path in (each["new_path"], each["old_path"])
    )
    if entry is None or entry["diff"] or entry.get("renamed_file"):
        return entry
    # The list leaves large diffs empty without saying so; the versions have them.
    versions = (await gitlab.get(f"{path}/versions")).body
    if not versions:
        return entry
    diffs = (await gitlab.get(f"{path}/versions/{versions[0]['id']}")).body.get("diffs") or ()
    return next((each for each in diffs if each["new_path"] == entry["new_path"]), entry)

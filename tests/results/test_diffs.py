from __future__ import annotations

from typing import Any

import pytest

from gitlab_mcp.actions.result import DiffText
from gitlab_mcp.results.diffs import diff_result, file_diff
from tests.support.recorded_answers import recorded

SHOP = "/projects/acme%2Fshop/merge_requests"


def big() -> list[dict[str, Any]]:
    pages = (
        recorded("shop_merge_requests", f"{SHOP}/24/diffs?per_page=20&page={page}") for page in range(1, 5)
    )
    return [entry for page in pages for entry in page.body]


def test_a_recorded_merge_request_is_listed_file_by_file_with_what_is_special() -> None:
    data = diff_result(big(), source="diff of !24").data
    files = {file["path"]: file for file in data["files"]}
    assert len(data["files"]) == 62
    assert files["docs/handbook/guide.md"] == {
        "path": "docs/handbook/guide.md",
        "is": "renamed",
        "from": "docs/guide.md",
        "remark": "content unchanged",
    }
    assert files["scripts/deploy.sh"] == {"path": "scripts/deploy.sh", "remark": "mode 100644 → 100755"}
    assert files["src/shop/catalogue/part_4.py"] == {
        "path": "src/shop/catalogue/part_4.py",
        "is": "deleted",
        "added": 0,
        "removed": 25,
    }
    assert files["docs/日本語 ファイル.md"] == {
        "path": "docs/日本語 ファイル.md",
        "is": "new",
        "added": 1,
        "removed": 0,
    }
    assert files["web/banner.bin"] == {"path": "web/banner.bin", "is": "new", "remark": "binary"}
    assert files["web/vendor.min.js"]["remark"].startswith("generated; no diff")
    assert files["docs/reference.md"]["remark"].startswith("no diff")


def test_the_diffs_follow_as_text() -> None:
    result = diff_result(
        recorded("shop_merge_requests", f"{SHOP}/6/diffs?per_page=20&page=1").body, source="diff of !6"
    )
    (file,) = result.data["files"]
    assert isinstance(result.text, DiffText)
    assert result.text.source == "diff of !6"
    header, *rest = result.text.content.split("\n")
    assert header == f"diff --git a/{file['path']} b/{file['path']}"
    assert sum(line.startswith("+") for line in rest) == file["added"] == result.data["added"]


@pytest.mark.parametrize(
    ("flags", "remark"),
    [
        ({"too_large": True}, "too large: GitLab left its diff out; read the file itself"),
        ({"collapsed": True}, "collapsed: GitLab left its diff out; read the file itself"),
    ],
)
def test_what_gitlab_left_out_is_said(flags: dict[str, bool], remark: str) -> None:
    """Synthetic: GitLab 17.2 has no such flags, 18 has."""
    entry = {"new_path": "a", "old_path": "a", "a_mode": "100644", "b_mode": "100644", "diff": "", **flags}
    assert file_diff(entry).remarks == (remark,)


def test_a_count_that_gitlab_gave_up_on_is_said() -> None:
    result = diff_result([], source="diff", changes_count="1000+")
    assert result.data["changes_count"] == "1000+"
    assert [omission.what for omission in result.truncated] == ["files, by GitLab"]


def test_a_removed_line_that_looks_like_a_header_is_counted_as_removed() -> None:
    entry = {"new_path": "a", "old_path": "a", "diff": "@@ -1,2 +1 @@\n--- a/x\n-b\n+++ c\n"}
    assert (file_diff(entry).added, file_diff(entry).removed) == (1, 2)

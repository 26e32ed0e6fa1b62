"""The picture in the README shows what the server says. `python scripts/demo_picture.py` draws it again."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path

import pytest

from gitlab_mcp.app import App
from gitlab_mcp.failures.failure import CallFailed
from gitlab_mcp.failures.render import render

PICTURE = Path(__file__).parents[2] / "docs/demo.svg"


def lines() -> list[str]:
    """The text of the picture, line by line."""
    rows: dict[str, str] = {}
    for height, text in re.findall(
        r'<text [^>]*y="([\d.]+)"[^>]*>([^<]*)</text>', PICTURE.read_text("utf-8")
    ):
        rows[height] = rows.get(height, "") + unescape(text).replace("\xa0", " ")
    return [row.strip() for row in rows.values()]


@pytest.mark.anyio
async def test_the_picture_shows_the_failure_that_the_recording_gives(replayed: App) -> None:
    with pytest.raises(CallFailed) as caught:
        await replayed.call("browse_epics", {"action": "list", "group_id": "acme", "per_page": 1})
    said = dict(line.split(": ", 1) for line in lines() if re.match(r"[a-z_]+: ", line))
    for name, value in render(caught.value.failure).items():
        beginning = said[name].removesuffix("…").rstrip(" ,")
        assert json.dumps(value, ensure_ascii=False).startswith(beginning), name


def test_the_picture_asks_for_nothing_from_elsewhere() -> None:
    assert set(re.findall(r"https?://[^\s\"'<)]+", PICTURE.read_text("utf-8"))) <= {
        "http://www.w3.org/2000/svg",
        "https://docs.gitlab.com/api/epics/#list-all-group-epics&quot;",
        "https://about.gitlab.com/pricing/&quot;",
    }
    assert "@font-face" not in PICTURE.read_text("utf-8")

"""Which documented endpoints no action reaches yet, by the pages that a toolset's actions are documented on."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterable
from pathlib import Path

from gitlab_mcp.actions.tool import Tool

ENDPOINTS = Path(__file__).resolve().parent.parent / "tests/facts/endpoints.json.gz"


def left_out(toolsets: dict[str, list[Tool]]) -> dict[str, list[tuple[str, str, str]]]:
    """For each toolset the rows (page, endpoint, tier); a page belongs to the toolset that cites it most."""
    reached = {
        _shape(str(endpoint))
        for tools in toolsets.values()
        for tool in tools
        for action in tool.actions.values()
        for endpoint in action.spec.endpoints
    }
    home = _homes(toolsets)
    found: dict[str, list[tuple[str, str, str]]] = {name: [] for name in toolsets}
    for entry in json.loads(gzip.decompress(ENDPOINTS.read_bytes())):
        page = entry["page"].removesuffix(".md").removesuffix("/_index")
        if page in home and _shape(entry["endpoint"]) not in reached:
            found[home[page]].append((page, entry["endpoint"], entry["tier"]))
    return {name: sorted(set(rows)) for name, rows in found.items()}


def section(rows: Iterable[tuple[str, str, str]]) -> str:
    """The end of a toolset's page."""
    pages: dict[str, list[str]] = {}
    for page, endpoint, tier in rows:
        paid = "" if tier == "Free" else f" ({tier})"
        pages.setdefault(page, []).append(f"`{endpoint}`{paid}")
    if not pages:
        return ""
    lines = [
        f"[{page}](https://docs.gitlab.com/{page}/): {', '.join(endpoints)}\n"
        for page, endpoints in pages.items()
    ]
    said = "What GitLab documents on the pages of these tools, and no action reaches yet:\n"
    return "\n".join(["## Left out for now\n", said, *lines])


def _homes(toolsets: dict[str, list[Tool]]) -> dict[str, str]:
    citing: dict[str, dict[str, int]] = {}
    for name, tools in toolsets.items():
        for tool in tools:
            for action in tool.actions.values():
                page = action.spec.docs.partition("#")[0].rstrip("/")
                counts = citing.setdefault(page, {})
                counts[name] = counts.get(name, 0) + 1
    return {page: max(counts, key=lambda name: counts[name]) for page, counts in citing.items()}


def _shape(endpoint: str) -> str:
    """Whatever its placeholders are called."""
    return re.sub(r"[:*]\w+|\{\w+\}", ":", endpoint.replace("(-/)", ""))

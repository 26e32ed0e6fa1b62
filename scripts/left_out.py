"""Which documented endpoints no action reaches yet, by the pages that document a toolset's actions."""

from __future__ import annotations

from collections.abc import Iterable

from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.api.endpoints import every, find, normalised


def left_out(toolsets: dict[str, list[Tool]]) -> dict[str, list[tuple[str, str, str | None]]]:
    """For each toolset the rows (page, endpoint, tier); a page belongs to the toolset that cites it most."""
    reached = {
        normalised(str(endpoint))
        for tools in toolsets.values()
        for tool in tools
        for action in tool.actions.values()
        for endpoint in action.spec.endpoints
    }
    home = _homes(toolsets)
    found: dict[str, list[tuple[str, str, str | None]]] = {name: [] for name in toolsets}
    for known in every():
        for told in known.documented:
            if told.page in home and normalised(known.endpoint) not in reached:
                found[home[told.page]].append((told.page, told.endpoint, told.tier))
    return {name: sorted(set(rows)) for name, rows in found.items()}


def section(rows: Iterable[tuple[str, str, str | None]]) -> str:
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
    said = "What GitLab documents on the pages of these tools and no action reaches. [Rows](rows.md) do:\n"
    return "\n".join(["## Left out for now\n", said, *lines])


def _homes(toolsets: dict[str, list[Tool]]) -> dict[str, str]:
    citing: dict[str, dict[str, int]] = {}
    for name, tools in toolsets.items():
        for tool in tools:
            for action in tool.actions.values():
                told = (find(str(endpoint)) for endpoint in action.spec.endpoints)
                pages = {known.documented[0].page for known in told if known and known.documented}
                for page in {action.spec.docs.partition("#")[0].rstrip("/"), *pages}:
                    counts = citing.setdefault(page, {})
                    counts[name] = counts.get(name, 0) + 1
    return {page: max(counts, key=lambda name: counts[name]) for page, counts in citing.items()}

"""`gitlab-mcp tools`: lists every action, as a table or as JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from gitlab_mcp.actions.toolsets import TOOLSETS
from gitlab_mcp.cli import exit_codes
from gitlab_mcp.cli.terminal import table, write_json, write_line
from gitlab_mcp.cli.usage_error import no_such

if TYPE_CHECKING:
    from gitlab_mcp.tiers.feature_map import TierMap


class InTables(NamedTuple):
    """What tables say of an action of a tool. They leave rows out."""

    tool: str
    action: str
    danger: str
    required: str
    summary: str
    tier: str
    feature: str
    more: str
    """Its places and fields that need a higher tier."""


def show_tools(
    toolsets: Sequence[str] = ("all",), *, as_json: bool, with_tiers: bool, own: TierMap | None = None
) -> int:
    """`with_tiers`: also the tier that each action needs; `own`: by the operator's map."""
    there = [*TOOLSETS, "all"]
    for name in toolsets:
        if name not in there:
            raise no_such("toolset", name, there, f"Use one of {', '.join(there)}.")
    wanted = [name for name in TOOLSETS if name in toolsets or "all" in toolsets]
    if as_json:
        _print_json((_lines("json", name, own) for name in wanted), with_tiers=with_tiers)
        return exit_codes.OK
    actions = [InTables(*line.split("\t")) for name in wanted for line in _lines("tables", name, own)]
    if with_tiers:
        paid = [[each.tool, each.action, each.tier, each.feature, each.more] for each in actions]
        write_line(table(paid, ["TOOL", "ACTION", "TIER", "FEATURE", "MORE"]))
    else:
        rows = [[each.tool, each.action, each.danger, each.required, each.summary] for each in actions]
        write_line(table(rows, ["TOOL", "ACTION", "DANGER", "REQUIRED", "DESCRIPTION"]))
    return exit_codes.OK


def _print_json(toolsets: Iterable[Iterable[str]], *, with_tiers: bool) -> None:
    """The lines of each toolset. They are JSON already: reading them, to write them again, would take as long as the
    rest."""
    joined = (
        ", ".join(line.replace("}\t{", ", ") if with_tiers else line.partition("\t")[0] for line in lines)
        for lines in toolsets
    )
    if sys.stdout.isatty():
        write_json(json.loads(f"[{', '.join(joined)}]"))
        return
    separator = "["
    for text in joined:
        sys.stdout.write(separator + text)
        separator = ", "
    sys.stdout.write("]\n")


def show_coverage(*, as_json: bool) -> int:
    """How much of GitLab's API can be called."""
    from gitlab_mcp.api.coverage import coverage

    actions = (json.loads(line.partition("\t")[0]) for name in TOOLSETS for line in _lines("json", name))
    found = coverage(each for action in actions if not action["row"] for each in action["endpoints"])
    if as_json:
        write_json(found.as_json())
        return exit_codes.OK
    counts = found.counts
    pages = [
        [page, *(str(of_page[kind] or "") for kind in ("curated", "data", "excluded"))]
        for page, of_page in sorted(found.pages.items())
    ]
    write_line(table(pages, ["PAGE OF THE DOCUMENTATION", "CURATED", "BY DATA", "EXCLUDED"]))
    groups = [[name, str(found.in_group[name]), because] for name, because in sorted(found.groups.items())]
    write_line()
    write_line(table(groups, ["EXCLUDED", "OPERATIONS", "BECAUSE"]))
    write_line(
        f"\n{found.reached} of {counts.total()} operations are reached: {counts['curated']} curated, "
        f"{counts['data']} by data. {counts['excluded']} are excluded."
    )
    return exit_codes.OK


def _lines(of: str, toolset: str, own: TierMap | None = None) -> Iterable[str]:
    """`tables` or `json`, as packaged; made anew where the operator has a map of tiers."""
    if own is None:
        packaged = Path(__file__).parent / "actions" / of / f"{toolset}.tsv"
        return packaged.read_text("utf-8").splitlines()
    from gitlab_mcp.cli.described_actions import as_json, for_tables

    return (for_tables if of == "tables" else as_json)(toolset, own)

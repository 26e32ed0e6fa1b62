"""Which tools there are. A tool's module is imported when the tool is first called, never before."""

from __future__ import annotations

import importlib
import json
import pkgutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gitlab_mcp.actions.action_name import ActionName, row_names
from gitlab_mcp.actions.toolsets import CORE, TOOLSETS, is_listed

if TYPE_CHECKING:
    from gitlab_mcp.actions.action import Action
    from gitlab_mcp.actions.tool import Tool
    from gitlab_mcp.api.rows import Row

TOOLS_PACKAGE = "gitlab_mcp.tools"
ROWS_PACKAGE = "gitlab_mcp.rows"
"""Its `tool_of` makes the tool of a noun of rows."""


class Registry:
    """The catalogue as generated, and behind it the modules that declare it.

    What no tool has an action for is a row: `project_badge create`. Rows are called as actions are, and are in no
    listing: `names`, `actions` and `in` know only tools. Nothing is read of them before one is asked for by name.
    """

    def __init__(self, entries: Iterable[Mapping[str, Any]] | None = None) -> None:
        self._entries = {entry["tool"]["name"]: entry for entry in (entries or _generated())}
        self._tools: dict[str, Tool] = {}
        self._moved = {
            (old["tool"], old["action"]): (name, action)
            for name, entry in self._entries.items()
            for action, before in entry.get("moved", {}).items()
            for old in before
        }

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def names(self) -> list[str]:
        return list(self._entries)

    def also(self, name: str) -> list[str]:
        """Other words for what a tool is about, without loading it."""
        return list(self._entries[name].get("also", ()))

    def action_names(self, name: str) -> list[str]:
        """The actions of a tool, without loading it."""
        entry = self._entries[name]
        single = entry.get("action")
        return [single] if single else list(entry["tool"]["inputSchema"]["properties"]["action"]["enum"])

    def is_single(self, name: str) -> bool:
        """Whether a tool has one action, which its calls do not name, without loading it."""
        return name in self and "action" in self._entries[name]

    def listed_fields(self, name: str) -> Mapping[str, Mapping[str, Any]]:
        """The fields that a tool lists, as JSON Schema, without loading it. What is not listed has none."""
        fields: Mapping[str, Mapping[str, Any]] = (
            self._entries[name]["tool"]["inputSchema"]["properties"] if name in self else {}
        )
        return fields

    def has_field(self, name: str, field: str) -> bool:
        """Whether a tool lists this field, without loading it."""
        return field in self.listed_fields(name)

    def toolsets(self) -> list[str]:
        """Those that hold tools, in the fixed order. `admin` may hold rows alone."""
        held = {entry["toolset"] for entry in self._entries.values()}
        return [toolset for toolset in TOOLSETS if toolset in held]

    def toolset_of(self, name: str) -> str:
        """Of a tool, or of a noun of rows, without loading it."""
        if name not in self:
            return next(row.toolset for row in _nouns()[name].values())
        toolset: str = self._entries[name]["toolset"]
        return toolset

    def moved_to(self, name: str, action: str) -> tuple[str, str] | None:
        """The tool and the action that this action of a tool is now, where it moved."""
        return self._moved.get((name, action))

    def moved_actions(self, name: str) -> list[str]:
        """The actions that a tool once had."""
        return [action for tool, action in self._moved if tool == name]

    def listing(self, toolsets: Iterable[str]) -> list[dict[str, Any]]:
        """What `tools/list` answers for these toolsets, in the fixed order."""
        chosen = set(toolsets)
        return [entry["tool"] for entry in self._entries.values() if is_listed(entry["toolset"], chosen)]

    def every_name(self) -> list[tuple[ActionName, ...]]:
        """The names of each action, the present one first, without loading any."""
        return [
            (
                ActionName(name, action, entry["toolset"]),
                *(
                    ActionName(old["tool"], old["action"], CORE)
                    for old in entry.get("moved", {}).get(action, ())
                ),
            )
            for name, entry in self._entries.items()
            for action in self.action_names(name)
        ]

    def names_of_actions(self, tool: str) -> list[ActionName]:
        """Every name of every action of a tool, the former ones too, without loading it."""
        if tool not in self:
            return [name for names in self.row_names() if names[0].tool == tool for name in names]
        return [name for names in self.every_name() if names[0].tool == tool for name in names]

    def has_row(self, noun: str, verb: object) -> bool:
        """Whether there is a row of this name, without making it an action."""
        return noun not in self and str(verb) in _nouns().get(noun, ())

    def is_noun(self, name: str) -> bool:
        """Whether there are rows of this noun."""
        return name not in self and name in _nouns()

    def rows(self) -> Mapping[str, Row]:
        """All rows, by name: `project_badge.create`."""
        from gitlab_mcp.api.rows import all_rows

        return all_rows()

    def rows_of(self, toolset: str = "all") -> list[type[Action]]:
        """Rows as actions, in the order of names."""
        rows = (row for row in self.rows().values() if toolset in ("all", row.toolset))
        return [self.tool(row.noun).actions[row.verb] for row in rows]

    def row_names(self) -> list[tuple[ActionName, ...]]:
        """The names of each row by which settings name it."""
        return [
            row_names(row.noun, row.verb, row.toolset, row.danger != "read") for row in self.rows().values()
        ]

    def tool(self, name: str) -> Tool:
        """The tool; of a noun of rows the one that is never listed."""
        if name not in self._tools:
            self._tools[name] = _imported(name) if name in self else _of_rows(name)
        return self._tools[name]

    def action(self, name: str, action: object) -> type[Action] | None:
        """None where there is no such action, and no such row."""
        if not (name in self or self.has_row(name, action)):
            return None
        single = self.action_names(name)[0] if self.is_single(name) else None
        return self.tool(name).actions.get(single or str(action))

    def writes(self, name: str, action: object) -> bool:
        """Whether this may be an action that writes. An action under another name is one where its tool writes."""
        found = self.action(name, action)
        return found.spec.writes if found else name in self and not self.tool(name).reads

    def actions(self, toolset: str = "all") -> list[type[Action]]:
        names = [name for name, entry in self._entries.items() if toolset in ("all", entry["toolset"])]
        return [action for name in names for action in self.tool(name).actions.values()]


def _generated() -> list[dict[str, Any]]:
    # importlib.resources takes as long to import as everything else that lists tools.
    text = Path(__file__).parent.with_name("catalogue.json").read_text("utf-8")
    entries: list[dict[str, Any]] = json.loads(text)
    return entries


def declared() -> list[Tool]:
    """Every tool, in the order of the listing: by toolset, then by noun, reading before writing."""
    package = importlib.import_module(TOOLS_PACKAGE)
    tools = [_imported(module.name) for module in pkgutil.iter_modules(package.__path__)]
    return sorted(tools, key=lambda tool: (TOOLSETS.index(tool.toolset), _noun_stem(tool.name), tool.name))


def _noun_stem(name: str) -> str:
    """The noun of a tool without its plural ending: of `browse_branches` and `manage_branch`, `branch`."""
    return name.partition("_")[2].rstrip("iesy") or name


def _nouns() -> Mapping[str, Mapping[str, Row]]:
    # Here, not above: who lists tools needs none of it.
    from gitlab_mcp.api.rows import rows_by_noun

    return rows_by_noun()


def _of_rows(noun: str) -> Tool:
    tool: Tool = importlib.import_module(ROWS_PACKAGE).tool_of(noun)
    return tool


def _imported(name: str) -> Tool:
    """The one tool of the module that has its name."""
    from gitlab_mcp.actions.tool import Tool

    module = importlib.import_module(f"{TOOLS_PACKAGE}.{name}")
    [tool] = [value for value in vars(module).values() if isinstance(value, Tool)]
    return tool

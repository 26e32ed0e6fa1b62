"""The pages of docs/reference/ that are printed from the code."""

from __future__ import annotations

from collections.abc import Iterable

from gitlab_mcp.core.action import Action
from gitlab_mcp.core.call import Options
from gitlab_mcp.core.fields import Needs
from gitlab_mcp.core.schema import required_fields
from gitlab_mcp.core.shape import Shape, shapes
from gitlab_mcp.core.tool import Tool
from gitlab_mcp.errors.catalogue import CODES
from gitlab_mcp.errors.tiers import TierMap

PRINTED = "<!-- Printed from the code by `make docs`. Edit the declaration, not this page. -->\n\n"


def tools_page(toolset: str, tools: list[Tool], tiers: TierMap) -> str:
    parts = [f"# The {toolset} toolset\n"]
    for tool in tools:
        parts.append(f"## {tool.name}\n\n{tool.about}\n")
        parts.append(_table(("action", "what it does", "needs", "danger", "tier", "role"), _actions(tool, tiers)))
        parts.append(_table(("field", "type", "for"), _fields(tool)))
        for name, action in tool.actions.items():
            endpoints = "<br>".join(f"`{endpoint}`" for endpoint in action.spec.endpoints)
            parts.append(f"`{name}`: {endpoints} ([GitLab's page](https://docs.gitlab.com/{action.spec.docs}))<br>")
        parts.append("")
    return PRINTED + "\n".join(parts)


def index_page(toolsets: dict[str, list[Tool]]) -> str:
    options = _table(("field", "type"), ((f"`{name}`", _type(shape)) for name, shape in shapes(Options).items()))
    return (
        PRINTED
        + "# Tools\n\n"
        + tool_table(toolsets, "")
        + "\nEvery action also takes these fields:\n\n"
        + options
    )


def tool_table(toolsets: dict[str, list[Tool]], folder: str) -> str:
    """For the index, and for the README."""
    rows = (
        (f"[{toolset}]({folder}{toolset}.md)", f"`{tool.name}`", ", ".join(tool.actions))
        for toolset, tools in toolsets.items()
        for tool in tools
    )
    return _table(("toolset", "tool", "actions"), rows)


def errors_page() -> str:
    rows = (
        (f"`{code.name}`", code.title, str(code.status), code.recovery.value, code.agent, code.person)
        for code in CODES.values()
    )
    head = ("code", "what happened", "status", "try again", "the agent", "the person")
    return PRINTED + "# Errors\n\n" + _table(head, rows)


def _actions(tool: Tool, tiers: TierMap) -> Iterable[tuple[str, ...]]:
    for name, action in tool.actions.items():
        spec = action.spec
        yield (
            f"`{name}`",
            (action.__doc__ or "").strip().splitlines()[0],
            ", ".join(field.replace("|", " or ") for field in required_fields(action)),
            spec.danger.value,
            tiers[spec.feature].tier if spec.feature else "Free",
            spec.role.name.lower() if spec.role else "",
        )


def _fields(tool: Tool) -> Iterable[tuple[str, ...]]:
    users: dict[str, list[type[Action]]] = {}
    for action in tool.actions.values():
        for name in shapes(action):
            users.setdefault(name, []).append(action)
    for name, actions in users.items():
        shape = shapes(actions[0])[name]
        paid = shape.mark(Needs)
        note = f" (needs `{paid.feature}`)" if paid else ""
        names = [action.spec.name for action in actions]
        yield f"`{name}`", _type(shape) + note, "all" if len(names) == len(tool.actions) else ", ".join(names)


def _type(shape: Shape) -> str:
    return shape.expects + (f". {shape.description}" if shape.description else "")


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)

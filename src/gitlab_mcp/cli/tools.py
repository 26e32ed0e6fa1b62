"""`gitlab-mcp tools`: every action there is, for people and for programs."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

from gitlab_mcp.actions.action import Action
from gitlab_mcp.actions.fields import Needs
from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.actions.schema import required_fields
from gitlab_mcp.actions.shape import Shape, shapes
from gitlab_mcp.cli import exits
from gitlab_mcp.cli.screen import say, say_json, table
from gitlab_mcp.cli.usage import no_such
from gitlab_mcp.tiers.feature_map import TierMap
from gitlab_mcp.tiers.requirements import requirements_of_action


def show_tools(toolsets: Sequence[str] = ("all",), *, as_json: bool, tiers: TierMap | None = None) -> int:
    """With `tiers` what each action costs is said too."""
    registry = Registry()
    there = [*registry.toolsets(), "all"]
    for name in toolsets:
        if name not in there:
            raise no_such("toolset", name, there, f"Use one of {', '.join(there)}.")
    wanted = ["all"] if "all" in toolsets else [name for name in there if name in toolsets]
    actions = [action for name in wanted for action in registry.actions(name)]
    if as_json:
        say_json([{**described(action), **(_priced(action, tiers) if tiers else {})} for action in actions])
        return exits.OK
    if tiers:
        say(
            table(
                [_price(action, tiers) for action in actions], ["TOOL", "ACTION", "TIER", "FEATURE", "MORE"]
            )
        )
        return exits.OK
    rows = [
        [
            action.spec.tool.name,
            action.spec.name,
            action.spec.danger.value,
            ", ".join(required_fields(action)),
            _summary(action),
        ]
        for action in actions
    ]
    say(table(rows, ["TOOL", "ACTION", "DANGER", "REQUIRED", "DESCRIPTION"]))
    return exits.OK


def described(action: type[Action]) -> dict[str, Any]:
    """One action of `tools --json`; its keys are a public interface."""
    spec = action.spec
    return {
        "tool": spec.tool.name,
        "action": spec.name,
        "description": inspect.cleandoc(action.__doc__ or ""),
        "endpoints": [str(endpoint) for endpoint in spec.endpoints],
        "required": required_fields(action),
        "fields": {name: _field(shape) for name, shape in shapes(action).items()},
        "danger": spec.danger.value,
        "feature": spec.feature,
        "switch": spec.switch,
        "role": spec.role.name.lower() if spec.role else None,
        "toolset": spec.tool.toolset,
    }


def _priced(action: type[Action], tiers: TierMap) -> dict[str, Any]:
    price = requirements_of_action(action, tiers)
    return {
        "tier": price.tier,
        "paid_places": price.above(price.by_path_field),
        "paid_fields": price.above(price.by_field),
    }


def _price(action: type[Action], tiers: TierMap) -> list[str]:
    price = requirements_of_action(action, tiers)
    more = price.above(price.by_path_field) | price.above(price.by_field)
    return [
        action.spec.tool.name,
        action.spec.name,
        price.tier,
        price.feature.name if price.feature else "",
        ", ".join(f"{name}: {tier}" for name, tier in more.items()),
    ]


def _field(shape: Shape) -> dict[str, Any]:
    field: dict[str, Any] = {"type": shape.type, "required": shape.required}
    if shape.values:
        field["values"] = list(shape.values)
    if shape.description:
        field["description"] = shape.description
    if needs := shape.mark(Needs):
        field["feature"] = needs.feature
    return field


def _summary(action: type[Action]) -> str:
    return inspect.cleandoc(action.__doc__ or "").partition("\n")[0]

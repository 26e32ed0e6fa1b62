"""`gitlab-mcp tools`: lists every action, as a table or as JSON."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

from gitlab_mcp.actions.action import Action
from gitlab_mcp.actions.fields import Needs
from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.actions.schema import required_fields
from gitlab_mcp.actions.shape import Shape, shapes
from gitlab_mcp.actions.toolsets import TOOLSETS
from gitlab_mcp.cli import exit_codes
from gitlab_mcp.cli.terminal import table, write_json, write_line
from gitlab_mcp.cli.usage_error import no_such
from gitlab_mcp.tiers.feature_map import TierMap
from gitlab_mcp.tiers.requirements import requirements_of_action


def show_tools(toolsets: Sequence[str] = ("all",), *, as_json: bool, tiers: TierMap | None = None) -> int:
    """With `tiers`, also the tier that each action needs."""
    registry = Registry()
    there = [*TOOLSETS, "all"]
    for name in toolsets:
        if name not in there:
            raise no_such("toolset", name, there, f"Use one of {', '.join(there)}.")
    wanted = ["all"] if "all" in toolsets else [name for name in there if name in toolsets]
    actions = [action for name in wanted for action in registry.actions(name)]
    if as_json:
        of_data = [row for name in wanted for row in registry.rows_of(name)]
        write_json(
            [
                {**_described(action), **(_paid_json(action, tiers) if tiers else {})}
                for action in [*actions, *of_data]
            ]
        )
        return exit_codes.OK
    if tiers:
        write_line(
            table(
                [_paid_row(action, tiers) for action in actions],
                ["TOOL", "ACTION", "TIER", "FEATURE", "MORE"],
            )
        )
        return exit_codes.OK
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
    write_line(table(rows, ["TOOL", "ACTION", "DANGER", "REQUIRED", "DESCRIPTION"]))
    return exit_codes.OK


def show_coverage(*, as_json: bool) -> int:
    """How much of GitLab's API can be called."""
    from gitlab_mcp.api.coverage import coverage

    actions = Registry().actions()
    found = coverage(str(endpoint) for action in actions for endpoint in action.spec.endpoints)
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


def _described(action: type[Action]) -> dict[str, Any]:
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
        "row": spec.tool.of_rows,
        "former_names": [
            {"tool": tool, "action": name, "until": spec.moved_until} for tool, name in spec.moved_from
        ],
        "permissions": {
            endpoint: {"permissions": list(needs.permissions), "boundaries": list(needs.boundaries)}
            for endpoint, needs in spec.token_needs.items()
            if needs.permissions
        },
        "job_token": [endpoint for endpoint, needs in spec.token_needs.items() if needs.job_token],
    }


def _paid_json(action: type[Action], tiers: TierMap) -> dict[str, Any]:
    requirements = requirements_of_action(action, tiers)
    return {
        "tier": requirements.tier,
        "paid_places": requirements.above(requirements.by_path_field),
        "paid_fields": requirements.above(requirements.by_field),
    }


def _paid_row(action: type[Action], tiers: TierMap) -> list[str]:
    requirements = requirements_of_action(action, tiers)
    more = requirements.above(requirements.by_path_field) | requirements.above(requirements.by_field)
    return [
        action.spec.tool.name,
        action.spec.name,
        requirements.tier,
        requirements.feature.name if requirements.feature else "",
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

"""What `gitlab-mcp tools` says of actions. `make docs` writes it into `cli/actions/`, so that showing it imports no
tool."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from typing import Any

from gitlab_mcp.actions.action import Action
from gitlab_mcp.actions.fields import Needs
from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.actions.schema import required_fields
from gitlab_mcp.actions.shape import Shape, shapes
from gitlab_mcp.cli.tools import InTables
from gitlab_mcp.tiers.feature_map import TierMap
from gitlab_mcp.tiers.requirements import requirements_of_action


def for_tables(toolset: str, tiers: TierMap) -> Iterator[str]:
    """The actions of tools, as lines of `InTables`."""
    for action in Registry().actions(toolset):
        spec, paid = action.spec, _tiers(action, tiers)
        more = paid["paid_places"] | paid["paid_fields"]
        yield "\t".join(
            InTables(
                tool=spec.tool.name,
                action=spec.name,
                danger=spec.danger.value,
                required=", ".join(required_fields(action)),
                summary=inspect.cleandoc(action.__doc__ or "").partition("\n")[0],
                tier=paid["tier"],
                feature=paid["feature_name"] or "",
                more=", ".join(f"{name}: {tier}" for name, tier in more.items()),
            )
        )


def as_json(toolset: str, tiers: TierMap) -> Iterator[str]:
    """The actions of tools, then the rows: what `--json` prints of each, a tab, and what `--tiers` adds."""
    registry = Registry()
    for action in [*registry.actions(toolset), *registry.rows_of(toolset)]:
        yield f"{json.dumps(_described(action))}\t{json.dumps(_tiers(action, tiers))}"


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


def _tiers(action: type[Action], tiers: TierMap) -> dict[str, Any]:
    requirements = requirements_of_action(action, tiers)
    return {
        "tier": requirements.tier,
        "feature_name": requirements.feature.name if requirements.feature else None,
        "paid_places": requirements.above(requirements.by_path_field),
        "paid_fields": requirements.above(requirements.by_field),
    }


def _field(shape: Shape) -> dict[str, Any]:
    field: dict[str, Any] = {"type": shape.type, "required": shape.required}
    if shape.values:
        field["values"] = list(shape.values)
    if shape.description:
        field["description"] = shape.description
    if needs := shape.mark(Needs):
        field["feature"] = needs.feature
    return field

"""What GitLab leaves out of a list by default is named in the answer."""

from __future__ import annotations

from gitlab_mcp.actions.action import Action
from gitlab_mcp.actions.narrowing_defaults import NARROWING_DEFAULTS
from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.api.endpoints import find
from tests.support.for_each import for_each

LISTS = [action for action in Registry().actions() if action.spec.lists and not action.spec.writes]
NARROWS_NOTHING = {
    "include_ancestor_groups": "what belongs to the groups above is not of this group",
    "include_descendant_groups": "what belongs to the groups below is not of this group",
    "include_descendants": "what belongs to the groups below is not of this group",
    "include_hidden": "only administrators see them",
}
"""Defaults of GitLab that look as if they did, and why they are not named."""
NAMED_BY_THE_SCOPE = ("/issues", "/merge_requests")
"""Their scope depends on what else is given."""


def name_of(action: type[Action]) -> str:
    return f"{action.spec.tool.name} {action.spec.name}"


@for_each(LISTS, name_of)
def test_a_default_that_leaves_something_out_is_known(action: type[Action]) -> None:
    for endpoint in action.spec.endpoints:
        known = find(str(endpoint))
        for name, parameter in ((known.parameters if known else None) or {}).items():
            default = parameter.default
            hides = (
                (name.startswith("include_") and default is False)
                or (name.startswith("non_") and default is True)
                or (name in ("scope", "state", "source") and default not in (None, "all"))
            )
            if not hides or name in NARROWS_NOTHING:
                continue
            if name == "scope" and endpoint.path in NAMED_BY_THE_SCOPE:
                continue
            assert name in NARROWING_DEFAULTS.get(endpoint.path, {}), f"{name} of {endpoint}"


def test_the_defaults_that_are_named_are_gitlabs() -> None:
    for path, defaults in NARROWING_DEFAULTS.items():
        known = find(f"GET {path}")
        assert known and known.parameters
        for name, value in defaults.items():
            default = known.parameters[name].default
            assert default is None or str(default).lower() in value, f"{name} of {path}"

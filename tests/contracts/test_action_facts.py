"""An action says of docs, switch, feature and role only what its endpoints do not, and why where they say otherwise."""

from __future__ import annotations

from gitlab_mcp.actions.action import Role
from gitlab_mcp.actions.action_facts import Differs, all_facts, facts_of
from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.api.derivation import FACTS, derived
from gitlab_mcp.tiers.feature_map import tier_map

REGISTRY = Registry()
FEATURES = tier_map().paid_endpoints()


def test_no_action_repeats_or_contradicts_its_endpoints_without_a_reason() -> None:
    wrong = []
    for action in REGISTRY.actions():
        known = derived([*map(str, action.spec.endpoints)], FEATURES)
        for fact, said in action.spec.own_facts.items():
            where = f"{action.spec.tool.name} {action.spec.name}: {fact}"
            value = said.value if isinstance(said, Differs) else said
            value = value.name.lower() if isinstance(value, Role) else value
            if fact not in known and isinstance(said, Differs):
                wrong.append(f"{where}: nothing is known to differ from, say it plainly")
            elif fact in known and value == known[fact]:
                wrong.append(f"{where}: is looked up, leave it out")
            elif fact in known and not isinstance(said, Differs):
                wrong.append(f"{where}: {known[fact]} is looked up, say why it Differs")
    assert wrong == []


def test_a_reason_is_given_for_every_difference() -> None:
    for action in REGISTRY.actions():
        assert all(each.because for each in action.spec.own_facts.values() if isinstance(each, Differs))


def test_what_was_looked_up_is_of_actions_that_there_are() -> None:
    for tool, actions in all_facts().items():
        assert facts_of(tool) == actions
        assert actions.keys() == REGISTRY.tool(tool).actions.keys()
        assert all(facts.keys() <= {*FACTS} for facts in actions.values())

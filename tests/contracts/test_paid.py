"""What GitLab sells is declared as sold: a refusal without a reason must find the feature behind it."""

from __future__ import annotations

import re
from typing import Any

import pytest

from gitlab_mcp.actions.action import Action, Endpoint
from gitlab_mcp.actions.fields import Needs
from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.actions.shape import shapes
from gitlab_mcp.api.endpoints import every, normalised
from gitlab_mcp.tiers.feature_map import rank, tier_map

ACTIONS = Registry().actions()
TIERS = tier_map()


# An endpoint documented twice, once as free, is free.
DOCUMENTED = {
    normalised(known.endpoint): min((told.tier or "Free" for told in known.documented), key=rank)
    for known in every()
    if known.documented
}
MAPPED = {
    normalised(endpoint): feature for feature in TIERS.features.values() for endpoint in feature.endpoints
}


def name_of(action: type[Action]) -> str:
    return f"{action.spec.tool.name} {action.spec.name}"


def declared(action: type[Action], endpoint: Endpoint) -> str | None:
    """The feature behind a call of this endpoint: that of the place, else that of the action."""
    marks = (shapes(action)[name].mark(Needs) for name in endpoint.placeholders)
    places = [mark.feature for mark in marks if mark is not None]
    return places[-1] if places else action.spec.feature


def tier_in_the_facts(endpoint: Endpoint) -> str:
    known = normalised(str(endpoint))
    if known in MAPPED:
        # The map was held against running instances; pages lag behind.
        return MAPPED[known].tier_in("18.9")
    return DOCUMENTED.get(known, "Free")


CALLS = [
    pytest.param(action, endpoint, id=f"{name_of(action)}: {endpoint}")
    for action in ACTIONS
    for endpoint in action.spec.endpoints
    if endpoint.path != "/graphql"
]


@pytest.mark.parametrize(("action", "endpoint"), CALLS)
def test_a_paid_endpoint_declares_its_feature_and_a_free_one_none(
    action: type[Action], endpoint: Endpoint
) -> None:
    tier = tier_in_the_facts(endpoint)
    feature = declared(action, endpoint)
    if tier != "Free":
        assert feature is not None, f"{endpoint} is {tier}"
    elif feature is not None and normalised(str(endpoint)) in DOCUMENTED:
        # A free endpoint may be paid with one value: the search of a group, for code.
        with_a_value = {normalised(each) for each in TIERS[feature].parameters}
        assert TIERS[feature].tier_in("18.9") == "Free" or normalised(str(endpoint)) in with_a_value


@pytest.mark.parametrize(("action", "endpoint"), CALLS)
def test_the_feature_is_the_one_that_has_the_endpoint(action: type[Action], endpoint: Endpoint) -> None:
    feature = declared(action, endpoint)
    mapped = MAPPED.get(normalised(str(endpoint)))
    if feature is not None and mapped is not None:
        assert TIERS[feature].name == mapped.name


@pytest.mark.parametrize("action", ACTIONS, ids=name_of)
def test_every_declared_feature_is_in_the_map(action: type[Action]) -> None:
    marks: list[Any] = [shape.mark(Needs) for shape in shapes(action).values()]
    for key in (action.spec.feature, *(mark.feature for mark in marks if mark)):
        assert key is None or key in TIERS.features


def test_a_tool_whose_every_action_is_paid_says_so() -> None:
    """An agent that reads the listing should know before it calls."""
    silent = [
        tool.name
        for tool in {action.spec.tool for action in ACTIONS}
        if all(action.spec.feature for action in tool.actions.values())
        and not re.search("Premium|Ultimate", tool.about)
    ]
    assert silent == []

"""What GitLab sells is declared as sold: a refusal without a reason must find the feature behind it."""

from __future__ import annotations

import re

from gitlab_mcp.actions.action import Action, Endpoint
from gitlab_mcp.actions.fields import Needs
from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.actions.shape import shapes
from gitlab_mcp.api.endpoints import every, normalised
from gitlab_mcp.tiers.feature_map import rank, tier_map
from gitlab_mcp.tiers.requirements import requirements_of_action
from tests.support.for_each import for_each

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


Call = tuple[type[Action], Endpoint]
CALLS: list[Call] = [
    (action, endpoint)
    for action in ACTIONS
    for endpoint in action.spec.endpoints
    if endpoint.path != "/graphql"
]


def call_name(call: Call) -> str:
    return f"{name_of(call[0])}: {call[1]}"


@for_each([call for call in CALLS if tier_in_the_facts(call[1]) != "Free"], call_name)
def test_a_paid_endpoint_declares_its_feature(call: Call) -> None:
    assert declared(*call) is not None, tier_in_the_facts(call[1])


@for_each(
    [
        call
        for call in CALLS
        if tier_in_the_facts(call[1]) == "Free" and declared(*call) and normalised(str(call[1])) in DOCUMENTED
    ],
    call_name,
)
def test_a_free_endpoint_declares_a_feature_only_where_one_value_is_paid(call: Call) -> None:
    """As the search of a group is, for code."""
    feature = TIERS[declared(*call) or ""]
    with_a_value = {normalised(each) for each in feature.parameters}
    assert feature.tier_in("18.9") == "Free" or normalised(str(call[1])) in with_a_value


@for_each([call for call in CALLS if declared(*call) and normalised(str(call[1])) in MAPPED], call_name)
def test_the_feature_is_the_one_that_has_the_endpoint(call: Call) -> None:
    assert TIERS[declared(*call) or ""].name == MAPPED[normalised(str(call[1]))].name


def costs(action: type[Action]) -> bool:
    return requirements_of_action(action, TIERS).tier != "Free"


def test_a_tool_whose_every_action_is_paid_says_so() -> None:
    """An agent that reads the listing should know before it calls."""
    silent = [
        tool.name
        for tool in {action.spec.tool for action in ACTIONS}
        if all(action.spec.feature or costs(action) for action in tool.actions.values())
        and not re.search("Premium|Ultimate", tool.about)
    ]
    assert silent == []

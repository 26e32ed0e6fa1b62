"""What actions say of tiers, held against what GitLab documents and against the map."""

from __future__ import annotations

import re

from gitlab_mcp.actions.action import Action
from gitlab_mcp.actions.fields import Needs, Sent
from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.actions.shape import shapes
from gitlab_mcp.api.endpoints import every, normalised
from gitlab_mcp.tiers.feature_map import Feature, tier_map
from gitlab_mcp.tiers.requirements import requirements_of_action
from tests.support.facts import facts
from tests.support.for_each import for_each

REGISTRY = Registry()
ACTIONS = REGISTRY.actions()
FEATURES = tier_map().features
PAGES = {told.page for known in every() for told in known.documented}

NOT_ON_A_REST_PAGE = re.compile(
    r"^(user|ci|operations|security|administration|api/graphql|api/duo_agent_platform_flows)(/|$)"
)
"""Pages that describe no endpoint: the table of endpoints cannot know them."""

WAITED_FOR = {
    *("browse_boards", "browse_variables", "browse_packages", "browse_ci_config", "browse_members"),
    *("manage_member", "browse_access_tokens", "browse_deploy_access"),
}
"""Tools that alternatives name and nobody has written yet. Until then they are not offered."""


def name_of(action: type[Action]) -> str:
    return f"{action.spec.tool.name} {action.spec.name}"


PAID = {
    (normalised(endpoint), entry["attribute"])
    for entry in facts("parameter_tiers")
    for endpoint in entry["endpoints"]
}


def sent_as(action: type[Action], name: str) -> str:
    sent = shapes(action)[name].mark(Sent)
    return sent.name if sent else name


@for_each([action for action in ACTIONS if not action.spec.feature], name_of)
def test_a_field_that_gitlab_sells_says_which_feature_it_needs(action: type[Action]) -> None:
    endpoints = {normalised(str(endpoint)) for endpoint in action.spec.endpoints}
    unmarked = [
        name
        for name, shape in shapes(action).items()
        if not shape.mark(Needs) and any((each, sent_as(action, name)) in PAID for each in endpoints)
    ]
    assert unmarked == []


def features_of_fields(action: type[Action]) -> set[str]:
    return {mark.feature for shape in shapes(action).values() if (mark := shape.mark(Needs))}


@for_each([action for action in ACTIONS if action.spec.feature or features_of_fields(action)], name_of)
def test_a_feature_that_is_named_is_in_the_map(action: type[Action]) -> None:
    named = features_of_fields(action) | ({action.spec.feature} if action.spec.feature else set())
    assert named <= FEATURES.keys()


@for_each([action for action in ACTIONS if features_of_fields(action)], name_of)
def test_a_field_that_needs_a_feature_is_among_its_parameters(action: type[Action]) -> None:
    """So that whoever reads the map finds it there. A place that is paid as a whole is an endpoint of the feature."""
    places = {name for endpoint in action.spec.endpoints for name in endpoint.placeholders}
    for name, shape in shapes(action).items():
        if (mark := shape.mark(Needs)) and name not in places:
            known = FEATURES[mark.feature].parameters
            endpoints = {normalised(str(endpoint)) for endpoint in action.spec.endpoints}
            listed = {
                normalised(endpoint) for endpoint, names in known.items() if sent_as(action, name) in names
            }
            assert endpoints & listed, f"{mark.feature} does not list {name}"


@for_each([feature for feature in FEATURES.values() if feature.alternatives], lambda feature: feature.key)
def test_an_alternative_can_be_called_as_it_is_offered(feature: Feature) -> None:
    for alternative in feature.alternatives:
        tool, name = alternative.action.split(" ")
        if tool in WAITED_FOR:
            continue
        assert tool in REGISTRY, alternative.action
        assert name in REGISTRY.tool(tool).actions, alternative.action
        assert alternative.arguments.keys() <= shapes(REGISTRY.tool(tool).actions[name]).keys()


def test_a_tool_that_is_waited_for_is_not_there_yet() -> None:
    assert WAITED_FOR & set(REGISTRY.names()) == set(), "take it off the list"


@for_each(FEATURES.values(), lambda feature: feature.key)
def test_the_page_of_a_feature_is_one_of_gitlabs(feature: Feature) -> None:
    page = feature.docs.strip("/")
    assert page in PAGES or NOT_ON_A_REST_PAGE.match(page)


@for_each(REGISTRY.names())
def test_a_description_names_a_tier_only_where_the_map_does(tool: str) -> None:
    """Descriptions are written by hand; the tier in them must be one that some action of the tool needs."""
    declared = REGISTRY.tool(tool)
    prices = [requirements_of_action(action, tier_map()) for action in declared.actions.values()]
    needed = {feature.tier for price in prices for feature in price.features}
    needed |= {was.tier for price in prices for feature in price.features for was in feature.earlier}
    named = set(re.findall(r"Premium|Ultimate", declared.about))
    assert named <= needed | ENFORCED_ELSEWHERE.get(tool, set())


ENFORCED_ELSEWHERE = {"browse_code_owners": {"Premium"}}
"""The file is read on every tier; what only Premium does is said."""

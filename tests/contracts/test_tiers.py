"""What actions say of tiers, held against what GitLab documents and against the map."""

from __future__ import annotations

import re

from gitlab_mcp.actions.action import Action, Danger
from gitlab_mcp.actions.fields import Needs, SentAs
from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.actions.schema import required_fields
from gitlab_mcp.actions.shape import shapes
from gitlab_mcp.actions.toolsets import TOOLSETS
from gitlab_mcp.api.endpoints import every, find, normalised
from gitlab_mcp.policy.next_steps import callable_here
from gitlab_mcp.policy.offered_tools import OfferedTools
from gitlab_mcp.tiers.feature_map import Feature, tier_map
from gitlab_mcp.tiers.licensed_features import LicensedFeature
from gitlab_mcp.tiers.requirements import requirements_of_action
from tests.support.facts import facts
from tests.support.for_each import for_each
from tests.support.read_listing import said_of_field

REGISTRY = Registry()
ACTIONS = REGISTRY.actions()
FEATURES = tier_map().features
PAGES = {told.page for known in every() for told in known.documented}

NOT_ON_A_REST_PAGE = re.compile(
    r"^(user|ci|operations|security|administration|api/graphql|api/duo_agent_platform_flows)(/|$)"
)
"""Pages that describe no endpoint: the table of endpoints cannot know them."""


def name_of(action: type[Action]) -> str:
    return f"{action.spec.tool.name} {action.spec.name}"


PAID = {
    (normalised(endpoint), entry["attribute"])
    for entry in facts("parameter_tiers")
    for endpoint in entry["endpoints"]
}


def sent_as(action: type[Action], name: str) -> str:
    sent = shapes(action)[name].mark(SentAs)
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
        if alternative.action is None:
            continue
        tool, name = alternative.action.split(" ")
        assert tool in REGISTRY, alternative.action
        assert name in REGISTRY.tool(tool).actions, alternative.action
        action = REGISTRY.tool(tool).actions[name]
        assert alternative.arguments.keys() <= shapes(action).keys()
        for field in required_fields(action):
            assert any(alternative.arguments.keys() >= {choice} for choice in field.split("|")), field


@for_each(ACTIONS, name_of)
def test_whoever_lacks_the_tier_is_told_what_to_do_instead(action: type[Action]) -> None:
    """With the arguments of the action's own example, in each place that it takes."""
    tools = OfferedTools(REGISTRY, ("all",), None, True, False, Danger.DANGEROUS, ())
    for feature in requirements_of_action(action, tier_map(), "17.2").features:
        if feature.tier_in("17.2") == "Free" or feature.otherwise:
            continue
        others = {"project_id": "acme/website"} if "project_id" in action.spec.placeholders else {}
        if {"group_id"} == action.spec.placeholders & {"project_id", "group_id"}:
            others = {"group_id": "acme"}
        given = {**others, **action.spec.example}
        offered = callable_here({"alternatives": feature.alternatives_on("Free", given)}, tools)
        assert offered, feature.key


@for_each(FEATURES.values(), lambda feature: feature.key)
def test_the_page_of_a_feature_is_one_of_gitlabs(feature: Feature) -> None:
    page = feature.docs.strip("/")
    assert page in PAGES or NOT_ON_A_REST_PAGE.match(page)


@for_each(ACTIONS, name_of)
def test_the_page_of_an_action_is_one_of_gitlabs(action: type[Action]) -> None:
    page = action.spec.docs.partition("#")[0].strip("/")
    assert page in PAGES or NOT_ON_A_REST_PAGE.match(page), page


@for_each(ACTIONS, name_of)
def test_the_page_of_a_call_is_that_of_its_endpoint(action: type[Action]) -> None:
    for endpoint in action.spec.endpoints:
        known = find(str(endpoint))
        if "docs" not in action.spec.own_facts and known and known.docs:
            assert action.spec.docs_at(endpoint) == known.docs


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


LISTED = {tool["name"]: tool for tool in REGISTRY.listing(TOOLSETS)}


@for_each(ACTIONS, name_of)
def test_the_listing_says_which_actions_and_fields_cost_more_than_their_tool(action: type[Action]) -> None:
    tool, name = action.spec.tool, action.spec.name
    tiers = {requirements_of_action(each, tier_map()).tier for each in tool.actions.values()}
    requirements = requirements_of_action(action, tier_map())
    listed = LISTED[tool.name]
    if requirements.tier != "Free" and "Free" in tiers:
        feature = requirements.feature
        where = " on GitLab.com" if feature and feature.is_paid_on_gitlab_com_alone else ""
        marked = re.search(rf"{requirements.tier}{where}: [^.]*\b{name}\b", listed["description"])
        assert marked or requirements.tier in tool.about
    for field, tier in requirements.above(requirements.by_field).items():
        assert tier in said_of_field(listed, field), field
    for field, tier in requirements.above(requirements.by_path_field).items():
        assert tier in said_of_field(listed, field) or tier in tool.about, field


@for_each([feature for feature in FEATURES.values() if feature.licensed_as], lambda feature: feature.key)
def test_the_tier_of_a_feature_is_the_plan_that_gitlabs_code_sells_it_in(feature: Feature) -> None:
    assert feature.licensed_as in facts("graphql_19_3")["LicensedFeature"]["values"]
    plan = facts("licensed_plans")[feature.licensed_as]
    assert LicensedFeature(plan, available=False).tier == feature.tier

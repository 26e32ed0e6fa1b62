"""What every action declares holds together."""

from __future__ import annotations

import re

from gitlab_mcp.actions.action import Action, Danger
from gitlab_mcp.actions.arguments.defaults import InstanceDefaults
from gitlab_mcp.actions.arguments.problems import example_of
from gitlab_mcp.actions.arguments.validation import validate
from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.actions.shape import shapes
from gitlab_mcp.api.endpoints import every
from tests.support.for_each import for_each

REGISTRY = Registry()
HERE = InstanceDefaults("https://gitlab.example.com")
ACTIONS = REGISTRY.actions()


def name_of(action: type[Action]) -> str:
    return f"{action.spec.tool.name}.{action.spec.name}"


every_action = for_each(ACTIONS, name_of)


@for_each([action for action in ACTIONS if action.spec.endpoints], name_of)
def test_the_example_makes_a_request(action: type[Action]) -> None:
    request = validate(REGISTRY, action.spec.tool.name, example_of(action), HERE).action.request()
    assert request.method in {endpoint.method for endpoint in action.spec.endpoints}


@every_action
def test_every_placeholder_is_a_field(action: type[Action]) -> None:
    for endpoint in action.spec.endpoints:
        assert set(endpoint.placeholders) <= set(shapes(action)), endpoint


@every_action
def test_an_action_says_what_it_does_and_where_that_is_documented(action: type[Action]) -> None:
    assert action.__doc__ and action.__doc__.strip().endswith(".")
    assert re.fullmatch(r"(api|user|ci|administration|security)/[\w/.-]*/?(#[\w-]+)?", action.spec.docs)


def test_every_page_and_section_that_an_action_names_is_in_gitlabs_documentation() -> None:
    """Of the pages about the API, whose endpoints and the titles above them are known."""
    sections: dict[str, set[str]] = {}
    for known in every():
        for told in known.documented:
            sections.setdefault(f"{told.page}/", set()).add(told.anchor)
    strange = {}
    for action in ACTIONS:
        page, _, section = action.spec.docs.partition("#")
        there = page in sections and section in {"", *sections[page]}
        if page.startswith("api/") and not there:
            strange[name_of(action)] = action.spec.docs
    assert strange == {}, "name the section that has the endpoint, or the page alone"


@for_each([action for action in ACTIONS if action.spec.danger is Danger.READ], name_of)
def test_only_get_is_called_reading(action: type[Action]) -> None:
    methods = {endpoint.method for endpoint in action.spec.endpoints}
    by_post = bool(action.spec.endpoints) and action.spec.endpoints[0].path in READS_BY_POST
    assert methods <= {"GET", "POST"} if by_post else methods <= {"GET"}


READS_BY_POST = {"/graphql", "/projects/{project_id}/ci/lint"}


@every_action
def test_names_are_in_the_vocabulary_of_gitlab(action: type[Action]) -> None:
    assert re.fullmatch(r"[a-z][a-z_]{1,31}", action.spec.name)
    for field in shapes(action):
        assert re.fullmatch(r"[a-z][a-z0-9_]*", field)

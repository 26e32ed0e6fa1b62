"""Every GraphQL document is one that a real GitLab understands, in each version that was read."""

from __future__ import annotations

from itertools import product

import pytest

from gitlab_mcp.api.versions import READ
from gitlab_mcp.tiers.feature_map import tier_map
from gitlab_mcp.tiers.licensed_features import licence_question
from tests.support.facts import facts
from tests.support.for_each import for_each
from tests.support.graphql_documents import Checked, documents

SCHEMAS = {version: facts(f"graphql_{version.replace('.', '_')}") for version in READ}
DOCUMENTS = dict(documents())
FOR_EVERY_EDITION = {
    "tools.browse_analytics.PROJECT_FLOW",
    "workflows.inbox._MERGE_REQUESTS",
    *(
        name
        for name in DOCUMENTS
        if name.startswith("workflows.planning.work_items.")
        and not name.endswith((".PAID_WIDGETS", ".REORDER"))
    ),
}
"""What is asked where nobody has looked at the edition: one field that CE lacks would void the whole answer."""
SINCE = {"REORDER": "19.3"}
"""Documents that older versions refuse: who sends one has another for them."""


every_version = pytest.mark.parametrize("version", READ)


@for_each(product(READ, DOCUMENTS))
def test_a_document_asks_for_what_there_is(asked: tuple[str, str]) -> None:
    version, name = asked
    since = SINCE.get(name.rpartition(".")[2], READ[0])
    if READ.index(version) >= READ.index(since):
        assert Checked(DOCUMENTS[name], SCHEMAS[version]).problems == []


@for_each(product(READ, FOR_EVERY_EDITION))
def test_what_every_edition_is_asked_every_edition_has(asked: tuple[str, str]) -> None:
    version, name = asked
    assert Checked(DOCUMENTS[name], SCHEMAS[version]).ee_only == []


@every_version
def test_paid_documents_are_known_as_such(version: str) -> None:
    assert Checked(DOCUMENTS["tools.browse_analytics.PAID_PROJECT_FLOW"], SCHEMAS[version]).ee_only
    assert Checked(DOCUMENTS["tools.browse_vulnerabilities.VULNERABILITY"], SCHEMAS[version]).ee_only


@pytest.mark.parametrize("kind", ["project", "group"])
def test_what_is_asked_of_the_licence_the_newest_version_tells(kind: str) -> None:
    names = {feature.licensed_as for feature in tier_map().features.values() if feature.licensed_as}
    assert Checked(licence_question(kind, sorted(names)), SCHEMAS[READ[-1]]).problems == []


def test_documents_inside_mappings_are_found_too() -> None:
    assert {
        "tools.browse_vulnerabilities.LIST_QUERIES[project]",
        "tools.browse_vulnerabilities.LIST_QUERIES[group]",
    } <= set(DOCUMENTS)
    assert len(DOCUMENTS) > 10


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        ("query { nothing }", "no Query.nothing"),
        ("query { project { id } }", "needs fullPath"),
        ('query { project(fullPath: "a", colour: "b") { id } }', "no Query.project(colour)"),
        ('query { project(fullPath: "a") }', "what is to be shown"),
        ('query { project(fullPath: "a") { id { x } } }', "what is to be shown"),
        ("query($p: ID) { project(fullPath: $p) { id } }", "must be given"),
        ("query($p: Int!) { project(fullPath: $p) { id } }", "is ID!"),
        ("query($p: ID!, $q: Int) { project(fullPath: $p) { id } }", "$q is not used"),
        ("query($p: Nothing!) { project(fullPath: $p) { id } }", "no type Nothing!"),
        (
            "query($p: ID!) { project(fullPath: $p) { issues(sort: SIDEWAYS) { count } } }",
            "cannot be SIDEWAYS",
        ),
        (
            "query($v: VulnerabilityID!) { vulnerability(id: $v) { location { ... on Project { id } } } }",
            "never",
        ),
    ],
)
@every_version
def test_the_check_sees_what_gitlab_would_refuse(document: str, problem: str, version: str) -> None:
    try:
        found = Checked(document, SCHEMAS[version]).problems
    except AssertionError as wrong:
        found = [str(wrong)]
    assert any(problem in each for each in found), found

"""Every GraphQL document is one that a real GitLab 17.2 understands."""

from __future__ import annotations

import pytest

from tests.support.facts import facts
from tests.support.for_each import for_each
from tests.support.graphql_documents import Checked, documents

SCHEMA = facts("graphql")
DOCUMENTS = dict(documents())
FOR_EVERY_EDITION = {
    "tools.browse_analytics.PROJECT_FLOW",
}
"""What is asked where nobody has looked at the edition: one field that CE lacks would void the whole answer."""


@for_each(DOCUMENTS)
def test_a_document_asks_for_what_there_is(name: str) -> None:
    assert Checked(DOCUMENTS[name], SCHEMA).problems == []


@for_each(FOR_EVERY_EDITION)
def test_what_every_edition_is_asked_every_edition_has(name: str) -> None:
    assert Checked(DOCUMENTS[name], SCHEMA).ee_only == []


def test_paid_documents_are_known_as_such() -> None:
    assert Checked(DOCUMENTS["tools.browse_analytics.PAID_PROJECT_FLOW"], SCHEMA).ee_only
    assert Checked(DOCUMENTS["tools.browse_vulnerabilities.VULNERABILITY"], SCHEMA).ee_only


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
def test_the_check_sees_what_gitlab_would_refuse(document: str, problem: str) -> None:
    try:
        found = Checked(document, SCHEMA).problems
    except AssertionError as wrong:
        found = [str(wrong)]
    assert any(problem in each for each in found), found

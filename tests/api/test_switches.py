"""Which switch of a project is behind a path, held against what switching it off did."""

from __future__ import annotations

import pytest

from gitlab_mcp.api.endpoints import find
from gitlab_mcp.api.switches import SWITCHES, switch_of
from tests.support.facts import facts

NOT_A_SWITCH_OF_ITS_OWN = {"repository"}
"""Off, it takes cluster agents with it, which do not say so."""


def test_what_was_refused_with_a_switch_off_names_that_switch() -> None:
    strange = {}
    for endpoint, off in facts("measured_switches").items():
        known = find(endpoint)
        refused = {switch for switch, status in off.items() if status >= 400}
        if known and refused and not (known.switch in refused and refused <= with_parents(known.switch)):
            strange[endpoint] = (known.switch, refused)
    assert strange == {}


def with_parents(switch: str | None) -> set[str]:
    found = set(NOT_A_SWITCH_OF_ITS_OWN)
    while switch:
        found.add(switch)
        switch = SWITCHES[switch].within
    return found


@pytest.mark.parametrize(
    ("path", "switch"),
    [
        ("/projects/acme%2Fwebsite/issues/1/notes", "issues"),
        ("/projects/{project_id}/milestones", "issues or merge_requests"),
        ("/projects/{project_id}/milestones/3/issues", "issues"),
        ("/projects/1/repository/commits/abc/merge_requests", "merge_requests"),
        ("/projects/1/repository/commits/abc", "repository"),
        ("/projects/1", None),
        ("/groups/1/issues", None),
        ("/issues", None),
    ],
)
def test_the_longest_path_that_fits_decides(path: str, switch: str | None) -> None:
    assert switch_of(path) == switch

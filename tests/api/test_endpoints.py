"""What the packaged table of GitLab's endpoints answers."""

from __future__ import annotations

import json
from importlib import resources

import pytest

from gitlab_mcp.api.endpoints import DATA, Parameter, every, facts_in, find, normalised, placeholders


@pytest.mark.parametrize(
    "spelling",
    [
        "GET /groups/*/search",
        "GET /groups/:id/search",
        "GET /groups/{group_id}/search",
        "GET /groups/:id/(-/)search",
        "GET /groups/:id/-/search",
        "GET /groups/:id/search/",
        "GET /groups/:id/search?scope=blobs",
    ],
)
def test_all_spellings_of_an_endpoint_are_one(spelling: str) -> None:
    assert normalised(spelling) == "GET /groups/*/search"


@pytest.mark.parametrize(
    ("spelling", "one"),
    [
        ("GET /projects/:id/jobs/:job_id/artifacts/*artifact_path", "GET /projects/*/jobs/*/artifacts/*"),
        ("POST /projects/:id/(ref/:ref/)trigger/pipeline", "POST /projects/*/trigger/pipeline"),
        (
            "GET /projects/:id/releases/permalink/latest(/)(*suffix_path)",
            "GET /projects/*/releases/permalink/latest",
        ),
        ("GET /projects/:id/repository/archive[.format]", "GET /projects/*/repository/archive"),
        ("/projects/{project_id}", "/projects/*"),
    ],
)
def test_what_is_optional_in_a_path_is_left_out(spelling: str, one: str) -> None:
    assert normalised(spelling) == one


def test_the_names_in_a_path_are_read_in_every_spelling() -> None:
    assert placeholders("GET /projects/:id/jobs/{job_id}/artifacts/*path") == ("id", "job_id", "path")


def test_an_endpoint_is_known_with_its_parameters_page_switch_and_role() -> None:
    known = find("PUT /projects/{project_id}/issues/{issue_iid}", "17.2")
    assert known and known.parameters
    assert known.in_path == ("id", "issue_iid")
    assert known.parameters["issue_iid"] == Parameter("integer", required=True)
    assert known.parameters["state_event"].values == ("reopen", "close")
    assert known.parameters["weight"].ee_only
    assert (known.edition, known.docs, known.switch) == ("CE", "api/issues/#update-an-issue", "issues")
    assert known.role == "reporter"


def test_of_several_pages_the_one_about_the_noun_is_named() -> None:
    known = find("PUT /projects/:id")
    assert known and known.docs == "api/projects/#edit-a-project"
    assert {told.page for told in known.documented} == {"api/projects", "api/container_registry"}


def test_an_endpoint_that_is_only_documented_has_no_list_of_parameters() -> None:
    known = find("GET /projects/:id/merge_requests/:merge_request_iid/blocks")
    assert known and known.parameters is None and known.docs


def test_nothing_is_known_of_what_gitlab_does_not_have() -> None:
    assert find("GET /projects/:id/no_such_thing") is None


def test_no_endpoint_is_in_the_table_twice() -> None:
    lines = resources.files("gitlab_mcp.api").joinpath(DATA).read_text("utf-8").splitlines()[1:]
    assert len({normalised(json.loads(line)["endpoint"]) for line in lines}) == len(lines) == len([*every()])


ROW = {
    "endpoint": "GET /projects/:id/things",
    "params": {
        "id": "integer!",
        "old": {"is": "string", "until": "17.2"},
        "new": {"type": "boolean", "default": True, "since": "19.3"},
        "wider": [
            {"type": "string", "values": ["a"], "until": "17.2"},
            {"type": "string", "values": ["a", "b"], "since": "19.3"},
        ],
    },
    "edition": {"is": "EE", "until": "17.2"},
    "role": [{"is": "developer", "until": "17.2"}, {"is": "reporter", "since": "19.3"}],
}


@pytest.mark.parametrize(
    ("version", "names", "values", "role", "edition"),
    [
        ("16.0", {"id", "old", "wider"}, ("a",), "developer", "EE"),
        ("17.2.4-ee", {"id", "old", "wider"}, ("a",), "developer", "EE"),
        ("18.5", {"id"}, None, None, "CE"),
        ("19.3", {"id", "new", "wider"}, ("a", "b"), "reporter", "CE"),
        (None, {"id", "new", "wider"}, ("a", "b"), "reporter", "CE"),
    ],
)
def test_a_version_has_what_was_read_of_it_and_one_between_two_only_what_both_have(
    version: str | None, names: set[str], values: tuple[str, ...] | None, role: str | None, edition: str
) -> None:
    known = facts_in(ROW, version)
    assert known and known.parameters is not None
    assert known.parameters.keys() == names
    assert (known.parameters["wider"].values if values else None) == values
    assert (known.role, known.edition) == (role, edition)


def test_an_endpoint_that_is_gone_is_there_in_older_versions_alone() -> None:
    row = {"endpoint": "GET /gone", "until": "17.2", "params": {}}
    assert facts_in(row, "17.2") and facts_in(row, "19.3") is None and facts_in(row, None) is None

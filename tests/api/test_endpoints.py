"""What the packaged table of GitLab's endpoints answers."""

from __future__ import annotations

import json
from importlib import resources

import pytest

from gitlab_mcp.api.endpoints import DATA, Parameter, every, facts_in, find, normalised, placeholders
from gitlab_mcp.api.versions import READ, is_in


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
    known = find("GET /:id/attestations/:subject_digest")
    assert known and known.parameters is None and known.docs


def test_nothing_is_known_of_what_gitlab_does_not_have() -> None:
    assert find("GET /projects/:id/no_such_thing") is None


def test_no_endpoint_is_in_the_table_twice() -> None:
    lines = resources.files("gitlab_mcp.api").joinpath(DATA).read_text("utf-8").splitlines()[1:]
    assert len({normalised(json.loads(line)["endpoint"]) for line in lines}) == len(lines)


def test_the_versions_that_were_read_are_those_that_the_table_names() -> None:
    header = resources.files("gitlab_mcp.api").joinpath(DATA).read_text("utf-8").partition("\n")[0]
    assert tuple(json.loads(header)["versions"]["routes"]) == READ


@pytest.mark.parametrize(
    ("version", "since", "until", "there"),
    [
        ("16.0", "19.3", None, False),
        ("17.2.9-ee", "19.3", None, False),
        ("18.0", "19.3", None, None),
        ("19.3.0-pre", "19.3", None, True),
        ("17.2", None, "17.2", True),
        ("18.0", None, "17.2", None),
        ("20.1", None, "17.2", False),
        ("18.0", None, None, True),
    ],
)
def test_of_a_version_between_two_nobody_knows_what_only_one_of_them_has(
    version: str, since: str | None, until: str | None, there: bool | None
) -> None:
    assert is_in(version, since, until) is there


def test_the_oldest_and_the_newest_version_that_were_read_are_told_apart() -> None:
    older, newer = ({known.endpoint: known for known in every(version)} for version in ("17.2", "19.3"))
    assert len([known for known in older.values() if known.parameters is not None]) == 1465
    assert len([known for known in newer.values() if known.parameters is not None]) == 2044
    merge_requests = "GET /projects/:id/merge_requests"
    assert {"draft", "merged_after"} <= (newer[merge_requests].parameters or {}).keys()
    assert not {"draft", "merged_after"} & (older[merge_requests].parameters or {}).keys()
    assert "approved" in (older[merge_requests].parameters or {})
    assert "approved" not in (newer[merge_requests].parameters or {})


@pytest.mark.parametrize(
    ("endpoint", "permissions", "titles", "boundaries"),
    [
        ("GET /projects/{project_id}/issues", ("read_work_item",), ("Work Item: Read",), ("project",)),
        ("GET /projects/:id/boards", ("read_work_item",), ("Work Item: Read",), ("project",)),
        (
            "PUT /projects/:id/merge_requests/:iid/merge",
            ("merge_merge_request",),
            ("Merge Request: Merge",),
            ("project",),
        ),
        (
            "GET /projects/:id/deployments/:deployment_id/merge_requests",
            ("read_deployment", "read_merge_request"),
            ("Deployment: Read", "Merge Request: Read"),
            ("project",),
        ),
        (
            "GET /namespaces/:id/gitlab_subscription",
            ("read_gitlab_subscription",),
            ("GitLab Subscription: Read",),
            ("group", "user"),
        ),
    ],
)
def test_the_permissions_of_a_fine_grained_token_are_named_as_a_person_picks_them(
    endpoint: str, permissions: tuple[str, ...], titles: tuple[str, ...], boundaries: tuple[str, ...]
) -> None:
    known = find(endpoint)
    assert known and known.tokens
    assert (known.permissions, known.tokens.permission_titles) == (permissions, titles)
    assert (known.tokens.boundaries, known.tokens.no_fine_grained) == (boundaries, None)


@pytest.mark.parametrize(
    ("endpoint", "why"),
    [
        ("GET /broadcast_messages", "It needs no token."),
        ("GET /job", "It takes the token of a CI/CD job alone."),
        ("POST /geo/status", "Parts of GitLab call it, with a secret of their own."),
    ],
)
def test_an_endpoint_that_takes_no_fine_grained_token_says_why(endpoint: str, why: str) -> None:
    known = find(endpoint)
    assert known and known.tokens
    assert (known.permissions, known.tokens.no_fine_grained) == ((), why)


def test_nearly_every_endpoint_is_known_by_its_permission_or_by_why_it_has_none() -> None:
    newest = [known for known in every("19.3") if known.parameters is not None]
    told = [known for known in newest if known.permissions or (known.tokens and known.tokens.no_fine_grained)]
    assert len(told) == len(newest) - 2
    assert len([known for known in told if known.permissions]) == 1809


def test_an_endpoint_says_whether_it_takes_a_job_token_and_with_which_policy() -> None:
    jobs, labels = find("GET /projects/:id/jobs"), find("GET /projects/:id/labels")
    assert jobs and jobs.tokens and labels and labels.tokens
    assert (jobs.tokens.job_token, jobs.tokens.job_policies) == (True, ("read_jobs",))
    assert not labels.tokens.job_token


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

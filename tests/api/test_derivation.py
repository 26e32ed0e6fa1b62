"""What the endpoints of an action say of it."""

from __future__ import annotations

from gitlab_mcp.api.derivation import derived, docs_at

FEATURES = {"GET /groups/*/epics": "epics"}


def test_the_first_endpoint_speaks_for_the_action() -> None:
    endpoints = ["GET /projects/{project_id}/merge_requests", "GET /groups/{group_id}/merge_requests"]
    assert derived(endpoints, FEATURES) == {
        "docs": "api/merge_requests/#list-project-merge-requests",
        "switch": "merge_requests",
        "role": "reporter",
    }


def test_a_paid_endpoint_names_its_feature() -> None:
    assert derived(["GET /groups/{group_id}/epics"], FEATURES)["feature"] == "epics"
    assert "feature" not in derived(["GET /projects", "GET /groups/{group_id}/epics"], FEATURES)


def test_the_page_is_that_of_the_first_endpoint_that_is_documented() -> None:
    thread = "/projects/{project_id}/{noun}/{iid}/discussions/{discussion_id}"
    endpoints = ["PUT " + thread.replace("{noun}", noun) for noun in ("issues", "merge_requests")]
    assert derived(endpoints, {})["docs"] == "api/discussions/#resolve-a-merge-request-thread"


def test_endpoints_with_different_switches_leave_it_to_the_request() -> None:
    endpoints = [
        f"GET /projects/{{project_id}}/{noun}/{{iid}}/notes" for noun in ("issues", "merge_requests")
    ]
    assert "switch" not in derived(endpoints, {})


def test_nothing_is_said_of_what_is_not_known() -> None:
    assert derived(["POST /graphql"], {}) == derived([], {}) == {}


def test_an_endpoint_that_is_documented_elsewhere_names_its_page() -> None:
    endpoints = ["GET /projects/{project_id}/hooks", "GET /groups/{group_id}/hooks"]
    [(endpoint, page)] = docs_at(endpoints).items()
    assert endpoint == endpoints[1]
    assert page.startswith("api/group_webhooks/")

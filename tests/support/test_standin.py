from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.support.recordings import rows
from tests.support.standin import (
    CutShort,
    Delay,
    Drop,
    EndlessHeaders,
    Fault,
    GzipBomb,
    LogOf,
    LoseAnswer,
    NotUtf8,
    Silence,
    Stall,
    StandIn,
    forbidden_page,
    login_page,
    maintenance,
    rate_limited,
    redirect,
    server_error,
)


class Client:
    def __init__(self, gitlab: StandIn, caller: str | None = "alice") -> None:
        self.api = f"{gitlab.url}/api/v4"
        self.session = requests.Session()
        self.session.trust_env = False
        if caller:
            self.session.headers["PRIVATE-TOKEN"] = caller

    def __call__(self, method: str, path: str, body: object = None, timeout: float = 5) -> requests.Response:
        url = f"{self.api}{path}"
        return self.session.request(method, url, json=body, timeout=timeout, allow_redirects=False)


@pytest.fixture
def client(standin: StandIn) -> Iterator[Client]:
    client = Client(standin)
    with client.session:
        yield client


def test_a_recorded_answer_is_played_by_path_and_by_number(
    standin: StandIn, client: Client, cassettes: Path
) -> None:
    standin.play(cassettes / "labels.json", cassettes / "projects.json")
    by_number = client("GET", "/projects/1/labels")
    by_path = client("GET", "/projects/acme%2Fwebsite/labels?per_page=20&page=1")
    assert by_number.status_code == 200
    assert "X-Synthetic" not in by_number.headers
    assert {label["name"] for label in by_number.json()} == {label["name"] for label in by_path.json()}


def test_a_recorded_write_is_found_whatever_the_order_of_its_fields(
    standin: StandIn, client: Client, cassettes: Path
) -> None:
    standin.play(cassettes)
    answer = client(
        "POST", "/projects/1/labels", {"color": "#d9534f", "description": "About bug", "name": "bug"}
    )
    assert (answer.status_code, answer.json()["name"]) == (201, "bug")
    assert standin.requests[0].json["description"] == "About bug"


def test_a_write_without_fields_may_send_an_empty_object(
    standin: StandIn, client: Client, cassettes: Path
) -> None:
    standin.play(cassettes / "shop_reviews.json")
    path = "/projects/acme%2Fshop/merge_requests/25/draft_notes/bulk_publish"
    assert client("POST", path).status_code == 204
    assert client("POST", path, {}).status_code == 204


def test_two_callers_get_their_own_answers(standin: StandIn, cassettes: Path) -> None:
    standin.play(cassettes)
    names = []
    for caller in ("alice", "bob", "carol"):
        client = Client(standin, caller)
        with client.session:
            names.append(client("GET", "/user").json()["username"])
    assert names == ["alice", "bob", "carol"]


def test_answers_to_one_request_come_in_order_and_the_last_one_repeats(
    standin: StandIn, client: Client, cassettes: Path
) -> None:
    standin.play(cassettes / "stories/polls.json")
    path = "/projects/acme%2Fshop/merge_requests/6"
    statuses = [client("GET", path).json()["detailed_merge_status"] for _ in range(5)]
    assert statuses[0] == "preparing"
    assert statuses[-2:] == ["mergeable", "mergeable"]


def test_recordings_can_be_played_too(standin: StandIn) -> None:
    row = next(row for row in rows("errors") if row["method"] == "GET" and row["status"] == 403)
    standin.play_rows([row])
    client = Client(standin, row["actor"])
    with client.session:
        answer = client("GET", row["path"].removeprefix("/api/v4"))
    assert (answer.status_code, answer.text) == (403, row["body"])


def test_a_request_without_an_answer_gets_a_synthetic_404_and_is_remembered(
    standin: StandIn, client: Client
) -> None:
    answer = client("GET", "/projects/1/nothing")
    assert (answer.status_code, answer.headers["X-Synthetic"]) == (404, "true")
    assert [request.route for request in standin.unanswered] == ["/projects/1/nothing"]


def test_an_invented_answer_says_so(standin: StandIn, client: Client) -> None:
    standin.answer("GET", "/version", 200, {"version": "18.9.0"})
    answer = client("GET", "/version")
    assert answer.json() == {"version": "18.9.0"}
    assert answer.headers["X-Synthetic"] == "true"


def test_requests_are_remembered_with_their_token(standin: StandIn, client: Client) -> None:
    client("GET", "/projects/a%2Fb/issues?labels=x%2Cy")
    del client.session.headers["PRIVATE-TOKEN"]
    client.session.headers["Authorization"] = "Bearer bob"
    client("GET", "/user")
    first, second = standin.requests
    assert (first.token, first.route, first.params) == (
        "alice",
        "/projects/a%2Fb/issues",
        [("labels", "x,y")],
    )
    assert second.token == "bob"


def test_a_relative_url_root_is_part_of_the_url_and_not_of_the_route() -> None:
    with StandIn(root="/gitlab") as gitlab:
        client = Client(gitlab)
        with client.session:
            client("GET", "/user")
        assert gitlab.url.endswith("/gitlab")
        assert gitlab.requests[0].route == "/user"


LABEL = {"name": "bug", "color": "#ff0000"}


@pytest.mark.parametrize(
    ("fault", "made"),
    [(LoseAnswer(), 1), (LoseAnswer(reset=True), 1), (Drop(), 0), (Drop(reset=True), 0)],
)
def test_a_lost_answer_has_done_its_work_and_a_dropped_request_has_not(
    standin: StandIn, client: Client, fault: Fault, made: int
) -> None:
    project = standin.project("acme/fresh")
    standin.fault("POST", "/projects/*/labels", fault)
    with pytest.raises(requests.ConnectionError):
        client("POST", "/projects/acme%2Ffresh/labels", LABEL)
    assert project.count("labels") == made
    assert client("GET", "/projects/9001/labels").headers["X-Total"] == str(made)


@pytest.mark.parametrize("status", [500, 502, 504])
def test_a_fault_is_over_after_its_times(standin: StandIn, client: Client, status: int) -> None:
    standin.answer("GET", "/version", 200, {})
    standin.fault("GET", "/version", server_error(status), times=2)
    assert [client("GET", "/version").status_code for _ in range(3)] == [status, status, 200]


@pytest.mark.parametrize("retry_after", ["1", "3600", None, "soon", "Fri, 31 Dec 9999 23:59:59 GMT"])
def test_a_rate_limit_says_when_to_come_back_or_does_not(
    standin: StandIn, client: Client, retry_after: str | None
) -> None:
    standin.fault("GET", "*", rate_limited(retry_after))
    answer = client("GET", "/user")
    assert (answer.status_code, answer.headers.get("Retry-After")) == (429, retry_after)


@pytest.mark.parametrize(
    ("fault", "status"), [(login_page(), 200), (forbidden_page(), 403), (maintenance(), 503)]
)
def test_web_pages_are_html(standin: StandIn, client: Client, fault: Fault, status: int) -> None:
    standin.fault("GET", "*", fault)
    answer = client("GET", "/user")
    assert answer.status_code == status
    assert answer.headers["Content-Type"].startswith("text/html")


def test_a_redirect_points_where_it_was_told(standin: StandIn, client: Client) -> None:
    standin.fault("GET", "*", redirect("http://elsewhere.example/api/v4/user", 301))
    answer = client("GET", "/user")
    assert (answer.status_code, answer.headers["Location"]) == (301, "http://elsewhere.example/api/v4/user")


def test_json_cut_short_does_not_parse(standin: StandIn, client: Client) -> None:
    standin.answer("GET", "/user", 200, {"username": "alice"})
    standin.fault("GET", "/user", CutShort())
    with pytest.raises(ValueError):
        client("GET", "/user").json()
    standin.fault("GET", "/user", CutShort(promised=True))
    with pytest.raises((requests.exceptions.ChunkedEncodingError, requests.ConnectionError)):
        client("GET", "/user")


def test_wrong_encoding_is_no_utf_8(standin: StandIn, client: Client) -> None:
    standin.answer("GET", "/user", 200, {"username": "alice"})
    standin.fault("GET", "/user", NotUtf8())
    with pytest.raises(UnicodeDecodeError):
        client("GET", "/user").content.decode()


def test_a_reply_that_is_not_http_is_refused_by_a_client(standin: StandIn, client: Client) -> None:
    standin.fault("GET", "/user", EndlessHeaders())
    with pytest.raises(requests.ConnectionError):
        client("GET", "/user")


def test_a_gzip_bomb_is_small_compressed_and_large_decompressed(standin: StandIn, client: Client) -> None:
    standin.fault("GET", "*", GzipBomb(megabytes=3), times=None)
    packed = client.session.get(f"{client.api}/user", stream=True).raw.read(decode_content=False)
    assert len(packed) < 20_000
    assert len(client("GET", "/user").content) == 3_000_004


def test_a_log_is_as_big_as_asked(standin: StandIn, client: Client) -> None:
    standin.fault("GET", "*/trace", LogOf(megabytes=5))
    log = client("GET", "/projects/1/jobs/1/trace").content
    assert 4_900_000 < len(log) < 5_000_000
    assert log.count(b"ERROR") > 50


def test_a_delay_comes_before_the_answer(standin: StandIn, client: Client) -> None:
    standin.answer("GET", "/user", 200, {"username": "alice"})
    standin.fault("GET", "/user", Delay(0.1))
    answer = client("GET", "/user")
    assert answer.json() == {"username": "alice"}
    assert answer.elapsed.total_seconds() >= 0.1


@pytest.mark.parametrize("fault", [Silence(), Stall(), Delay(60)])
def test_a_client_that_disconnects_while_waiting_is_noticed(
    standin: StandIn, client: Client, fault: Fault
) -> None:
    standin.answer("GET", "/user", 200, {"username": "alice"})
    standin.fault("GET", "/user", fault)
    with pytest.raises((requests.Timeout, requests.ConnectionError)):
        client("GET", "/user", timeout=0.1)
    client.session.close()
    assert standin.wait_for(lambda gitlab: gitlab.disconnects == 1)


def test_stopping_ends_what_is_still_waiting() -> None:
    with StandIn() as gitlab:
        gitlab.fault("GET", "*", Silence())
        client = Client(gitlab)
        failed: list[Exception] = []

        def ask() -> None:
            try:
                client("GET", "/user")
            except requests.ConnectionError as error:
                failed.append(error)

        asking = threading.Thread(target=ask)
        asking.start()
        assert gitlab.wait_for(lambda gitlab: len(gitlab.requests) == 1)
    asking.join(5)
    client.session.close()
    assert len(failed) == 1


def test_a_fault_of_the_stand_in_itself_fails_the_test_that_uses_it() -> None:
    class Broken:
        def play(self, line: object) -> None:
            raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"), StandIn() as gitlab:
        gitlab.fault("GET", "*", Broken())
        client = Client(gitlab)
        with client.session, pytest.raises(requests.ConnectionError):
            client("GET", "/user")


TWICE = [
    ("labels", "labels", LABEL, 409),
    ("repository/branches", "repository/branches", {"branch": "feature/x", "ref": "main"}, 400),
    ("repository/tags", "repository/tags", {"tag_name": "v1", "ref": "main"}, 400),
    ("milestones", "milestones", {"title": "v1"}, 400),
    ("releases", "releases", {"tag_name": "v1"}, 409),
    ("variables", "variables", {"key": "REGION", "value": "eu"}, 400),
    ("protected_branches", "protected_branches", {"name": "release/*"}, 409),
    (
        "merge_requests",
        "merge_requests",
        {"source_branch": "x", "target_branch": "main", "title": "Add x"},
        409,
    ),
    (
        "repository/commits",
        "repository/commits",
        {
            "branch": "main",
            "commit_message": "Add a",
            "actions": [{"action": "create", "file_path": "a", "content": "x"}],
        },
        400,
    ),
    ("issues", "issues", {"title": "Broken"}, 201),
    ("pipelines", "pipeline", {"ref": "main"}, 201),
    ("issues/1/notes", "issues/1/notes", {"body": "Hello"}, 201),
    ("merge_requests/1/discussions", "merge_requests/1/discussions", {"body": "Hello"}, 201),
]


@pytest.mark.parametrize(("collection", "posted_to", "body", "again"), TWICE)
def test_creating_twice_is_refused_where_gitlab_refuses_it_and_makes_two_where_it_does_not(
    standin: StandIn, client: Client, collection: str, posted_to: str, body: object, again: int
) -> None:
    project = standin.project("acme/fresh")
    path = f"/projects/acme%2Ffresh/{posted_to}"
    assert client("POST", path, body).status_code == 201
    assert client("POST", path, body).status_code == again
    assert project.count(collection) == (2 if again == 201 else 1)
    assert len(client("GET", f"/projects/9001/{collection}").json()) == project.count(collection)


def test_the_refusals_are_those_that_were_recorded(standin: StandIn, client: Client, cassettes: Path) -> None:
    recorded: dict[str, list[tuple[str, dict[str, Any]]]] = {}
    for name in ("shop", "shop_merge_requests", "shop_commits", "shop_files", "shop_pipelines"):
        for each in json.loads((cassettes / f"{name}.json").read_text())["interactions"]:
            if each["request"]["method"] == "POST" and each["response"]["status"]["code"] in (400, 409):
                kind = each["request"]["uri"].partition("acme%2Fshop/")[2]
                recorded.setdefault(kind, []).append((each["request"]["body"], each["response"]))
    standin.project("acme/fresh")
    compared = 0
    for kind in ("labels", "repository/branches", "repository/tags", "milestones", "releases", "variables"):
        for body, response in recorded[kind]:
            if "already" not in response["body"]["string"]:
                continue
            client("POST", f"/projects/9001/{kind}", json.loads(body))
            refused = client("POST", f"/projects/9001/{kind}", json.loads(body))
            assert refused.status_code == response["status"]["code"]
            assert refused.json() == json.loads(response["body"]["string"])
            compared += 1
    assert compared == 6


def test_a_second_merge_and_a_second_delete_find_nothing_to_do(standin: StandIn, client: Client) -> None:
    standin.project("acme/fresh")
    request = {"source_branch": "x", "target_branch": "main", "title": "Add x"}
    client("POST", "/projects/9001/merge_requests", request)
    client("POST", "/projects/9001/labels", LABEL)
    merge, label = "/projects/9001/merge_requests/1/merge", "/projects/9001/labels/bug"
    assert [client("PUT", merge).status_code for _ in range(2)] == [200, 405]
    assert [client("DELETE", label).status_code for _ in range(2)] == [204, 404]


def test_a_list_can_be_narrowed_to_what_was_just_made(standin: StandIn, client: Client) -> None:
    standin.group("acme")
    for title in ("v1", "v2"):
        client("POST", "/groups/acme/milestones", {"title": title})
    assert [item["title"] for item in client("GET", "/groups/acme/milestones?title=v2").json()] == ["v2"]
    assert client("GET", "/groups/acme/milestones?created_after=2999-01-01T00:00:00Z").json() == []


def test_files_are_kept_per_branch(standin: StandIn, client: Client) -> None:
    project = standin.project("acme/fresh")
    path = "/projects/9001/repository/files/src%2Fa.py"
    made = client("POST", path, {"branch": "main", "content": "x = 1", "commit_message": "Add a"})
    assert made.json() == {"file_path": "src/a.py", "branch": "main"}
    assert client("GET", f"{path}?ref=main").status_code == 200
    assert client("GET", f"{path}?ref=other").status_code == 404
    assert project.count("repository/commits") == 1

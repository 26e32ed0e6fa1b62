"""Whose rights a request has."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from secrets import token_hex
from typing import Any

import anyio
import httpx2
import pytest
from mcp.types import CallToolResult

from tests.support.served import ACCEPT, INITIALIZE, Served, call, connected, refused, served
from tests.support.standin import StandIn

pytestmark = pytest.mark.anyio
LIST = {"action": "list", "project_id": "1"}
ERAS = pytest.mark.parametrize("era", ["legacy", "auto"])


def told(result: CallToolResult) -> dict[str, Any]:
    block = result.content[0]
    assert block.type == "text"
    answer: dict[str, Any] = json.loads(block.text)
    return answer


async def post(url: str, message: Any = INITIALIZE, **headers: str) -> httpx2.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    async with httpx2.AsyncClient(timeout=30) as http:
        return await http.post(url, json=message, headers={**ACCEPT, **named})


@ERAS
@pytest.mark.parametrize(
    ("header", "value", "upstream"),
    [
        ("PRIVATE-TOKEN", "alice", "private-token"),
        ("JOB-TOKEN", "job", "job-token"),
        ("Authorization", "Bearer carol", "authorization"),
    ],
)
async def test_a_request_acts_with_the_token_it_brings(
    server: Served, labels: StandIn, era: Any, header: str, value: str, upstream: str
) -> None:
    async with connected(server.url, era, **{header: value}) as client:
        assert len((await client.list_tools()).tools) > 10
        answer = await client.call_tool("browse_labels", LIST)
    assert told(answer)["items"] == [{"id": 1, "name": "bug", "color": "#d9534f"}]
    assert {request.headers[upstream] for request in labels.requests} == {value}


async def test_a_request_without_a_token_is_told_where_to_get_one(server: Served, labels: StandIn) -> None:
    answer = await post(server.url)
    assert answer.status_code == 401
    assert answer.json()["error"]["data"]["error_code"] == "AUTHENTICATION_FAILED"
    challenge = answer.headers["www-authenticate"]
    where = challenge.partition('resource_metadata="')[2].partition('"')[0]
    async with httpx2.AsyncClient() as http:
        metadata = (await http.get(where)).json()
    assert metadata["resource"] == server.url
    assert metadata["authorization_servers"] == [labels.url]
    assert labels.requests == []


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ([("PRIVATE-TOKEN", "alice"), ("JOB-TOKEN", "job")], 400),
        ([("PRIVATE-TOKEN", "alice"), ("PRIVATE-TOKEN", "bob")], 400),
        ([("PRIVATE-TOKEN", "alice"), ("Authorization", "Bearer bob")], 400),
        ([("PRIVATE-TOKEN", "two words")], 401),
        ([("PRIVATE-TOKEN", "x" * 5000)], 401),
        ([("Authorization", "Basic YWxpY2U6eA==")], 401),
        ([("Authorization", "Bearer")], 401),
    ],
)
async def test_what_is_not_one_token_is_refused_before_gitlab_hears_of_it(
    server: Served, labels: StandIn, headers: list[tuple[str, str]], status: int
) -> None:
    async with httpx2.AsyncClient() as http:
        answer = await http.post(server.url, json=INITIALIZE, headers=[*ACCEPT.items(), *headers])
    assert answer.status_code == status
    assert answer.json()["error"]["data"]["error_code"] == "AUTHENTICATION_FAILED"
    assert labels.requests == []


async def test_a_bearer_that_gitlab_does_not_know_is_refused_and_not_asked_about_again(
    server: Served, labels: StandIn
) -> None:
    labels.answer("GET", "/user", 401, {"message": "401 Unauthorized"})
    answers = [await post(server.url, Authorization="Bearer long-dead") for _ in range(3)]
    assert {answer.status_code for answer in answers} == {401}
    assert 'error="invalid_token"' in answers[0].headers["www-authenticate"]
    assert [request.path for request in labels.requests] == ["/api/v4/user"]
    assert "long-dead" not in server.log + answers[0].text


async def test_a_bearer_without_the_scope_to_be_read_is_alive(server: Served, labels: StandIn) -> None:
    labels.answer("GET", "/user", 403, {"error": "insufficient_scope"})
    assert (await post(server.url, Authorization="Bearer narrow")).status_code == 200


async def test_gitlab_unreachable_still_lists_tools_and_a_call_says_why_it_fails() -> None:
    with StandIn() as gone:
        url = gone.url
    with served(url, "--deadline", "2") as server:
        async with connected(server.url, Authorization="Bearer alice") as client:
            assert (await client.list_tools()).tools
            answer = await client.call_tool("browse_labels", LIST)
    assert answer.is_error and told(answer)["error_code"] == "NETWORK_ERROR"


async def test_two_people_at_once_never_act_with_each_others_rights(
    labels: StandIn, foreign: StandIn
) -> None:
    """2 × 200 calls, 32 at a time; and a host that nobody allowed hears nothing at all."""
    for person in ("alice", "bob"):
        labels.answer("GET", f"/projects/{person}%2Fown/labels", 200, [{"id": 1, "name": person}])
    room = anyio.CapacityLimiter(32)
    answers: list[tuple[str, dict[str, Any]]] = []
    with served(labels.url, "--calls-per-caller", "32") as server:
        async with httpx2.AsyncClient(timeout=60) as http:

            async def one(person: str, number: int) -> None:
                arguments = {"action": "list", "project_id": f"{person}/own", "search": str(number)}
                headers = {**ACCEPT, "PRIVATE-TOKEN": person}
                if number % 10 == 0:
                    headers["X-GitLab-API-URL"] = foreign.url
                async with room:
                    message = call("browse_labels", arguments)
                    answer = await http.post(server.url, json=message, headers=headers)
                answers.append((person, answer.json()))

            async with anyio.create_task_group() as tasks:
                for number in range(200):
                    tasks.start_soon(one, "alice", number)
                    tasks.start_soon(one, "bob", number)
    assert len(answers) == 400
    served_to = Counter(
        (person, json.loads(answer["result"]["content"][0]["text"])["items"][0]["name"])
        for person, answer in answers
        if "result" in answer
    )
    assert served_to == {("alice", "alice"): 180, ("bob", "bob"): 180}
    carried = Counter((request.path.split("/")[4], request.token) for request in labels.requests)
    assert carried == {("alice%2Fown", "alice"): 180, ("bob%2Fown", "bob"): 180}
    assert foreign.requests == []


async def test_no_token_is_written_anywhere_even_when_everything_is_logged(
    labels: StandIn, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("canary-secret-0123456789-abcdefghij")
    labels.answer("GET", "/projects/2/labels", 401, {"message": "401 Unauthorized"})
    labels.answer("GET", "/projects/3/labels", 500, "canary-body")
    said = ""
    with served(labels.url, "--log-level", "debug", "--operator-secret-file", str(secret)) as server:
        for header, value in (
            ("PRIVATE_TOKEN", "canary-private"),
            ("JOB_TOKEN", "canary-job"),
            ("Authorization", "Bearer canary-bearer"),
            ("Authorization", "Basic canary-basic"),
            ("PRIVATE_TOKEN", "canary with spaces"),
        ):
            for project in ("1", "2", "3", "../canary"):
                arguments = {"action": "list", "project_id": project}
                said += (await post(server.url, call("browse_labels", arguments), **{header: value})).text
        async with httpx2.AsyncClient(
            headers={"Authorization": "Bearer canary-secret-0123456789-abcdefghij"}
        ) as http:
            said += (await http.get(server.at("/metrics"))).text + (await http.get(server.at("/readyz"))).text
        server.stop()
        assert server.ended() == 0
    assert "AUTHENTICATION_FAILED" in said and "labels:list" in server.log
    assert "canary" not in said.replace("../canary", "") + server.log


@ERAS
@pytest.mark.parametrize("variable", ["GITLAB_TOKEN", "CI_JOB_TOKEN"])
async def test_the_servers_own_token_serves_those_who_bring_the_secret_it_printed(
    labels: StandIn, era: Any, variable: str
) -> None:
    with served(labels.url, "--log-level", "debug", **{variable: "house"}) as server:
        message = call("browse_labels", LIST)
        for without in (
            {},
            {"PRIVATE_TOKEN": "alice"},
            {"Authorization": "Bearer house"},
            {"Authorization": f"Basic {server.secret}"},
            {"X_Forwarded_For": "203.0.113.9"},
        ):
            refusal = await post(server.url, message, **without)
            assert refusal.status_code == 401
            assert refusal.json()["error"]["data"]["error_code"] == "AUTHENTICATION_FAILED"
            assert server.secret not in refusal.text
        assert labels.requests == []
        async with connected(server.url, era, Authorization=f"Bearer {server.secret}") as client:
            assert told(await client.call_tool("browse_labels", LIST))["items"]
        right = {"Authorization": f"Bearer {server.secret}"}
        assert (await post(server.url, message, **right, PRIVATE_TOKEN="alice")).status_code == 200
        async with httpx2.AsyncClient() as http:
            metrics = (await http.get(server.at("/metrics"))).text
        server.stop()
        assert server.ended() == 0
    assert [request.token for request in labels.requests] == ["house", "alice"]
    assert server.secret not in metrics
    # In the header alone, and in the line to paste.
    assert server.log.count(server.secret) == 2
    line = f'claude mcp add --transport http gitlab {server.url} --header "Authorization: Bearer {server.secret}"'
    assert line in server.log


async def test_each_start_makes_another_secret_and_recordings_need_none(
    labels: StandIn, cassettes: Path
) -> None:
    with served(labels.url, GITLAB_TOKEN="house") as one, served(labels.url, GITLAB_TOKEN="house") as other:
        assert one.secret != other.secret
        stale = await post(other.url, Authorization=f"Bearer {one.secret}")
        assert stale.status_code == 401
    with served("https://gitlab.example.com", "--replay", str(cassettes)) as server:
        assert (await post(server.url)).status_code == 200
        assert "Bearer" not in server.log


@pytest.mark.parametrize("flag", ["--require-bearer-file", "--operator-secret-file"])
@pytest.mark.parametrize("weak", ["x", "open-sesame", "a" * 64, "abcabcabcabcabcabcabcabcabcabcabcabc"])
async def test_a_secret_that_can_be_guessed_stops_the_start(flag: str, weak: str, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text(weak)
    ended = refused("https://gitlab.example.com", "--http", "127.0.0.1:0", flag, str(secret))
    assert ended.returncode == 2
    assert "CONFIGURATION_ERROR" in ended.stderr and "openssl rand -hex 32" in ended.stderr
    assert weak not in ended.stderr or weak == "x"


@pytest.mark.parametrize("variable", ["GITLAB_TOKEN", "CI_JOB_TOKEN"])
async def test_a_server_with_a_token_and_no_callers_of_its_own_refuses_to_listen_beyond_this_machine(
    variable: str,
) -> None:
    ended = refused("https://gitlab.example.com", "--http", "0.0.0.0:0", **{variable: "house"})
    assert ended.returncode == 2
    assert "CONFIGURATION_ERROR" in ended.stderr and variable in ended.stderr
    assert "house" not in ended.stderr
    assert ended.stdout == ""


async def test_behind_a_secret_the_servers_token_serves_those_who_bring_the_secret(
    labels: StandIn, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    first, second = token_hex(32), token_hex(32)
    secret.write_text(f"{first}\n")
    flags = ("--require-bearer-file", str(secret))
    with served(labels.url, *flags, address="0.0.0.0:0", GITLAB_TOKEN="house") as server:
        url = f"http://127.0.0.1:{server.port}/mcp"
        message = call("browse_labels", LIST)
        right = {"Authorization": f"Bearer {first}"}
        for wrong in ({}, {"Authorization": "Bearer house"}, {"PRIVATE_TOKEN": "alice"}):
            assert (await post(url, message, **wrong)).status_code == 401
        assert labels.requests == []
        assert (await post(url, message, **right)).status_code == 200
        assert (await post(url, message, **right, PRIVATE_TOKEN="alice")).status_code == 200
        secret.write_text(f"{second}\n")
        assert (await post(url, message, **right)).status_code == 401
        assert (await post(url, message, Authorization=f"Bearer {second}")).status_code == 200
        secret.write_text("weak\n")
        assert (await post(url, message, Authorization="Bearer weak")).status_code == 500
        secret.unlink()
        gone = await post(url, message, Authorization=f"Bearer {second}")
        assert (gone.status_code, gone.json()["error"]["data"]["error_code"]) == (500, "CONFIGURATION_ERROR")
    assert [request.token for request in labels.requests] == ["house", "alice", "house"]


async def test_a_gitlab_that_the_operator_did_not_allow_receives_nothing(
    server: Served, labels: StandIn, foreign: StandIn
) -> None:
    answer = await post(
        server.url, call("browse_labels", LIST), PRIVATE_TOKEN="alice", X_GitLab_API_URL=foreign.url
    )
    assert answer.status_code == 403
    assert answer.json()["error"]["data"]["error_code"] == "HOST_NOT_ALLOWED"
    assert foreign.requests == []


async def test_an_allowed_gitlab_is_asked_with_the_callers_token_and_never_with_the_servers(
    labels: StandIn, foreign: StandIn
) -> None:
    foreign.answer("GET", "/projects/1/labels", 200, [{"id": 1, "name": "theirs"}])
    with served(labels.url, "--allow-gitlab-host", foreign.url, GITLAB_TOKEN="house") as server:
        message = call("browse_labels", LIST)
        there = {"X_GitLab_API_URL": f"{foreign.url}/api/v4"}
        there["Authorization"] = f"Bearer {server.secret}"
        assert (await post(server.url, message, **there)).status_code == 401
        assert foreign.requests == []
        assert (await post(server.url, message, **there, PRIVATE_TOKEN="alice")).status_code == 200
    assert {request.token for request in foreign.requests} == {"alice"}
    assert labels.requests == []

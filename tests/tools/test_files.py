from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gitlab_mcp.app import App
from gitlab_mcp.failures.failure import CallFailed
from tests.support.standin import StandIn

pytestmark = pytest.mark.anyio
Against = Callable[..., App]

FILE = {"project_id": "acme/website", "file_path": "src/app.py", "ref": "main"}
WRITE = {"project_id": "acme/website", "branch": "main", "commit_message": "m"}


async def refused(app: App, tool: str, **arguments: Any) -> Any:
    with pytest.raises(CallFailed) as failed:
        await app.call(tool, arguments)
    return failed.value.failure


async def test_lines_are_cut_out_of_a_file(replayed: App) -> None:
    result = await replayed.call("browse_files", {"action": "get", **FILE, "start_line": 4, "end_line": 5})
    assert result.text is not None
    assert result.text.content == "def route_1(request):\n    return {'page': 1}"
    assert (result.data["start_line"], result.data["total_lines"]) == (4, 119)


async def test_a_file_without_a_ref_is_read_from_the_default_branch(
    standin: StandIn, against: Against
) -> None:
    body = {"file_path": "a.txt", "encoding": "text", "content": "x", "ref": "HEAD"}
    standin.answer("GET", "/projects/*/repository/files/*", body=body)
    await against().call(
        "browse_files", {"action": "get", "project_id": "acme/website", "file_path": "dir/a.txt"}
    )
    (request,) = standin.requests
    assert request.path == "/api/v4/projects/acme%2Fwebsite/repository/files/dir%2Fa.txt"
    assert request.params == [("ref", "HEAD")]


async def test_the_last_page_of_a_directory_announces_no_next_one(replayed: App) -> None:
    seen = []
    page: Any = 1
    while page is not None:
        arguments = {"action": "tree", "project_id": "acme/many", "path": "dir", "page": page}
        data = (await replayed.call("browse_files", arguments)).data
        seen += data["items"]
        page = data.get("next_page")
    assert len(seen) == data["total"]


async def test_a_directory_that_does_not_exist_is_not_called_empty(replayed: App) -> None:
    arguments = {"action": "tree", "project_id": "acme/shop", "path": "no/such"}
    result = await replayed.call("browse_files", arguments)
    assert "no such directory" in result.data["why_empty"]


async def test_blame_names_each_commit_once_and_numbers_the_lines(replayed: App) -> None:
    arguments = {
        "action": "blame",
        "project_id": "acme/shop",
        "file_path": "src/shop/checkout.py",
        "ref": "main",
        "start_line": 9,
        "end_line": 14,
    }
    result = await replayed.call("browse_files", arguments)
    shas = [commit["sha"] for commit in result.data["commits"]]
    assert len(shas) == len(set(shas)) > 1
    assert result.text is not None
    numbers = [int(line.split()[1]) for line in result.text.content.split("\n")]
    assert numbers == list(range(9, 9 + result.data["lines"]))


async def test_a_range_of_blame_may_leave_out_its_beginning_but_not_its_end(
    standin: StandIn, against: Against
) -> None:
    standin.answer("GET", "/projects/*/repository/files/*/blame", body=[])
    app = against()
    await app.call("browse_files", {"action": "blame", **FILE, "end_line": 3})
    assert dict(standin.requests[0].params) == {"ref": "main", "range[start]": "1", "range[end]": "3"}
    failure = await refused(app, "browse_files", action="blame", **FILE, start_line=3)
    assert [each["field"] for each in failure.facts["invalid_fields"]] == ["end_line"]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ([], "actions"),
        ([{"action": "create", "file_path": "a"}], "actions.content"),
        ([{"action": "move", "file_path": "a"}], "actions.previous_path"),
        ([{"action": "chmod", "file_path": "a"}], "actions.execute_filemode"),
        ([{"action": "create", "file_path": "a", "content": "n*t", "encoding": "base64"}], "actions.content"),
        ([{"action": "patch", "file_path": "a", "content": "x"}], "actions[0].action"),
    ],
)
async def test_a_commit_that_cannot_work_is_never_sent(
    standin: StandIn, against: Against, changes: list[Any], field: str
) -> None:
    failure = await refused(against(), "manage_file", action="commit", **WRITE, actions=changes)
    assert [each["field"] for each in failure.facts["invalid_fields"]] == [field]
    assert standin.requests == []


async def test_what_is_not_base64_is_never_committed_as_base64(standin: StandIn, against: Against) -> None:
    failure = await refused(
        against(),
        "manage_file",
        action="create",
        **WRITE,
        file_path="a.bin",
        content="n*t",
        encoding="base64",
    )
    assert [each["field"] for each in failure.facts["invalid_fields"]] == ["content"]
    assert standin.requests == []


async def test_the_actions_of_a_commit_may_come_as_json_text(standin: StandIn, against: Against) -> None:
    standin.answer("POST", "/projects/*/repository/commits", 201, {"id": "abc"})
    actions = '[{"action": "delete", "file_path": "old.txt"}]'
    await against().call("manage_file", {"action": "commit", **WRITE, "actions": actions})
    assert standin.requests[0].json["actions"] == [{"action": "delete", "file_path": "old.txt"}]


async def test_a_written_file_comes_with_the_page_that_shows_it(replayed: App) -> None:
    arguments = {
        "action": "create",
        "project_id": "acme/website",
        "file_path": "src/draft.py",
        "branch": "feature/draft",
        "content": "x = 1\n",
        "commit_message": "Draft work",
    }
    result = await replayed.call("manage_file", arguments)
    url = "https://gitlab.example.com/acme/website/-/blob/feature/draft/src/draft.py"
    assert result.data["web_url"] == url


COMMITS = [{"id": "c" * 40, "message": "Change it\n"}]


@pytest.mark.parametrize(
    ("last", "told"),
    [(COMMITS, "c" * 40), ([{**COMMITS[0], "message": "Somebody else's"}], None), ([], None)],
    ids=["mine", "somebody else's", "none"],
)
@pytest.mark.parametrize(("action", "method"), [("create", "POST"), ("update", "PUT"), ("delete", "DELETE")])
async def test_a_written_file_comes_with_its_commit(
    standin: StandIn, against: Against, action: str, method: str, last: list[Any], told: str | None
) -> None:
    answer = (204, None) if method == "DELETE" else (201, {"file_path": "a.txt", "branch": "main"})
    standin.answer(method, "/projects/*/repository/files/*", *answer)
    standin.answer("GET", "/projects/*/repository/commits", body=last)
    content = {} if action == "delete" else {"content": "x"}
    arguments = {**WRITE, "commit_message": "Change it", "file_path": "a.txt", **content}
    found = (await against().call("manage_file", {"action": action, **arguments})).data
    assert found.get("commit_id") == told
    assert standin.requests[-1].params == [("ref_name", "main"), ("path", "a.txt"), ("per_page", "1")]


async def test_a_commit_that_cannot_be_looked_up_does_not_fail_the_write(
    standin: StandIn, against: Against
) -> None:
    standin.answer("POST", "/projects/*/repository/files/*", 201, {"file_path": "a.txt", "branch": "main"})
    standin.answer("GET", "/projects/*/repository/commits", 403, {"message": "403 Forbidden"})
    arguments = {**WRITE, "file_path": "a.txt", "content": "x"}
    found = (await against().call("manage_file", {"action": "create", **arguments})).data
    assert (found["file_path"], found.get("commit_id")) == ("a.txt", None)


UPDATE = {"action": "update", **WRITE, "file_path": "a.txt", "content": "x", "last_commit_id": "b" * 40}


@pytest.mark.parametrize("message", ["404 Commit Not Found", "404 File Not Found"])
async def test_a_guard_gitlab_would_not_look_at_stops_the_write(
    standin: StandIn, against: Against, message: str
) -> None:
    standin.answer("GET", "/projects/*/repository/files/*", 404, {"message": message})
    failure = await refused(against(), "manage_file", **UPDATE)
    assert (failure.code, failure.facts["missing"]) == ("NOT_FOUND", "last_commit_id")
    assert [request.method for request in standin.requests] == ["GET"]


async def test_a_guard_gitlab_knows_is_left_to_gitlab(standin: StandIn, against: Against) -> None:
    standin.answer("GET", "/projects/*/repository/files/*", body={"file_path": "a.txt", "content": ""})
    standin.answer("PUT", "/projects/*/repository/files/*", body={"file_path": "a.txt", "branch": "main"})
    await against().call("manage_file", UPDATE)
    looked, written, _ = standin.requests
    assert looked.params == [("ref", "b" * 40)]
    assert written.json["last_commit_id"] == "b" * 40


async def test_the_name_of_a_branch_guards_nothing_and_is_refused(standin: StandIn, against: Against) -> None:
    failure = await refused(against(), "manage_file", **{**UPDATE, "last_commit_id": "main"})
    assert [each["field"] for each in failure.facts["invalid_fields"]] == ["last_commit_id"]
    assert standin.requests == []

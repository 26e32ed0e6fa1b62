"""Why a line is there: by line, by range and by symbol, with what brought it in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gitlab_mcp.app import App
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.workflows.repository.line_history import Line, lines_of_symbol
from tests.support.standin import StandIn

Against = Callable[..., App]

CART = {"action": "why", "project_id": "acme/shop", "file_path": "src/shop/cart.py", "ref": "main"}


def numbers(text: str, symbol: str) -> list[int]:
    lines = [Line(number, each, {"id": "a" * 40}) for number, each in enumerate(text.split("\n"), 1)]
    return [line.number for line in lines_of_symbol(lines, symbol, range(1, 99)).lines]


@pytest.mark.parametrize(
    ("text", "symbol", "expected"),
    [
        ("x = 1\ndef add(a):\n    b\n\n    c\n\ny = add(1)", "add", [2, 3, 4, 5]),
        ("class A:\n  def go(self):\n    x\n  def stop(self):\n    y", "A.go", [2, 3]),
        ("call(go)\nfunc (s *Server) go(x int) error {\n\treturn nil\n}\nz", "Server.go", [2, 3, 4]),
        ("export const add = (a) => {\n  return a;\n};\nadd(1)", "add", [1, 2, 3]),
        ("public static int total(List<Item> items)\n{\n    return 1;\n}\n", "total()", [1, 2, 3, 4]),
        ("use(Rate)\nRate = 0.19\n", "Rate", [2]),
        ("def go\n  x\nend\nother", "go", [1, 2, 3]),
        ("only used(thing) here", "thing", [1]),
        ("a.b.(*+?[\n", "(*+?[", [1]),
    ],
)
def test_a_symbol_is_the_lines_that_define_it(text: str, symbol: str, expected: list[int]) -> None:
    assert numbers(text, symbol) == expected


@pytest.mark.parametrize("line", ["a." * 500_000, "class " + "a." * 500_000, "x " * 500_000, " " * 1_000_000])
def test_a_line_of_a_megabyte_takes_no_time(line: str) -> None:
    assert numbers(f"{line}\ndef go():\n    pass", "go") == [2, 3]


@pytest.mark.anyio
async def test_a_symbol_of_the_recorded_shop_in_one_call(replayed: App) -> None:
    found = await replayed.call("browse_files", {**CART, "symbol": "Cart.add"})
    first, second = found.data["commits"]
    assert (first["sha"], first["lines"]) == ("a156ed03", 7)
    assert second["title"] == "Refuse quantities below one"
    assert second["merge_request"]["iid"] == 2
    assert [issue["title"] for issue in second["issues"]] == ["Negative quantities are accepted"]
    assert found.text is not None
    assert found.text.content.startswith("a156ed03   16     def add(self, item):")


@pytest.mark.anyio
async def test_lines_are_asked_for_by_their_numbers(replayed: App) -> None:
    found = await replayed.call("browse_files", {**CART, "start_line": 9, "end_line": 14})
    assert [(each["sha"], each["lines"]) for each in found.data["commits"]] == [("a156ed03", 6)]
    nothing = await replayed.call("browse_files", {**CART, "start_line": 900, "end_line": 910})
    assert nothing.data["why_empty"]


@pytest.mark.anyio
async def test_of_several_definitions_the_lines_say_which(replayed: App) -> None:
    every = await replayed.call("browse_files", {**CART, "symbol": "self"})
    later = every.data["symbol_also_at_lines"][0]
    second = await replayed.call("browse_files", {**CART, "symbol": "self", "start_line": later})
    assert second.data["start_line"] == later


async def refused(app: App, **arguments: Any) -> Failure:
    with pytest.raises(CallFailed) as failed:
        await app.call("browse_files", {**CART, **arguments})
    return failed.value.failure


@pytest.mark.anyio
async def test_a_file_alone_is_told_in_words_that_lines_or_a_symbol_are_missing(replayed: App) -> None:
    failure = await refused(replayed)
    assert failure.message == "why needs start_line or symbol."
    assert failure.facts["missing_fields"] == ["start_line|symbol"]
    assert failure.facts["action_required_fields"] == {
        "why": ["project_id", "file_path", "start_line|symbol"]
    }
    assert failure.facts["suggested_fix"] == "Add start_line or symbol."


@pytest.mark.anyio
async def test_a_symbol_that_is_not_there_comes_with_those_that_are_like_it(replayed: App) -> None:
    failure = await refused(replayed, symbol="Carts")
    assert (failure.code, failure.facts["missing"]) == ("NOT_FOUND", "symbol")
    assert failure.facts["did_you_mean"][0] == "Cart"


@pytest.mark.anyio
@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"end_line": 201},
        {"symbol": "add", "start_line": 3, "end_line": 1},
        {"start_line": 5, "end_line": 3},
        {"start_line": 1, "end_line": 201},
        {"start_line": 0},
        {"symbol": ""},
        {"symbol": "x" * 201},
    ],
)
async def test_what_names_no_lines_is_refused_before_anything_is_asked(
    standin: StandIn, against: Against, arguments: dict[str, Any]
) -> None:
    assert (await refused(against(), **arguments)).code in ("INVALID_VALUE", "MISSING_REQUIRED_FIELD")
    assert standin.requests == []


@pytest.mark.anyio
async def test_of_many_commits_those_that_wrote_most_are_looked_up_and_the_rest_is_counted(
    standin: StandIn, against: Against
) -> None:
    parts = [
        {
            "commit": {"id": f"{number:040x}", "message": f"Commit {number}", "author_name": "A"},
            "lines": ["x"] * number,
        }
        for number in range(1, 10)
    ]  # fmt: skip
    standin.answer("GET", "*/blame", body=parts)
    standin.answer("GET", "*/commits/*/merge_requests", body=[])
    found = (await against().call("browse_files", {**CART, "start_line": 1, "end_line": 45})).data
    assert [each["title"] for each in found["commits"]] == [f"Commit {number}" for number in range(4, 10)]
    assert found["truncated"][0]["omitted"] == 3


@pytest.mark.anyio
async def test_merge_requests_that_cannot_be_read_are_named_and_the_commits_are_told(
    standin: StandIn, against: Against
) -> None:
    commit = {
        "id": "a" * 40,
        "message": "Add it\n\nSince it was missing.",
        "author_name": "Al",
        "authored_date": "2026-01-02T",
    }
    standin.answer("GET", "*/blame", body=[{"commit": commit, "lines": ["x"]}])
    standin.answer("GET", "*/commits/*/merge_requests", 403, {"message": "403 Forbidden"})
    found = (await against().call("browse_files", {**CART, "start_line": 1})).data
    assert found["warnings"][0]["unread"] == ["merge_requests"]
    assert found["commits"][0]["message"] == "Since it was missing."

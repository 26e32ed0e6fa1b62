from __future__ import annotations

import json
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitlab_mcp.actions.exchange import Answer
from gitlab_mcp.actions.result import DiffText, Notice, Result, TailText, Text
from gitlab_mcp.results.content_blocks import TextBlock, content_blocks
from gitlab_mcp.results.present_answer import present_answer
from gitlab_mcp.results.size_limit import limit_size
from tests.support.recorded_answers import GetFile, GetIssue, GetPlain, ListIssues, ListWithoutPages, recorded

ISSUE = GetIssue(project_id="1", issue_iid=1)


def weight(result: Result) -> int:
    return sum(len(block.text.encode()) for block in content_blocks(result) if isinstance(block, TextBlock))


def listed(count: int, *, page: int = 1, per_page: int = 20, total: int = 100, size: int = 300) -> Answer:
    first = (page - 1) * per_page
    headers = {
        "x-total": str(total),
        "x-page": str(page),
        "x-per-page": str(per_page),
        "x-next-page": str(page + 1) if first + count < total else "",
    }
    return Answer(200, headers, [{"iid": first + index, "title": "é" * size} for index in range(count)])


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=60)
    | st.text("aé漢🚀\u202e\"\\\n", max_size=3000),
    lambda inner: st.lists(inner, max_size=12) | st.dictionaries(st.text(max_size=12), inner, max_size=8),
    max_leaves=40,
)  # fmt: skip
objects = st.dictionaries(st.text(max_size=12), json_values, max_size=10)
texts = st.none() | st.builds(
    lambda kind, content, source: kind(content, source),
    st.sampled_from([Text, TailText, DiffText]),
    st.text("ab é漢🚀\n", max_size=6000) | st.lists(st.text("+- x", max_size=40), max_size=80).map("\n".join),
    st.text(max_size=300),
)
warnings = st.lists(st.builds(Notice, st.just("PARTIAL"), st.text(max_size=400)), max_size=3)


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(
    objects,
    st.lists(json_values, max_size=12),
    texts,
    warnings,
    st.integers(1000, 6000),
)
def test_any_result_fits_its_budget_and_says_what_was_cut(
    data: dict[str, Any], items: list[Any], text: Text | None, warned: list[Notice], max_bytes: int
) -> None:
    result = Result(data={**data, "items": items}, text=text, warnings=warned)
    found = present_answer(ListIssues(project_id="1"), result, detail="slim", max_bytes=max_bytes)
    assert weight(found) <= max_bytes
    first = content_blocks(found)[0]
    assert isinstance(first, TextBlock)
    parsed = json.loads(first.text)
    whole = present_answer(ListIssues(project_id="1"), result, detail="slim", max_bytes=200_000)
    assert parsed == whole.data or parsed["truncated"]


@given(st.lists(json_values, max_size=30), st.integers(1000, 4000), st.sampled_from(["slim", "full"]))
def test_any_answer_fits_its_budget(body: list[Any], max_bytes: int, detail: Any) -> None:
    for answer in (Answer(200, {}, body), Answer(200, {}, {"all": body})):
        found = present_answer(ListIssues(project_id="1"), answer, detail=detail, max_bytes=max_bytes)
        assert weight(found) <= max_bytes


@settings(max_examples=60)
@given(st.integers(1, 5), st.integers(5, 40), st.integers(50, 400), st.integers(1000, 6000))
def test_following_next_page_shows_every_item_once(
    page: int, per_page: int, size: int, max_bytes: int
) -> None:
    total, seen = 70, list[int]()
    asked_page, asked_size = 1, per_page
    for _ in range(200):
        first = (asked_page - 1) * asked_size
        count = max(0, min(asked_size, total - first))
        answer = listed(count, page=asked_page, per_page=asked_size, total=total, size=size)
        action = ListIssues(project_id="1", page=asked_page, per_page=asked_size)
        data = present_answer(action, answer, detail="slim", max_bytes=max_bytes).data
        seen += [item["iid"] for item in data["items"]]
        if "next_page" not in data:
            break
        asked_page, asked_size = data["next_page"], data.get("per_page", asked_size)
    assert seen == list(range(total))


def test_items_go_from_the_end_and_the_next_page_begins_with_the_first_that_went() -> None:
    found = present_answer(ListIssues(project_id="1"), listed(20), detail="slim", max_bytes=5000).data
    shown = len(found["items"])
    assert 0 < shown < 20
    assert found["total"] == 100
    assert (found["next_page"], found["per_page"]) == (2, shown)
    assert found["truncated"] == [
        {"what": "items", "omitted": 20 - shown, "how_to_get_it": f"page=2, per_page={shown}"}
    ]


def test_a_later_page_is_cut_where_a_page_of_decent_size_begins() -> None:
    """Nine items would fit, and 29 items can only be skipped one by one; 27 are three pages of nine."""
    found = present_answer(
        ListIssues(project_id="1", page=2), listed(20, page=2), detail="slim", max_bytes=6000
    ).data
    assert [item["iid"] for item in found["items"]] == list(range(20, 27))
    assert (found["next_page"], found["per_page"]) == (4, 9)


def test_a_list_without_pages_asks_for_more_bytes() -> None:
    answer = Answer(200, {}, [{"name": "x" * 500} for _ in range(10)])
    found = present_answer(ListWithoutPages(project_id="1"), answer, detail="slim", max_bytes=2000).data
    assert found["truncated"] == [{"what": "items", "omitted": 7, "how_to_get_it": "max_bytes=6000"}]


def test_a_cut_list_with_a_cursor_does_not_lead_past_what_was_cut() -> None:
    headers = {"link": '<https://x/api/v4/y?cursor=abc&per_page=20>; rel="next"'}
    answer = Answer(200, headers, [{"title": "x" * 500} for _ in range(10)])
    found = present_answer(ListIssues(project_id="1"), answer, detail="slim", max_bytes=2000).data
    assert "next_page" not in found
    assert found["truncated"] == [{"what": "items", "omitted": 7, "how_to_get_it": "per_page=3"}]


def test_what_is_asked_for_with_the_named_bytes_is_whole() -> None:
    answer = Answer(200, {}, {"title": "t", "description": "é" * 20_000})
    cut = present_answer(ISSUE, answer, detail="slim", max_bytes=24_000)
    assert cut.data["description"].endswith("é…")
    (entry,) = cut.data["truncated"]
    assert entry["what"] == "characters of description"
    assert entry["omitted"] == 20_001 - len(cut.data["description"])
    assert weight(cut) > 23_900
    more = int(entry["how_to_get_it"].removeprefix("max_bytes="))
    assert present_answer(ISSUE, answer, detail="slim", max_bytes=more).data == {
        "untrusted": ["title", "description"],
        **answer.body,
    }


def test_short_members_stay_when_a_long_one_is_cut() -> None:
    answer = Answer(200, {}, {"a": "x" * 9000, "b": "y" * 300, "c": list(range(5))})
    found = present_answer(GetPlain(project_id="1"), answer, detail="full", max_bytes=2000).data
    assert found["b"] == "y" * 300
    assert found["c"] == list(range(5))


def test_text_is_cut_at_a_line_and_says_where_to_read_on() -> None:
    lines = [f"line {number}" for number in range(1, 1001)]
    result = Result(data={"start_line": 1, "total_lines": 1000}, text=Text("\n".join(lines), "file x"))
    found = present_answer(GetFile(project_id="1"), result, detail="slim", max_bytes=2000)
    assert found.text is not None
    shown = found.text.content.split("\n")
    assert shown == lines[: len(shown)]
    assert found.data["truncated"] == [
        {
            "what": "lines of text",
            "omitted": 1000 - len(shown),
            "how_to_get_it": f"start_line={len(shown) + 1}",
        }
    ]


def test_a_tail_loses_its_beginning() -> None:
    lines = [f"line {number}" for number in range(301, 1001)]
    result = Result(data={"start_line": 301, "total_lines": 1000}, text=TailText("\n".join(lines), "log"))
    found = present_answer(GetFile(project_id="1"), result, detail="slim", max_bytes=2000)
    assert found.text is not None
    shown = found.text.content.split("\n")
    assert shown == lines[-len(shown) :]
    assert found.data["start_line"] == 1001 - len(shown)
    assert found.data["truncated"][0]["how_to_get_it"] == f"end_line={1000 - len(shown)}"


def test_a_diff_is_cut_between_files_and_a_long_one_does_not_hide_the_next() -> None:
    def file(name: str, lines: int) -> str:
        return f"diff --git a/{name} b/{name}\n@@ -0,0 +1 @@\n" + "\n".join("+x" * 20 for _ in range(lines))

    small, large, other = file("small.py", 3), file("large.py", 500), file("other.py", 3)
    result = Result(data={}, text=DiffText("\n".join((small, large, other)), "diff"))
    found = present_answer(GetPlain(project_id="1"), result, detail="slim", max_bytes=2000)
    assert found.text == DiffText(f"{small}\n{other}", "diff")
    assert found.data["truncated"] == [
        {
            "what": "diffs of files",
            "omitted": 1,
            "how_to_get_it": "max_bytes=22000",
            "first_omitted": "large.py",
        }
    ]


def test_a_recorded_list_of_issues_fits_a_small_budget() -> None:
    answer = recorded("issues", "/projects/22/issues?per_page=20&page=1")
    found = present_answer(ListIssues(project_id="22"), answer, detail="full", max_bytes=6000)
    assert 5000 < weight(found) <= 6000
    assert found.data["next_page"] == 2


def test_a_list_is_never_cut_to_an_empty_one() -> None:
    data = {f"list_{number}": [{"name": "x" * 40, "log": "y" * 40}] * 3 for number in range(12)}
    cut = limit_size(Result(data=data), 1200).data
    assert cut
    assert [] not in cut.values()

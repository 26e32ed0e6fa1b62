from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitlab_mcp.actions.exchange import Request
from gitlab_mcp.gitlab.faults import Refused
from gitlab_mcp.refusals.body import LONGEST_MESSAGE, RefusalBody, one_line, read_body


def read(body: Any) -> RefusalBody:
    return read_body(
        Refused(Request("GET", "/x"), 400, {"content-type": "application/json"}, json.dumps(body).encode())
    )


@pytest.mark.parametrize(
    ("body", "field_errors"),
    [
        ({"error": "name is missing, color is invalid"}, {"name": ("is missing",), "color": ("is invalid",)}),
        ({"error": "a, b are mutually exclusive"}, dict.fromkeys("ab", ("are mutually exclusive",))),
        (
            {"error": "level is missing, id, name are missing, at least one parameter must be provided"},
            {
                "level": ("is missing",),
                **dict.fromkeys(("id", "name"), ("are missing, at least one parameter must be provided",)),
            },
        ),
        ({"message": {"title": ["can't be blank", "is bad"]}}, {"title": ("can't be blank", "is bad")}),
        ({"message": 'Failed {:path=>["is \\"bad\\"", "taken"]}'}, {"path": ('is \\"bad\\"', "taken")}),
        ({"message": "Target nosuch is invalid"}, {}),
        ({"message": ["Name has already been taken"]}, {}),
    ],
)
def test_field_errors_are_found_in_every_shape(body: Any, field_errors: dict[str, tuple[str, ...]]) -> None:
    assert read(body).field_errors == field_errors


@pytest.mark.parametrize(
    ("body", "status_only", "missing_name"),
    [
        ({"message": "403 Forbidden"}, "403 Forbidden", None),
        ({"message": "404 Not found"}, "404 Not found", None),
        ({"message": "404 Project Not Found"}, "404 Project Not Found", "Project"),
        ({"message": "403 Forbidden - Job is not retryable"}, "", None),
        (404, "404", None),
    ],
)
def test_a_status_without_a_reason_is_read_as_the_status_only(
    body: Any, status_only: str, missing_name: str | None
) -> None:
    assert (read(body).status_only, read(body).missing_name) == (status_only, missing_name)


def test_a_missing_route_is_told_from_a_missing_record() -> None:
    assert read({"error": "404 Not Found"}).no_such_route
    assert not read({"message": "404 Not Found"}).no_such_route


HOSTILE = "\u202e\u200b\x00\x1b[31m\u2066\ufeff\U000e0041\ud800"


def test_characters_nobody_sees_are_gone() -> None:
    shown = read({"message": f"a{HOSTILE}b"}).message
    assert shown.isprintable()
    # Half of a character is shown as the sign for one that cannot be read.
    assert shown.replace(" ", "") == "a[31m\ufffdb"


@given(st.text(max_size=2000))
def test_a_message_is_one_short_printable_line(text: str) -> None:
    shown = one_line(text)
    assert len(shown) <= LONGEST_MESSAGE
    assert "\n" not in shown
    assert not any("\u200b" <= letter <= "\u200f" or "\u202a" <= letter <= "\u202e" for letter in shown)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_whatever_json_comes_is_read(body: Any) -> None:
    assert len(read(body).message) <= LONGEST_MESSAGE
    assert len(read({"message": body}).message) <= LONGEST_MESSAGE
    assert len(read({"error": body, "error_description": body, "scope": body}).message) <= LONGEST_MESSAGE

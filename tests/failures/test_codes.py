from __future__ import annotations

import json
from importlib import resources

import pytest

from gitlab_mcp.failures.codes import CODES, NOTICES, Code, CodeEntry, NoticeCode, Recovery
from gitlab_mcp.failures.facts import FACTS
from gitlab_mcp.failures.tool_names import operation_name
from tests.support.for_each import for_each


def test_every_code_is_described_and_named_after_its_value() -> None:
    assert list(CODES) == list(Code)
    assert list(NOTICES) == list(NoticeCode)
    assert all(code.name == code.value for code in (*Code, *NoticeCode))


@for_each(CODES.values(), lambda code: code.name)
def test_advice_is_whole_sentences(code: CodeEntry) -> None:
    for advice in (code.agent, code.person):
        assert advice[0].isupper()
        assert advice.endswith(".")


@for_each(CODES.values(), lambda code: code.name)
def test_one_code_has_one_recovery_that_agrees_with_whether_to_try_again(code: CodeEntry) -> None:
    hopeless = code.recovery in (Recovery.NO, Recovery.CHECK_FIRST)
    assert code.retryable is not hopeless


def test_slugs_are_unique_and_in_kebab_case() -> None:
    slugs = [code.slug for code in CODES.values()]
    assert len(set(slugs)) == len(slugs)
    assert CODES[Code.TIER_RESTRICTED].slug == "tier-restricted"


@pytest.mark.parametrize(
    ("tool", "expected"),
    [
        ("manage_merge_request", "merge_requests:create"),
        ("browse_merge_requests", "merge_requests:create"),
        ("manage_branch", "branches:create"),
        ("manage_vulnerability", "vulnerabilities:create"),
        ("manage_registry", "registry:create"),
        ("search", "search:create"),
    ],
)
def test_reading_and_writing_one_noun_are_one_category(tool: str, expected: str) -> None:
    assert operation_name(tool, "create") == expected


def test_every_code_has_a_cause_and_an_example_of_its_own() -> None:
    text = resources.files("gitlab_mcp").joinpath("failures", "examples.json").read_text("utf-8")
    examples = json.loads(text)
    assert list(examples) == list(CODES)
    for name, example in examples.items():
        assert example["answer"]["error_code"] == name
        assert example["source"] in ("recorded", "this server alone", "synthetic")
        assert example["answer"].get("suggested_fix")
        assert set(example["answer"]) - {"error", "error_code", "message"} <= set(FACTS)
        assert CODES[name].cause.endswith(".")

"""Test reports of pipelines: the tests that failed, and how many there were."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

LONGEST_MESSAGE = 800
_COUNTS = ("total_count", "success_count", "failed_count", "error_count", "skipped_count")


def nonzero_counts(report: Mapping[str, Any]) -> dict[str, int]:
    """How many tests there were, succeeded, failed and so on, of a report or of one of its suites."""
    return {name.removesuffix("_count"): report[name] for name in _COUNTS if report.get(name)}


def failed_tests(report: Mapping[str, Any], longest: int = LONGEST_MESSAGE) -> list[dict[str, Any]]:
    return [
        _failed_test(suite, case, longest)
        for suite in report.get("test_suites") or ()
        for case in suite.get("test_cases") or ()
        if case.get("status") in ("failed", "error")
    ]


def unreadable_suites(report: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Suites whose reports GitLab could not read."""
    return [
        {"suite": suite.get("name"), "message": suite["suite_error"]}
        for suite in report.get("test_suites") or ()
        if suite.get("suite_error")
    ]


def _failed_test(suite: Mapping[str, Any], case: Mapping[str, Any], longest: int) -> dict[str, Any]:
    message = _text(case.get("system_output")) or _text(case.get("stack_trace"))
    recent = case.get("recent_failures") or {}
    shown = {
        "suite": suite.get("name"),
        "name": case.get("name"),
        "classname": case.get("classname"),
        "file": case.get("file"),
        "status": case.get("status") if case.get("status") != "failed" else None,
        "message": message if len(message) <= longest else f"{message[:longest]}…",
        "failed_lately": recent.get("count"),
    }
    return {name: value for name, value in shown.items() if value}


def _text(output: Any) -> str:
    # GitLab passes on what the XML became: text, or an object where an element had attributes.
    if isinstance(output, Mapping):
        output = output.get("message") or output.get("__content__") or ""
    return str(output or "").strip()

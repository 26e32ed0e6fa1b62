"""Endpoints that answer with success and leave the object in the state it was in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Final

from gitlab_mcp.actions.references import project_of
from gitlab_mcp.actions.result import Notice
from gitlab_mcp.success_checks.not_applied_notice import not_applied
from gitlab_mcp.success_checks.success import Success

Given = Mapping[str, Any]
Body = Mapping[str, Any]

_ENDED: Final = ("success", "failed", "skipped", "manual")


@dataclass(frozen=True, slots=True)
class Rule:
    method: str
    path: str
    """`*` stands for anything."""
    is_unchanged: Callable[[Given, Body], bool]
    message: str
    field: str | None = None


def _names_of_project(body: Body) -> tuple[str, str]:
    return str(body.get("project_id")), project_of(body)


def _waits_for_nothing(body: Body) -> bool:
    pipeline = body.get("head_pipeline")
    ended = isinstance(pipeline, Mapping) and pipeline.get("status") in ("failed", "canceled")
    return ended and body.get("state") == "opened"


RULES: Final = (
    Rule(
        "POST", "/projects/*/environments/*/stop",
        lambda given, body: body.get("state") == "available",
        "The environment was not stopped: it takes a Developer who may deploy to it.",
    ),
    Rule(
        "POST", "/projects/*/issues/*/move",
        lambda given, body: str(given["project_id"]) in _names_of_project(body),
        "The issue stayed where it is: it was moved to its own project.",
        "to_project_id",
    ),
    Rule(
        "POST", "/projects/*/jobs/*/cancel",
        lambda given, body: body.get("status") in _ENDED,
        "There was nothing to cancel: the job does not wait or run.",
    ),
    Rule(
        "POST", "/projects/*/pipelines/*/cancel",
        lambda given, body: body.get("status") in _ENDED,
        "There was nothing to cancel: the pipeline does not wait or run.",
    ),
    Rule(
        "PUT", "/projects/*/merge_requests/*/merge",
        lambda given, body: bool(given.get("squash")) and body.get("squash_on_merge") is False,
        "It was merged without squashing: the project does not allow it.",
        "squash",
    ),
    Rule(
        "PUT", "/projects/*/merge_requests/*/merge",
        lambda given, body: bool(given.get("auto_merge")) and _waits_for_nothing(body),
        "It is set to merge by itself, but its pipeline has failed or was canceled: nothing is merged until a new one "
        "succeeds. browse_pipelines failure_digest says why it failed.",
        "auto_merge",
    ),
)  # fmt: skip


def unchanged_state(success: Success) -> Iterator[Notice]:
    body = success.body
    if not success.writes or not isinstance(body, Mapping):
        return
    for rule in RULES:
        applies = rule.method == success.method and fnmatchcase(success.path, rule.path)
        if applies and rule.is_unchanged(success.given, body):
            yield not_applied(rule.message, field=rule.field)

"""Answers that say yes, and inside that nothing was done."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Final

from gitlab_mcp.actions.result import Notice
from gitlab_mcp.failures.codes import NoticeCode
from gitlab_mcp.refusals.bodies import clean
from gitlab_mcp.success_checks.success import Success

Given = Mapping[str, Any]

_COMMAND: Final = re.compile(r"^/[a-z_]+(?=\s|$)", re.MULTILINE)
_SHOW_NO_CHANGES: Final = {"/request_changes", "/submit_review"}
"""Carried out without being among the changes that GitLab names."""
_ENDED: Final = ("success", "failed", "skipped", "manual")


@dataclass(frozen=True, slots=True)
class Act:
    method: str
    path: str
    """`*` stands for anything."""
    undone: Callable[[Given, Mapping[str, Any]], bool]
    message: str
    field: str | None = None


ACTS: Final = (
    Act(
        "POST", "/projects/*/environments/*/stop",
        lambda given, body: body.get("state") == "available",
        "The environment was not stopped: it takes a Developer who may deploy to it.",
    ),
    Act(
        "POST", "/projects/*/jobs/*/cancel",
        lambda given, body: body.get("status") in _ENDED,
        "There was nothing to cancel: the job does not wait or run.",
    ),
    Act(
        "POST", "/projects/*/pipelines/*/cancel",
        lambda given, body: body.get("status") in _ENDED,
        "There was nothing to cancel: the pipeline does not wait or run.",
    ),
    Act(
        "PUT", "/projects/*/merge_requests/*/merge",
        lambda given, body: bool(given.get("squash")) and body.get("squash_on_merge") is False,
        "It was merged without squashing: the project does not allow it.",
        "squash",
    ),
)  # fmt: skip


def undone(success: Success) -> Iterator[Notice]:
    body = success.body
    if not success.writes or not isinstance(body, Mapping):
        return
    given = _commands(success.given.get("body"))
    if "summary" in body and body.get("commands_changes") == {} and not (given and given <= _SHOW_NO_CHANGES):
        yield _not_applied("The quick actions changed nothing.", gitlab_message=_said(body["summary"]))
    if body.get("status") == "error" and "message" in body:
        message = "GitLab said yes and refused inside its answer; nothing of what it names was done."
        yield _not_applied(message, gitlab_message=_said(body["message"]))
    if commands := given & _commands(body.get("body")):
        message = "GitLab does not know the quick action here and wrote it as text."
        yield _not_applied(message, field="body", quick_actions=sorted(commands))
    for act in ACTS:
        fits = act.method == success.method and fnmatchcase(success.path, act.path)
        if fits and act.undone(success.given, body):
            yield _not_applied(act.message, field=act.field)


def _commands(text: Any) -> set[str]:
    return set(_COMMAND.findall(text)) if isinstance(text, str) else set()


def _not_applied(message: str, **facts: Any) -> Notice:
    return Notice(NoticeCode.NOT_APPLIED, message, {name: value for name, value in facts.items() if value})


def _said(said: Any) -> str:
    if isinstance(said, Mapping):
        said = [f"{name}: {reason}" for name, reason in said.items()]
    return clean(" ".join(map(str, said)) if isinstance(said, list) else str(said or ""))

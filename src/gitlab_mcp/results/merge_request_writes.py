"""What GitLab says yes to and does not do, when it writes a merge request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gitlab_mcp.core.action import Action
from gitlab_mcp.core.exchange import Answer
from gitlab_mcp.core.result import Result, Warning
from gitlab_mcp.errors.failure import Failure
from gitlab_mcp.results.views import written

_PEOPLE = {"assignee_ids": "assignees", "reviewer_ids": "reviewers"}


def telling(action: Action, answer: Answer) -> Answer | Result:
    """The answer, with a warning for each thing that was asked for and not done."""
    warnings = list(_not_done(action.given(), answer.body))
    if not warnings:
        return answer
    return Result(data=written(answer.body, action.spec.shows, action.given()), warnings=warnings)


def _not_done(given: Mapping[str, Any], body: Mapping[str, Any]) -> Iterator[Warning]:
    for name, shown_as in _PEOPLE.items():
        wanted = set(given.get(name) or ()) - {0}
        kept = {user["id"] for user in body.get(shown_as) or ()}
        if lost := sorted(wanted - kept):
            yield _dropped({"field": name, "dropped": lost}, on_free=bool(kept & wanted))
    # A project that forbids squashing merges all the same.
    if given.get("squash") and body.get("state") == "merged" and body.get("squash_on_merge") is False:
        message = "It was merged without squashing: the project does not allow it."
        yield Warning("NOT_APPLIED", message, {"field": "squash"})


def _dropped(facts: Mapping[str, Any], *, on_free: bool) -> Warning:
    if on_free:
        facts = {**facts, "feature": "multiple_mr_assignees_reviewers"}
        return Warning("TIER_IGNORED", "GitLab kept one of them: several need Premium.", facts)
    return Warning("NOT_APPLIED", "GitLab dropped them: unknown, or without access to the project.", facts)


def not_cancelled(body: Any) -> Failure | None:
    """Cancelling auto-merge is answered 201 in any case; whether it was done is inside."""
    if not isinstance(body, Mapping) or not (body.get("status") == "error" or body.get("http_status") == 406):
        return None
    said = body.get("message")
    return Failure("CONFLICT", "It was not set to merge by itself, so there is nothing to cancel.").knowing(
        http_status=body.get("http_status"),
        confidence="likely",
        evidence=["GitLab answered 201 with an error inside"],
        gitlab_message=said if isinstance(said, str) else None,
        suggested_fix="Read merge_when_pipeline_succeeds and state: browse_merge_requests get.",
    )

"""Writes that are made of several: may each be made here, and what is told where a later one fails."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gitlab_mcp.actions.exchange import Answer
from gitlab_mcp.actions.result import Notice
from gitlab_mcp.actions.server import Server
from gitlab_mcp.failures.codes import NoticeCode
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.refusals.alternatives import call


def require_steps(server: Server, *steps: str) -> None:
    """Refuses the whole before anything is written, where this server would refuse one of `manage_branch delete`."""
    for step in steps:
        tool, _, name = step.partition(" ")
        action = server.registry.action(tool, name)
        refusal = server.refusal(action) if action is not None else None
        if refusal is not None:
            code, why = refusal
            failure = Failure(code, f"It takes {step}, which is refused here. Nothing was done. {why}")
            fix = "Do not try again; tell the person what you wanted to do."
            raise CallFailed(failure.knowing(confidence="certain", suggested_fix=fix, retryable=False))


async def take(
    server: Server, step: str, arguments: Mapping[str, Any], known: Mapping[str, Answer] | None = None
) -> Mapping[str, Any]:
    """What the step, such as `manage_branch delete`, answers. What is `known`, by path, it does not read again."""
    tool, _, action = step.partition(" ")
    return (await server.make_step(tool, {"action": action, **arguments}, known)).data


def warnings_of(answer: Mapping[str, Any]) -> list[Notice]:
    """The warnings in what a step has answered, for the answer of the whole."""
    return [
        Notice(
            NoticeCode(each["code"]),
            each["message"],
            {name: fact for name, fact in each.items() if name not in ("code", "message")},
        )
        for each in answer.get("warnings", ())
    ]


def not_done(what_stands: str, step: str, arguments: Mapping[str, Any], failure: Failure) -> Notice:
    """For a success of which the last step failed: what stands, why, and the call that does the rest."""
    facts: dict[str, Any] = {"error_code": failure.code, "why": failure.message}
    if fix := failure.facts.get("suggested_fix"):
        facts["suggested_fix"] = fix
    if check := failure.facts.get("check_with"):
        facts["check_with"] = check
    else:
        facts["next"] = call(step, arguments, "Does the rest, once what is in its way is gone.")
    return Notice(NoticeCode.PARTIAL, what_stands, facts)

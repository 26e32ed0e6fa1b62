"""How dangerous an action may be, and from where on a person must say yes. This table is all there is:

| danger      | without settings                     | setting that changes it            |
| ----------- | ------------------------------------ | ---------------------------------- |
| read        | free                                 |                                    |
| reversible  | free                                 | `--confirm reversible`             |
| destructive | asks for confirmation                | `--confirm`, `--trust reversible`  |
| dangerous   | refused, the trust does not reach it | `--trust dangerous`, then it asks  |
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from gitlab_mcp.actions.action import Danger
from gitlab_mcp.actions.call import Call
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.policy import Guard, Intent

LADDER: Final = (Danger.READ, Danger.REVERSIBLE, Danger.DESTRUCTIVE, Danger.DANGEROUS)


def exceeds(danger: Danger, most: Danger) -> bool:
    return LADDER.index(danger) > LADDER.index(most)


def trusted_up_to(trust: Danger) -> Guard:
    """The operator's word on how far callers are trusted."""

    async def within(intent: Intent) -> None:
        danger = intent.call.danger
        if exceeds(danger, trust):
            raise CallFailed(
                _refusal(Code.TRUST_INSUFFICIENT, intent, trust).knowing(
                    setting="trust",
                    suggested_fix=f"Do not try again. Tell the person what you wanted to do: the operator would have "
                    f"to start the server with --trust {danger}.",
                )
            )

    return within


def narrowed_to(most: Danger) -> Guard:
    """A request's own word on how far it goes."""

    async def within(intent: Intent) -> None:
        if exceeds(intent.call.danger, most):
            raise CallFailed(
                _refusal(Code.DANGER_DENIED, intent, most).knowing(
                    suggested_fix="Do not try again; the client that sent the request limits how dangerous it may be."
                )
            )

    return within


def needs_confirmation(least: Danger | None) -> Callable[[Call], bool]:
    """`least` is the least dangerous kind of action that a person must confirm; None: nobody is asked."""
    if least is None:
        return lambda call: False
    return lambda call: not exceeds(least, call.danger)


def _refusal(code: Code, intent: Intent, most: Danger) -> Failure:
    name, danger = intent.call.action.spec.name, intent.call.danger
    what = f"{name} with quick_actions" if intent.call.options.quick_actions else name
    return Failure(code, f"{what} is {danger}, and callers may do at most what is {most} here.").knowing(
        danger=str(danger),
        trust_held=str(most),
        trust_required=str(danger),
        confidence="certain",
        retryable=False,
    )

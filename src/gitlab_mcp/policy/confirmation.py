"""A person says yes first: a refusal that says what will happen, with a token that lets exactly this call pass once."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from gitlab_mcp.actions.call import Call
from gitlab_mcp.callers import CallerKey
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.failures.tool_names import operation_name
from gitlab_mcp.policy import Intent
from gitlab_mcp.policy.confirmation_tokens import Tokens, claims
from gitlab_mcp.policy.effects import effect
from gitlab_mcp.policy.quotas import going_on

_HOW_IT_LOOKS: Final = {"url", "detail", "max_bytes", "format", "confirmation_token"}
"""Options that change nothing of what happens. A URL has become ids by now."""


@dataclass(frozen=True, slots=True)
class Confirmation:
    """As a guard: lets pass what needs no yes, and what has one."""

    needed: Callable[[Call], bool]
    tokens: Tokens

    async def __call__(self, intent: Intent) -> None:
        call, caller = intent.call, intent.caller
        if not self.needed(call):
            return
        given = call.options.confirmation_token
        # One that lets paused work go on has been redeemed before, and says nothing about this call.
        if given is not None and not claims(given, going_on(call)):
            await self.tokens.redeem(given, caller, subject(call, caller))
            return
        operation = operation_name(call.tool.name, call.action.spec.name)
        token, ends = await self.tokens.issue(caller, subject(call, caller), operation)
        will = await effect(intent)
        raise CallFailed(
            Failure(Code.CONFIRMATION_REQUIRED, f"{call.action.spec.name} needs a yes first. {will}").knowing(
                what_will_happen=will,
                danger=str(call.danger),
                confirmation_token=token,
                expires_at=ends,
                suggested_fix="Show the person what_will_happen. After a yes, send the same call again with "
                "confirmation_token; after a no, do not.",
            )
        )


def subject(call: Call, caller: CallerKey) -> str:
    """Everything that decides what happens."""
    arguments = call.action.model_dump(mode="json", exclude_unset=True)
    options = call.options.model_dump(mode="json", exclude_unset=True, exclude=_HOW_IT_LOOKS)
    name = ["confirm", caller.gitlab_url, call.tool.name, call.action.spec.name]
    return json.dumps([name, arguments, options], sort_keys=True)

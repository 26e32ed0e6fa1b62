"""How a confirmation is asked for: the call is refused with a sentence for the person and a token.

The same call with that token passes once. Which actions need this is decided in `confirmation_required.py`.
"""

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
from gitlab_mcp.policy.confirmation_tokens import ConfirmationTokens, is_for
from gitlab_mcp.policy.guard import ProposedCall
from gitlab_mcp.policy.quotas import resume_purpose
from gitlab_mcp.policy.what_will_happen import what_will_happen

_WITHOUT_EFFECT: Final = {"url", "detail", "fields", "max_bytes", "format", "confirmation_token"}
"""Options that do not change what the call does in GitLab. A URL has been replaced by ids before."""


@dataclass(frozen=True, slots=True)
class AskForConfirmation:
    """As a guard: refuses a call that needs a confirmation and has none."""

    required: Callable[[Call], bool]
    tokens: ConfirmationTokens

    async def __call__(self, proposed: ProposedCall) -> None:
        call, caller = proposed.call, proposed.caller
        if not self.required(call):
            return
        token = call.options.confirmation_token
        # The quota guard has already redeemed a token to resume paused work. It does not confirm this call.
        if token is not None and not is_for(token, resume_purpose(call)):
            await self.tokens.redeem(token, caller, purpose(call, caller))
            return
        await call.action.refuse_before_asking(proposed.ask)
        operation = operation_name(call.tool.name, call.action.spec.name)
        token, expires_at = await self.tokens.issue(caller, purpose(call, caller), operation)
        effect = await what_will_happen(proposed)
        raise CallFailed(
            Failure(
                Code.CONFIRMATION_REQUIRED, f"{call.action.spec.name} needs a yes first. {effect}"
            ).knowing(
                what_will_happen=effect,
                danger=str(call.danger),
                confirmation_token=token,
                expires_at=expires_at,
                suggested_fix="Show the person what_will_happen. After a yes, send the same call again with "
                "confirmation_token; after a no, do not.",
            )
        )


def purpose(call: Call, caller: CallerKey) -> str:
    """Everything that decides what the call does. A token is bound to it."""
    arguments = call.action.model_dump(mode="json", exclude_unset=True)
    options = call.options.model_dump(mode="json", exclude_unset=True, exclude=_WITHOUT_EFFECT)
    name = ["confirm", caller.gitlab_url, call.tool.name, call.action.spec.name]
    return json.dumps([name, arguments, options], sort_keys=True)

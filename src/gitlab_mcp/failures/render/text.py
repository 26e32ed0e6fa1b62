"""One sentence that says whose turn it is: the caller's, who can try again, or somebody else's."""

from __future__ import annotations

import json
from typing import Any, Final

from gitlab_mcp.failures.codes import Recovery
from gitlab_mcp.failures.failure import Failure
from gitlab_mcp.failures.render.facts import facts

_CLOSING: Final = {
    Recovery.FIX_ARGUMENTS: "You may be able to resolve this by changing the call and trying again.",
    Recovery.LATER: "The same call may work later.",
    Recovery.WITH_TOKEN: "The same call works with confirmation_token after a yes of the person.",
    Recovery.ASK_AGAIN: "A new confirmation makes it work.",
    Recovery.CHECK_FIRST: "It must not simply be sent again, because it may have happened.",
    Recovery.PER_ITEM: "The error of each item says what makes it work.",
    Recovery.NO: "Sending the call again will not resolve this.",
}
_SYSTEM_ERROR: Final = "This is a system error and cannot be resolved by retrying."


def sentence(failure: Failure) -> str:
    known, ours = failure.facts, failure.is_nobodys_mistake
    parts = [
        f"{f'Server Error ({failure.status})' if ours else 'Input Error'}: {failure.message}",
        known.get("suggested_fix"),
        f"check_with: {as_call(known['check_with'])}." if "check_with" in known else None,
        f"Event ID: {known['event_id']}." if "event_id" in known else None,
        _SYSTEM_ERROR if ours and failure.recovery is Recovery.NO else _CLOSING[failure.recovery],
    ]
    return " ".join(part for part in parts if part)


def as_call(call: dict[str, Any]) -> str:
    """`browse_issues list {"project_id": "acme/website"}`."""
    arguments = call.get("arguments")
    return f"{call['action']} {json.dumps(arguments, ensure_ascii=False)}" if arguments else call["action"]


def render(failure: Failure) -> dict[str, Any]:
    return {"error": sentence(failure), "error_code": failure.code, **facts(failure, render)}

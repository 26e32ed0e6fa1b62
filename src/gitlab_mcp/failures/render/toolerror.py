"""`toolError:v1`; `needsInput:v1` where a person could supply what is missing."""

from __future__ import annotations

from typing import Any

from gitlab_mcp.failures.codes import Recovery
from gitlab_mcp.failures.failure import Failure
from gitlab_mcp.failures.render.facts import code_of, facts, status_of


def render(failure: Failure) -> dict[str, Any]:
    code = code_of(failure)
    known = facts(failure)
    known.pop("retryable")
    return {
        "kind": "needsInput:v1" if code.needs_input else "toolError:v1",
        "code": code.toolerror,
        "message": failure.message,
        # This dialect's clients send the same call again, with a growing pause: only waiting may say yes here.
        "retryable": code.recovery is Recovery.LATER,
        "details": {
            "error_code": failure.code,
            "statusCode": status_of(failure),
            "recovery": str(code.recovery),
            **known,
        },
    }

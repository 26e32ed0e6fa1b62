"""`toolError:v1`; `needsInput:v1` where a person could supply what is missing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from gitlab_mcp.failures.codes import Code, Recovery
from gitlab_mcp.failures.failure import Failure
from gitlab_mcp.failures.render.facts import code_of, facts

_YES_OR_NO: Final = ("yes", "no")


def render(failure: Failure) -> dict[str, Any]:
    code = code_of(failure)
    known = facts(failure, render)
    known.pop("retryable")
    details = {"error_code": failure.code, "recovery": str(failure.recovery), **known}
    if "http_status" in failure.facts:
        details["statusCode"] = failure.status
    rendered = {
        "kind": "toolError:v1",
        "code": code.toolerror,
        "message": failure.message,
        # This dialect's clients send the same call again, with a growing pause: only waiting may say yes here.
        "retryable": failure.recovery is Recovery.LATER,
        "details": details,
    }
    # Nobody is asked again after a no, and a loop is not ended by a question.
    if (code.needs_input or _was_looked_up(failure)) and failure.retryable:
        rendered |= {"kind": "needsInput:v1", **_question(failure)}
    return rendered


def _was_looked_up(failure: Failure) -> bool:
    """One thing was to be read, and the caller named another than there is."""
    missing = str(failure.facts.get("missing", ""))
    return failure.code == Code.NOT_FOUND and failure.call.reads_one_thing and missing in failure.call.ids


def _question(failure: Failure) -> dict[str, Any]:
    """What to ask the person, and the answers to choose from where they are known."""
    known = failure.facts
    if "confirmation_token" in known:
        return {
            "question": f"{known.get('what_will_happen', failure.message)} Go ahead?",
            "choices": list(_YES_OR_NO),
        }
    if "valid_actions" in known:
        return {"question": "Which action is meant?", "choices": list(known["valid_actions"])}
    if "missing" in known:
        return {"question": f"{failure.message} Which one is meant?"}
    asked = [*known.get("missing_fields", ()), *(each["field"] for each in known.get("invalid_fields", ()))]
    names = [name.replace("|", " or ") for name in asked]
    question = f"Which value for {', '.join(names)}?" if names else failure.message
    return {"question": question, **_choices(known)}


def _choices(known: Mapping[str, Any]) -> dict[str, Any]:
    """The values of the one field that is asked for."""
    if "candidates" in known:
        return {"choices": [str(each["id"]) for each in known["candidates"]]}
    invalid = known.get("invalid_fields", ())
    if len(invalid) != 1 or known.get("missing_fields"):
        return {}
    listed = re.search(r"\bone of ([^()]+)", invalid[0].get("expected", ""))
    return {"choices": listed[1].split(", ")} if listed else {}

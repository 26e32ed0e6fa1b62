"""What only a person knows, asked through the client: a yes, or a value that a call lacks.

Until 2025 the server asks in the middle of a call; from 2026 on it answers with the question and the client calls again
with the answer. Nothing is kept in between, so that any replica can go on: what an earlier round brought is in the name
under which the next question is asked, and comes back with its answer.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from mcp import MCPError
from mcp.server.mcpserver import Context
from mcp.types import ElicitRequest, ElicitRequestFormParams, ElicitResult, InputRequiredResult

from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import Failure

_FIRST_WITH_QUESTIONS_AS_ANSWERS: Final = "2026-07-28"
_MOST_FIELDS: Final = 3
_PLAIN: Final = ("string", "integer", "number", "boolean")
_MISSING: Final = "missing"
_CONFIRM: Final = "confirm"
_GO_AHEAD: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"go_ahead": {"type": "boolean", "title": "Go ahead"}},
    "required": ["go_ahead"],
}


@dataclass(frozen=True, slots=True)
class Heard:
    """What the person said so far about one call."""

    arguments: Mapping[str, Any] = field(default_factory=dict)
    """What goes into the call beside what the model gave."""
    asked_for_values: bool = False
    refused: Failure | None = None


@dataclass(frozen=True, slots=True)
class Question:
    kind: str
    about: str
    wording: str
    form: dict[str, Any]

    def name(self, heard: Heard) -> str:
        kept = json.dumps([self.about, dict(heard.arguments)], separators=(",", ":"))
        return f"{self.kind}.{base64.urlsafe_b64encode(kept.encode()).decode()}"


def question_about(
    failure: Failure, properties: Mapping[str, Mapping[str, Any]], heard: Heard, *, values: bool
) -> Question | None:
    """What a person could say so that the call works; None where that is not for a person to say."""
    if token := failure.facts.get("confirmation_token"):
        wording = str(failure.facts.get("what_will_happen") or failure.message)
        return Question(_CONFIRM, str(token), wording, _GO_AHEAD)
    if not values or heard.asked_for_values or failure.code != Code.MISSING_REQUIRED_FIELD:
        return None
    if failure.facts.get("invalid_fields") or failure.facts.get("unknown_fields"):
        return None
    form = _form(failure.facts.get("missing_fields", ()), properties)
    return Question(_MISSING, "", failure.message, form) if form else None


def _form(missing: Any, properties: Mapping[str, Mapping[str, Any]]) -> dict[str, Any] | None:
    """`project_id|group_id` is a choice: both are offered, neither is required."""
    names = [name for entry in missing for name in entry.split("|")]
    if not 0 < len(names) <= _MOST_FIELDS:
        return None
    if any(properties.get(name, {}).get("type") not in _PLAIN for name in names):
        return None
    return {
        "type": "object",
        "properties": {name: {**properties[name], "title": name.replace("_", " ")} for name in names},
        "required": [entry for entry in missing if "|" not in entry],
    }


@dataclass(frozen=True, slots=True)
class Person:
    """Whoever sits behind the client."""

    context: Context[None, Any] | None

    def heard(self) -> Heard:
        """What the person said in an earlier round."""
        responses = (self.context.input_responses if self.context is not None else None) or {}
        for name, response in responses.items():
            if isinstance(response, ElicitResult):
                return _heard(name, response)
        return Heard()

    def later(self, question: Question, heard: Heard) -> InputRequiredResult | None:
        """The answer that asks, where the client knows such answers."""
        if not self._can_be_asked or not self._reads_questions:
            return None
        form = ElicitRequestFormParams(message=question.wording, requested_schema=question.form)
        return InputRequiredResult(input_requests={question.name(heard): ElicitRequest(params=form)})

    async def now(self, question: Question, heard: Heard) -> Heard | None:
        """Ask and wait; None where nobody can be asked."""
        if not self._can_be_asked or self.context is None or not self.context.session.can_send_request:
            return None
        try:
            told = await self.context.session.elicit_form(
                question.wording, question.form, self.context.request_id
            )
        except MCPError:
            # A client that promised more than it can do: the model is told in place of the person.
            return None
        return _heard(question.name(heard), told)

    @property
    def _can_be_asked(self) -> bool:
        known = self.context.client_capabilities if self.context is not None else None
        elicitation = known.elicitation if known is not None else None
        # Before there were modes, a form was all there was.
        return elicitation is not None and (elicitation.form is not None or elicitation.url is None)

    @property
    def _reads_questions(self) -> bool:
        version = self.context.protocol_version if self.context is not None else None
        return version is not None and version >= _FIRST_WITH_QUESTIONS_AS_ANSWERS


def _heard(name: str, response: ElicitResult) -> Heard:
    """The answer to the question of that name. A name that is none of ours is no answer."""
    kind, _, kept = name.partition(".")
    try:
        about, before = json.loads(base64.urlsafe_b64decode(kept))
        heard = Heard(dict(before), asked_for_values=kind == _MISSING or bool(before))
    except (ValueError, TypeError):
        return Heard()
    content = response.content or {}
    if kind == _CONFIRM:
        if response.action != "accept" or content.get("go_ahead") is not True:
            return replace(heard, refused=_no_yes())
        return replace(heard, arguments={**heard.arguments, "confirmation_token": about})
    if response.action != "accept":
        return replace(heard, refused=_no_values())
    return replace(heard, arguments={**heard.arguments, **content})


def _no_yes() -> Failure:
    return Failure(
        Code.CONFIRMATION_REQUIRED, "The person was asked and did not say yes. Nothing was done."
    ).knowing(
        confidence="certain",
        suggested_fix="Do not try again unless the person asks for it.",
        retryable=False,
    )


def _no_values() -> Failure:
    return Failure(
        Code.MISSING_REQUIRED_FIELD,
        "The person was asked for what is missing and did not say it. Nothing was done.",
    ).knowing(
        confidence="certain",
        suggested_fix="Go on without this call, or talk to the person about what is missing.",
        retryable=False,
    )

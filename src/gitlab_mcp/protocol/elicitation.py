"""Questions to the person at the client (MCP elicitation): a confirmation, or values that a call lacks.

Clients before 2026 are asked in the middle of the call. Later ones get the question as the result and call again with
the answer. Nothing is kept in between, so that any replica can go on: what the person said before is encoded in the key
of the next question, and the client sends the key back with the answer.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from mcp import MCPError
from mcp.server.context import ServerRequestContext
from mcp.types import (
    CallToolRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
)

from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import Failure

_FIRST_VERSION_WITH_QUESTIONS_AS_RESULTS: Final = "2026-07-28"
_MAX_FIELDS: Final = 3
_FORM_TYPES: Final = ("string", "integer", "number", "boolean")
_MISSING: Final = "missing"
_CONFIRM: Final = "confirm"
_CONFIRMATION_FORM: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"go_ahead": {"type": "boolean", "title": "Go ahead"}},
    "required": ["go_ahead"],
}


@dataclass(frozen=True, slots=True)
class Answers:
    """What the person has answered so far about one call."""

    arguments: Mapping[str, Any] = field(default_factory=dict)
    """Added to what the model sent."""
    asked_for_values: bool = False
    accepted: tuple[str, ...] = ()
    """The confirmation tokens of questions that were answered with a yes."""
    declined: tuple[str, ...] = ()
    """Those of questions that were not."""


@dataclass(frozen=True, slots=True)
class Question:
    kind: str
    tokens: tuple[str, ...]
    """Confirmation tokens of the person's channel. Empty where the question is about missing values."""
    message: str
    form: dict[str, Any]
    """JSON Schema."""

    def key(self, answers: Answers) -> str:
        """Identifies the question to the client, and holds what an answer to it needs."""
        kept = json.dumps([self.tokens, answers.accepted, dict(answers.arguments)], separators=(",", ":"))
        return f"{self.kind}.{base64.urlsafe_b64encode(kept.encode()).decode()}"


def question_for(
    failure: Failure, fields: Mapping[str, Mapping[str, Any]], answers: Answers, *, ask_for_values: bool
) -> Question | None:
    """What a person could answer so that the call works; None where the model should mend the call itself."""
    if failure.confirmation is not None:
        asked = failure.confirmation
        return Question(_CONFIRM, asked.tokens, asked.text, _CONFIRMATION_FORM)
    if not ask_for_values or answers.asked_for_values or failure.code != Code.MISSING_REQUIRED_FIELD:
        return None
    missing = failure.facts.get("missing_fields", ())
    if failure.facts.get("invalid_fields") or failure.facts.get("unknown_fields") or "action" in missing:
        # The model knows what it wants to do; a person would have to guess.
        return None
    form = _form(missing, fields)
    return Question(_MISSING, (), failure.message, form) if form else None


def _form(missing: Any, fields: Mapping[str, Mapping[str, Any]]) -> dict[str, Any] | None:
    """`project_id|group_id` is a choice: both are offered, neither is required."""
    names = [name for entry in missing for name in entry.split("|")]
    if not 0 < len(names) <= _MAX_FIELDS:
        return None
    if any(fields.get(name, {}).get("type") not in _FORM_TYPES for name in names):
        return None
    return {
        "type": "object",
        "properties": {name: {**fields[name], "title": name.replace("_", " ")} for name in names},
        "required": [entry for entry in missing if "|" not in entry],
    }


@dataclass(frozen=True, slots=True)
class Person:
    """The user of the client."""

    context: ServerRequestContext[None, Any] | None
    params: CallToolRequestParams

    def answers_so_far(self) -> Answers:
        """What came with this request, as the answer to an earlier question."""
        if not self.can_be_asked:
            return Answers()
        for key, response in (self.params.input_responses or {}).items():
            if isinstance(response, ElicitResult):
                return _answers(key, response)
        return Answers()

    def question_as_result(self, question: Question, answers: Answers) -> InputRequiredResult | None:
        """For clients that take a question as a result; None for others."""
        if not self.can_be_asked or not self._takes_questions_as_results:
            return None
        form = ElicitRequestFormParams(message=question.message, requested_schema=question.form)
        return InputRequiredResult(input_requests={question.key(answers): ElicitRequest(params=form)})

    async def ask_and_wait(self, question: Question, answers: Answers) -> Answers | None:
        """For clients that are asked in the middle of a call; None where that is not possible."""
        if not self.can_be_asked or self.context is None:
            return None
        try:
            response = await self.context.session.elicit_form(
                question.message, question.form, str(self.context.request_id)
            )
        except MCPError:
            # The client declared elicitation and cannot do it. The model gets a failure, and no token.
            return None
        return _answers(question.key(answers), response)

    @property
    def can_be_asked(self) -> bool:
        """Whether the client says that it can ask, and there is a way to put the question to it."""
        if self.context is None:
            return False
        by_request = self.context.session.can_send_request
        return self._has_forms and (self._takes_questions_as_results or by_request)

    @property
    def _has_forms(self) -> bool:
        capabilities = self.context.session.client_capabilities if self.context is not None else None
        elicitation = capabilities.elicitation if capabilities is not None else None
        # Clients from before there were modes name none, and mean forms.
        return elicitation is not None and (elicitation.form is not None or elicitation.url is None)

    @property
    def _takes_questions_as_results(self) -> bool:
        version = self.context.protocol_version if self.context is not None else ""
        return version >= _FIRST_VERSION_WITH_QUESTIONS_AS_RESULTS


def _answers(key: str, response: ElicitResult) -> Answers:
    """The answers so far, with this response to the question of this key. A key that is not ours gives none."""
    kind, _, kept = key.partition(".")
    try:
        tokens, accepted, earlier = json.loads(base64.urlsafe_b64decode(kept))
        asked = kind == _MISSING or bool(earlier)
        answers = Answers(dict(earlier), asked_for_values=asked, accepted=tuple(map(str, accepted)))
        tokens = tuple(map(str, tokens))
    except (ValueError, TypeError):
        return Answers()
    content = response.content or {}
    if kind == _CONFIRM:
        if response.action != "accept" or content.get("go_ahead") is not True:
            return replace(answers, declined=tokens)
        return replace(answers, accepted=(*answers.accepted, *tokens))
    if response.action != "accept":
        # The call is made once more as it was, so that the model gets the error that says what is missing.
        return answers
    return replace(answers, arguments={**answers.arguments, **content})


def without_question(failure: Failure) -> Failure:
    """For a model whose client said that it can ask its person, and then could not."""
    if failure.confirmation is None:
        return failure
    return failure.knowing(
        suggested_fix="The client could not ask its person. Tell the person what you wanted to do; they can do it in "
        "GitLab, or the operator can choose with --confirm what needs a yes.",
        retryable=False,
    )

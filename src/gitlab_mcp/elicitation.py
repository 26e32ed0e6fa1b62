"""A person's yes, asked through the client: in place of a token that the model would have to carry.

The question and the token behind it are those of the refusal. Until 2025 the server asks in the middle of a call; from
2026 on it answers with the question, and the client calls again with the answer. Then the token is the name under which
the question is asked: it comes back with the answer, to whichever replica, and is good for one call alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from mcp import MCPError
from mcp.server.mcpserver import Context
from mcp.types import ElicitRequest, ElicitRequestFormParams, ElicitResult, InputRequiredResult

from gitlab_mcp.errors.catalogue import CONFIRMATION_REQUIRED
from gitlab_mcp.errors.failure import Failure

_FIRST_WITH_QUESTIONS_AS_ANSWERS: Final = "2026-07-28"
_FORM: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"go_ahead": {"type": "boolean", "title": "Go ahead"}},
    "required": ["go_ahead"],
}


@dataclass(frozen=True, slots=True)
class Answered:
    token: str
    yes: bool


@dataclass(frozen=True, slots=True)
class Person:
    """Whoever sits behind the client."""

    context: Context[None, Any] | None

    def answered(self) -> Answered | None:
        """What the person said to the question of an earlier round."""
        responses = (self.context.input_responses if self.context is not None else None) or {}
        for token, response in responses.items():
            if isinstance(response, ElicitResult):
                return Answered(token, _is_yes(response))
        return None

    def question(self, failure: Failure) -> InputRequiredResult | None:
        """The answer that asks, where the client knows such answers."""
        token = failure.facts.get("confirmation_token")
        if token is None or not self._can_be_asked or not self._reads_questions:
            return None
        form = ElicitRequestFormParams(message=_wording(failure), requested_schema=_FORM)
        return InputRequiredResult(input_requests={token: ElicitRequest(params=form)})

    async def ask(self, failure: Failure) -> Answered | None:
        """Ask now and wait; None where nobody can be asked."""
        token = failure.facts.get("confirmation_token")
        if token is None or not self._can_be_asked or self.context is None:
            return None
        if not self.context.session.can_send_request:
            return None
        try:
            told = await self.context.session.elicit_form(_wording(failure), _FORM, self.context.request_id)
        except MCPError:
            # A client that promised more than it can do: the model is handed the token after all.
            return None
        return Answered(token, _is_yes(told))

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


def declined() -> Failure:
    return Failure(
        CONFIRMATION_REQUIRED, "The person was asked and did not say yes. Nothing was done."
    ).knowing(
        confidence="certain",
        suggested_fix="Do not try again unless the person asks for it.",
        retryable=False,
    )


def _wording(failure: Failure) -> str:
    return str(failure.facts.get("what_will_happen") or failure.message)


def _is_yes(response: ElicitResult) -> bool:
    return response.action == "accept" and (response.content or {}).get("go_ahead") is True

"""The one value every failure becomes, and the one exception that carries it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from gitlab_mcp.failures.codes import CODES, RETRYABLE, Code, Recovery

NO_OPERATION: Final = "server:request"
"""The operation of a failure that came before any tool was called."""


@dataclass(frozen=True, slots=True)
class FailedCall:
    """The call that failed: what some renderings show beside the facts."""

    operation: str = NO_OPERATION
    """`labels:list`, as logs and metrics name it."""
    ids: Mapping[str, Any] = field(default_factory=dict)
    """What the caller asked about: its ids, paths, refs and lines."""
    empty_result: Mapping[str, Any] = field(default_factory=dict)
    """The members that the result would have had, empty."""
    reads_one_thing: bool = False
    field_types: Mapping[str, str] = field(default_factory=dict)
    """The JSON type of each field of the action."""
    available: tuple[str, ...] = ()
    """The tools there are, where the call named none of them."""
    confirmation_token: str | None = None
    """The one that was sent."""


@dataclass(frozen=True, slots=True)
class Confirmation:
    """What the person at the client is asked before the call is made. No rendering shows it to the agent."""

    text: str
    tokens: tuple[str, ...] = field(repr=False)
    """They come back with the person's answer, and are of no use in the arguments of a call."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A code, one trusted sentence, and what is known.

    `facts` holds only what applies; the names of facts are those of docs/reference/errors.md and are the
    same in every rendering. Text that GitLab sent appears in facts alone, and there only as `gitlab_message`.

    What to do next, the status and whose mistake it is follow from here and from nowhere else.
    """

    code: Code
    message: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    call: FailedCall = FailedCall()
    confirmation: Confirmation | None = None
    """Set where the client can ask its person, and a yes would make the call work."""

    def knowing(self, **facts: Any) -> Failure:
        """The same failure with more facts; a fact of None is left out."""
        known = {name: value for name, value in facts.items() if value is not None}
        return replace(self, facts={**self.facts, **known})

    @property
    def recovery(self) -> Recovery:
        """What makes the next call work: the code's, unless this failure leaves less hope."""
        usual = CODES[self.code].recovery
        unsettled = "check_with" in self.facts or "outcome" in self.facts
        if unsettled or any(map(_may_have_happened, self.facts.get("results", ()))):
            return Recovery.CHECK_FIRST
        hopeless = self.facts.get("loop") or self.facts.get("retryable") is False
        return Recovery.NO if hopeless and usual in RETRYABLE else usual

    @property
    def retryable(self) -> bool:
        """Whether another call of this action can work without anybody else changing something."""
        return self.recovery in RETRYABLE

    @property
    def status(self) -> int:
        """GitLab's, where it says the same as the code: a login page with 200 is none of ours."""
        usual, theirs = CODES[self.code].status, self.facts.get("http_status")
        return theirs if isinstance(theirs, int) and theirs // 100 == usual // 100 else usual

    @property
    def is_nobodys_mistake(self) -> bool:
        """Neither the caller's nor the operator's: reported, logged as an error, and given an event id."""
        return CODES[self.code].is_nobodys_mistake


def _may_have_happened(item: Mapping[str, Any]) -> bool:
    """Of an item of a batch."""
    return isinstance(item.get("error"), Failure) and item["error"].recovery is Recovery.CHECK_FIRST


class CallFailed(Exception):
    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.code)
        self.failure = failure


class Declined(CallFailed):
    """The person was asked and did not say yes."""

    def __init__(self) -> None:
        super().__init__(
            Failure(
                Code.CONFIRMATION_REQUIRED, "The person was asked and did not say yes. Nothing was done."
            ).knowing(
                confidence="certain",
                suggested_fix="Do not try again unless the person asks for it.",
                retryable=False,
            )
        )

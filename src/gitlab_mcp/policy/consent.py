"""A person's yes or no to something: taken from the one channel that counts for the call, and a no is remembered.

Where the client can ask its person, only the answer to that question counts. The agent is shown no token there, and one
that it sends is refused. Elsewhere the agent gets a token and is told to ask the person itself.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Final

from gitlab_mcp.callers import CallerKey
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed, Confirmation, Declined, Failure
from gitlab_mcp.policy.confirmation_tokens import LIFETIME, Channel, ConfirmationTokens, is_for
from gitlab_mcp.policy.guard import ProposedCall
from gitlab_mcp.store import Store

_DECLINED, _ACCEPTED = "no", "yes"
_ASKED_BEFORE: Final = "You were asked this a short while ago and did not say yes. "


@dataclass(frozen=True, slots=True)
class Purpose:
    """What a yes is asked for."""

    text: str
    """A token is bound to it."""
    operation: str
    """`labels:delete`: what a refusal says that a token was given for."""
    same_thing: Callable[[], Awaitable[str]]
    """The purpose with numbers for paths and names, so that a no is found again however the thing is named."""
    seen: str = ""
    """The version of the thing that the yes is to, such as a commit; part of `text` already."""


@dataclass(frozen=True, slots=True)
class PersonsAnswers:
    tokens: ConfirmationTokens
    store: Store

    async def has_yes(self, proposed: ProposedCall, purpose: Purpose) -> bool:
        """Whether a yes to this came with the call. It is used up, unless this is a rehearsal.

        Raises CallFailed where the person said no, and for a token that is not good for this.
        """
        consent, caller = proposed.consent, proposed.caller
        sent = proposed.call.options.confirmation_token
        if not consent.can_ask:
            if await self._was_declined(caller, purpose):
                raise Declined
            if sent is None or not is_for(sent, purpose.text):
                return False
            take = self.tokens.check if proposed.rehearsal else self.tokens.redeem
            await take(sent, caller, purpose.text, Channel.AGENT)
            return True
        if any(is_for(token, purpose.text) for token in consent.declined):
            await self._remember(caller, purpose, _DECLINED)
            raise Declined
        if sent is not None:
            raise CallFailed(_not_taken_from_agents())
        for token in consent.accepted:
            if is_for(token, purpose.text):
                take = self.tokens.check if proposed.rehearsal else self.tokens.redeem
                await take(token, caller, purpose.text, Channel.PERSON)
                if not proposed.rehearsal and await self._was_declined(caller, purpose):
                    await self._remember(caller, purpose, _ACCEPTED)
                return True
        return False

    async def refuse_other_tokens(self, proposed: ProposedCall, purpose: Purpose, *others: str) -> None:
        """Raises CallFailed where a token came that was given for something else and not for one of `others`."""
        consent, sent = proposed.consent, proposed.call.options.confirmation_token
        came = consent.accepted if consent.can_ask else (sent,) if sent else ()
        channel = Channel.PERSON if consent.can_ask else Channel.AGENT
        left = [token for token in came if not any(is_for(token, other) for other in others)]
        # Of several, each may be for another call of the batch; and a rehearsal asks for what is missing.
        if len(left) == 1 and not proposed.rehearsal:
            await self.tokens.check(left[0], proposed.caller, purpose.text, channel, purpose.seen)

    async def asking(
        self, proposed: ProposedCall, purpose: Purpose, failure: Failure, question: str
    ) -> Failure:
        """The failure with the question, and with a token for the channel through which the answer will come."""
        caller = proposed.caller
        failure = failure.knowing(what_will_happen=question)
        if not proposed.consent.can_ask:
            token, expires_at = await self.tokens.issue(
                caller, purpose.text, purpose.operation, Channel.AGENT, purpose.seen
            )
            return failure.knowing(
                confirmation_token=token,
                expires_at=expires_at,
                suggested_fix="Show the person what_will_happen. After a yes, send the same call again with "
                "confirmation_token; after a no, do not.",
            )
        token, _ = await self.tokens.issue(
            caller, purpose.text, purpose.operation, Channel.PERSON, purpose.seen
        )
        before = _ASKED_BEFORE if await self._was_declined(caller, purpose) else ""
        failure = replace(failure, confirmation=Confirmation(before + question, (token,)))
        return failure.knowing(
            suggested_fix="Send the call again, by itself: the person at the client is then asked."
        )

    async def _was_declined(self, caller: CallerKey, purpose: Purpose) -> bool:
        # Naming the thing by numbers may take requests, so it is looked first whether there was any no.
        if await self.store.get(_any_no(caller)) is None:
            return False
        return await self.store.get(await _no_to(caller, purpose)) == _DECLINED

    async def _remember(self, caller: CallerKey, purpose: Purpose, answer: str) -> None:
        await self.store.put(await _no_to(caller, purpose), answer, LIFETIME)
        await self.store.put(_any_no(caller), answer, LIFETIME)


def _any_no(caller: CallerKey) -> str:
    return f"declined:{caller.digest}"


async def _no_to(caller: CallerKey, purpose: Purpose) -> str:
    digest = hashlib.sha256((await purpose.same_thing()).encode()).hexdigest()[:32]
    return f"declined:{caller.digest}:{digest}"


def _not_taken_from_agents() -> Failure:
    return Failure(
        Code.CONFIRMATION_INVALID,
        "This client asks the person directly, so no confirmation token is taken from a call.",
    ).knowing(
        confidence="certain",
        suggested_fix="Send the call without confirmation_token: the person at the client is then asked.",
    )

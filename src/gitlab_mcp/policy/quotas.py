"""How many reads, writes and destructive actions one caller may take in an hour.

A caller is a user of GitLab, with whatever tokens; where GitLab does not say who that is, it is the token. At 80 % of a
limit answers carry a notice, at 90 % work is paused until a person says yes, at 100 % it stops.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from gitlab_mcp.actions.call import Call
from gitlab_mcp.actions.danger import Danger
from gitlab_mcp.actions.result import Notice
from gitlab_mcp.failures.codes import Code, NoticeCode
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.policy.confirmation_tokens import utc_time
from gitlab_mcp.policy.consent import PersonsAnswers, Purpose
from gitlab_mcp.policy.guard import ProposedCall
from gitlab_mcp.store import Store, StoreUnavailable, as_number

_HOUR: Final = 3600
_NOTICE_AT, _PAUSE_AT = 0.8, 0.9


def quota_kind(call: Call) -> str:
    match call.danger:
        case Danger.READ:
            return "reads"
        case Danger.REVERSIBLE:
            return "writes"
        case _:
            return "destructive"


def _metric(kind: str) -> str:
    return f"{kind}_per_hour"


def resume_purpose(call: Call) -> str:
    """What a confirmation token is for that lets paused work go on."""
    return f"go on:{quota_kind(call)}"


def _to_resume(call: Call) -> Purpose:
    text = resume_purpose(call)

    async def same_thing() -> str:
        return text

    return Purpose(text, _metric(quota_kind(call)), same_thing)


@dataclass(frozen=True, slots=True)
class Quotas:
    limits: Mapping[str, int]
    """By kind. A kind that is missing has no limit."""
    answers: PersonsAnswers
    store: Store
    set_by: Mapping[str, str] = field(default_factory=dict)
    """By kind, who can raise a limit, where that is not the operator with --quota."""
    clock: Callable[[], float] = time.time

    async def check(self, proposed: ProposedCall) -> None:
        """As a guard: refuses what is over the limit and pauses what is close to it. Counts nothing."""
        limit = self.limits.get(quota_kind(proposed.call))
        if limit is None:
            return
        try:
            used = as_number(await self.store.get(await self._key(proposed)))
        except StoreUnavailable:
            # Reading goes on without the store, writing does not.
            if proposed.call.action.spec.writes:
                raise
            return
        if used >= limit:
            raise CallFailed(self._exhausted(proposed, limit))
        if used >= math.ceil(limit * _PAUSE_AT) and not await self._may_resume(proposed):
            raise CallFailed(await self._paused(proposed, used, limit))

    async def count(self, proposed: ProposedCall) -> Notice | None:
        """As the last guard: counts the call, which is now going to be made."""
        kind = quota_kind(proposed.call)
        limit = self.limits.get(kind)
        if limit is None or proposed.rehearsal:
            return None
        try:
            used = await self.store.increment(await self._key(proposed), _HOUR)
        except StoreUnavailable:
            if proposed.call.action.spec.writes:
                raise
            return None
        if used > limit:
            # Other calls of this caller were counted since `check`.
            raise CallFailed(self._exhausted(proposed, limit))
        if used < math.ceil(limit * _NOTICE_AT):
            return None
        facts = {**self._limit_facts(kind, used, limit), "warn_at": math.ceil(limit * _NOTICE_AT)}
        return Notice(
            NoticeCode.QUOTA_WARNING, f"This caller has made {used} of {limit} {kind} this hour.", facts
        )

    async def _may_resume(self, proposed: ProposedCall) -> bool:
        resumed_key = f"{await self._key(proposed)}:go on"
        if await self.store.get(resumed_key) is not None:
            return True
        if not await self.answers.has_yes(proposed, _to_resume(proposed.call)):
            return False
        if not proposed.rehearsal:
            await self.store.put(resumed_key, "yes", _HOUR)
        return True

    async def _paused(self, proposed: ProposedCall, used: int, limit: int) -> Failure:
        kind = quota_kind(proposed.call)
        effect = (
            f"Work goes on until the quota of this hour is used up; {used} of {limit} {kind} made so far."
        )
        failure = Failure(
            Code.QUOTA_PAUSED, f"Paused: this caller has made {used} of {limit} {kind} this hour."
        ).knowing(**self._limit_facts(kind, used, limit))
        return await self.answers.asking(proposed, _to_resume(proposed.call), failure, effect)

    def _exhausted(self, proposed: ProposedCall, limit: int) -> Failure:
        kind = quota_kind(proposed.call)
        set_by = self.set_by.get(kind, "The operator sets the quota with --quota.")
        return Failure(
            Code.QUOTA_EXHAUSTED, f"The {kind} of this hour are used up: the quota is {limit}."
        ).knowing(
            **self._limit_facts(kind, limit, limit),
            retry_after_seconds=math.ceil(_HOUR - self.clock() % _HOUR),
            suggested_fix=f"Stop, and tell the person what is left to do. {set_by}",
        )

    def _limit_facts(self, kind: str, used: int, limit: int) -> dict[str, Any]:
        return {
            "metric": _metric(kind),
            "used": used,
            "pause_at": math.ceil(limit * _PAUSE_AT),
            "limit": limit,
            "remaining": max(limit - used, 0),
            "reset_at": self._reset_at(),
        }

    async def _key(self, proposed: ProposedCall) -> str:
        return f"quota:{await _counted(proposed)}:{quota_kind(proposed.call)}:{self._hour()}"

    def _hour(self) -> int:
        return int(self.clock() // _HOUR)

    def _reset_at(self) -> str:
        return utc_time((self._hour() + 1) * _HOUR)


async def _counted(proposed: ProposedCall) -> str:
    """Names in the store who is counted."""
    caller = proposed.caller
    if caller.request_id is None:
        # Over standard input and output there is one person, who should not wait for an answer to this.
        return caller.digest
    try:
        user = await proposed.ask.user()
    except Exception:
        # Where GitLab cannot say who it is, it can hardly be written to: the call itself will tell.
        user = None
    if user is None:
        return caller.digest
    return hashlib.sha256(f"{caller.gitlab_url}\n{user.counted_as}".encode()).hexdigest()[:32]

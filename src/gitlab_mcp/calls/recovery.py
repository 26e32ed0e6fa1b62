"""When the answer to a write is lost, it is not sent again: what it did is looked up."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar

from gitlab_mcp.actions.action import Action, fill
from gitlab_mcp.actions.exchange import Answer, GitLab, Request
from gitlab_mcp.actions.recovery_lookup import ME, LostWrite, RecoveryLookup
from gitlab_mcp.actions.result import Result
from gitlab_mcp.failures.failure import CallFailed
from gitlab_mcp.gitlab.faults import (
    FAULTS,
    BadAnswer,
    BadAnswerReason,
    Refused,
    Unreachable,
    may_have_happened,
)
from gitlab_mcp.gitlab.paging import every_page

log = logging.getLogger("gitlab_mcp.recovery")

T = TypeVar("T")
RequestOf = Callable[[str, Mapping[str, Any]], Request]
"""The request that an action of ours, such as `browse_branches get`, makes of these arguments."""

_LOOKUP_SECONDS = 8.0
"""With the usual deadline of a call this still ends before clients give up, at a minute."""
_CLOCK_SKEW = timedelta(seconds=1)
"""Between the hosts of one GitLab."""
_PAGE_SIZE = 100


async def run_recovering(action: Action, gitlab: GitLab, request_of: RequestOf) -> Answer | Result:
    recovering = _RecoveringGitLab(gitlab, action, request_of)
    try:
        outcome = await action.run(recovering)
    except (CallFailed, *FAULTS):
        raise
    except Exception:
        if recovering.last_write is None:
            raise
        # The write went out: whatever broke while reading its answer must not look as if nothing had happened.
        log.exception("%s: what was said about a write could not be read", action.spec.tool.name)
        request, status = recovering.last_write
        raise BadAnswer(
            replace(request, repeatable=False), BadAnswerReason.UNEXPECTED_SHAPE, status
        ) from None
    if recovering.recovered and isinstance(outcome, Result):
        return replace(outcome, data={**outcome.data, "recovered": True})
    return outcome


class _RecoveringGitLab:
    """GitLab, as the action sees it: a lost answer is replaced by what was found, where that is certain."""

    def __init__(self, gitlab: GitLab, action: Action, request_of: RequestOf) -> None:
        self._gitlab = gitlab
        self._action = action
        self._request_of = request_of
        self.recovered = False
        self.last_write: tuple[Request, int] | None = None
        """The last write that GitLab answered, and the status."""

    async def send(self, request: Request) -> Answer:
        started = time.monotonic()
        try:
            answer = await self._gitlab.send(request)
            if not request.reads:
                self.last_write = (request, answer.status)
            return answer
        except (Unreachable, BadAnswer, Refused) as fault:
            if request.reads or not may_have_happened(fault):
                raise
            found = await self._found(request, started)
            if found is None:
                raise
            self.recovered = True
            return found

    async def _found(self, request: Request, started: float) -> Answer | None:
        lookup = self._action.spec.recover_with
        if lookup is None or not lookup.proves:
            return None
        search = _Search(self._gitlab.with_deadline(_LOOKUP_SECONDS), self._action, lookup, self._request_of)
        try:
            return await search.made_by(request, started)
        except Exception:
            # The caller must be told that the write may have happened, not that the look-up broke.
            log.exception("%s: looking for what was done failed", self._action.spec.tool.name)
            return None

    async def get(self, path: str, **query: Any) -> Answer:
        return await self._gitlab.get(path, **query)

    async def stream(self, request: Request, read: Callable[[Iterator[bytes], Mapping[str, str]], T]) -> T:
        return await self._gitlab.stream(request, read)

    async def graphql(self, document: str, variables: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
        return await self._gitlab.graphql(document, variables)

    def with_deadline(self, seconds: float) -> GitLab:
        return self._gitlab.with_deadline(seconds)

    async def pause(self, seconds: float) -> bool:
        return await self._gitlab.pause(seconds)

    @property
    def base_url(self) -> str:
        return self._gitlab.base_url

    def report(self, done: float, total: float | None = None, what: str = "") -> None:
        self._gitlab.report(done, total, what)


@dataclass(frozen=True, slots=True)
class _Search:
    gitlab: GitLab
    action: Action
    lookup: RecoveryLookup
    request_of: RequestOf

    async def made_by(self, request: Request, started: float) -> Answer | None:
        """The one thing that proves that the request was carried out. None is no proof that it was not."""
        try:
            me = await self.gitlab.get("/user")
            write = LostWrite(self.action, request.body or {}, _since(me, started), me.body.get("id"))
            candidates = await self._read(me.body.get("username"))
            fitting = [found for found in candidates if await self._fits(write, found)]
        except Refused as refused:
            nothing_there = refused.status == 404 and refused.request.path != "/user"
            return Answer(204, recovered=True) if self.lookup.gone and nothing_there else None
        except FAULTS:
            return None
        if len(fitting) != 1:
            return None
        (found,) = fitting
        return Answer(200, body=self.lookup.answer(found) if self.lookup.answer else found, recovered=True)

    async def _read(self, username: Any) -> list[Any]:
        arguments = self.lookup.arguments(self.action)
        arguments |= {name: username for name, value in self.lookup.where.items() if value == ME}
        request = self.request_of(self.lookup.read, arguments)
        query = {**request.query, "per_page": _PAGE_SIZE}
        if self.lookup.every_page:
            body = (await every_page(self.gitlab, request.path, **query)).body
        else:
            body = (await self.gitlab.get(request.path, **query)).body
        if self.lookup.inside:
            body = body[self.lookup.inside]
        return body if isinstance(body, list) else [body]

    async def _fits(self, write: LostWrite, found: Mapping[str, Any]) -> bool:
        if self.lookup.proof is not None and not self.lookup.proof(write, found):
            return False
        if self.lookup.points_at is None:
            return self.lookup.proof is not None
        project_id, ref = write.action.project_id, getattr(write.action, self.lookup.points_at)
        path = fill("/projects/{project_id}/repository/commits/{ref}", project_id=project_id, ref=ref)
        head = await self.gitlab.get(path)
        return bool(head.body["id"] == found["commit"]["id"])


def _since(answer: Answer, started: float) -> datetime:
    """When the write was sent, by GitLab's clock, which need not be ours."""
    try:
        now = parsedate_to_datetime(answer.headers["date"])
    except (KeyError, ValueError):
        now = datetime.now(UTC)
    sent = now - timedelta(seconds=time.monotonic() - started)
    # Commits and tags are dated in whole seconds.
    return sent.replace(microsecond=0) - _CLOCK_SKEW

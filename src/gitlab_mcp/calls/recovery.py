"""When the answer to a write is lost, it is not sent again: what it did is looked up."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar

from gitlab_mcp.actions.action import Action, fill
from gitlab_mcp.actions.exchange import Answer, GitLab, Request
from gitlab_mcp.actions.recovery_lookup import ME, LostWrite, RecoveryLookup
from gitlab_mcp.actions.result import Result
from gitlab_mcp.callers import CallerKey
from gitlab_mcp.calls.claims import Claims, ClaimsOfCreate
from gitlab_mcp.failures.failure import CallFailed
from gitlab_mcp.gitlab.address import GRAPHQL_PATH
from gitlab_mcp.gitlab.faults import (
    FAULTS,
    BadAnswer,
    BadAnswerReason,
    GraphQLRefused,
    Refused,
    Unreachable,
    may_have_happened,
)
from gitlab_mcp.gitlab.graphql import is_mutation
from gitlab_mcp.gitlab.paging import every_page
from gitlab_mcp.results.shown_fields import pick_fields, shown_fields

log = logging.getLogger("gitlab_mcp.recovery")

T = TypeVar("T")
ReadOf = Callable[[str, Mapping[str, Any]], Action]
"""The action of ours that is named so, such as `browse_branches get`, with these arguments."""

_LOOKUP_SECONDS = 8.0
"""With the usual deadline of a call this still ends before clients give up, at a minute."""
_WAIT_SECONDS = 60.0
"""More than the wait for other creates takes, whatever the timeouts are."""
_CLOCK_SKEW = timedelta(seconds=1)
"""Between the hosts of one GitLab."""
_PAGE_SIZE = 100
_ACCEPTED = 202
_NO_CONTENT = 204
_NOT_MODIFIED = 304


async def run_recovering(
    action: Action,
    gitlab: GitLab,
    run: Callable[[GitLab], Awaitable[Answer | Result]],
    read_of: ReadOf,
    claims: Claims,
    caller: CallerKey,
) -> Answer | Result:
    recovering = _RecoveringGitLab(gitlab, action, read_of, claims, caller)
    try:
        outcome = await run(recovering)
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

    def __init__(
        self, gitlab: GitLab, action: Action, read_of: ReadOf, claims: Claims, caller: CallerKey
    ) -> None:
        self._gitlab = gitlab
        self._action = action
        self._read_of = read_of
        self._claims = claims
        self._caller = caller
        self.recovered = False
        self.last_write: tuple[Request, int] | None = None
        """The last write that GitLab answered, and the status."""

    async def send(self, request: Request) -> Answer:
        if request.reads:
            return await self._gitlab.send(request)
        if request.repeatable:
            answer = await self._gitlab.send(request)
            self.last_write = (request, answer.status)
            return answer
        return await self._written(request, lambda: self._answered(request))

    async def graphql(self, document: str, variables: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
        if not is_mutation(document):
            return await self._gitlab.graphql(document, variables)
        request = Request("POST", GRAPHQL_PATH, body=dict(variables or {}))

        async def answered() -> Answer:
            data = await self._gitlab.graphql(document, variables)
            self.last_write = (request, 200)
            return Answer(200, body=data)

        data: Mapping[str, Any] = (await self._written(request, answered)).body
        return data

    @property
    def _can_prove(self) -> bool:
        lookup = self._action.spec.recover_with
        return lookup is not None and lookup.proves

    async def _answered(self, request: Request) -> Answer:
        answer = await self._gitlab.send(request)
        self.last_write = (request, answer.status)
        if answer.status != _NOT_MODIFIED and not self._has_the_shape(request, answer):
            raise BadAnswer(request, BadAnswerReason.UNEXPECTED_SHAPE, answer.status)
        return answer

    def _has_the_shape(self, request: Request, answer: Answer) -> bool:
        """Whether the answer shows what was made. Only the request of the action itself is known well enough."""
        spec, body = self._action.spec, answer.body
        if not spec.shows or spec.lists or request.path != self._action.request().path:
            return True
        if request.method == "DELETE" and answer.status in (_ACCEPTED, _NO_CONTENT):
            return True
        if answer.status == _ACCEPTED and isinstance(body, Mapping) and "commands_changes" in body:
            # A text of nothing but quick actions: they were carried out, and no note was made.
            return True
        if isinstance(body, Mapping) and "status" in body and body.keys() <= {"status", "message"}:
            # Of members and invitations GitLab only says whether it worked. The action reads it.
            return True
        # What makes several answers with a list of them.
        thing = body[0] if isinstance(body, list) and body else body
        fields = shown_fields(spec.shows).alone
        return isinstance(thing, Mapping) and bool(pick_fields(thing, fields, slim_instead=False))

    async def _written(self, request: Request, send: Callable[[], Awaitable[Answer]]) -> Answer:
        """Send a write that must not be sent twice, and look for what it did where GitLab does not tell."""
        claims = self._claims_of(request)
        started = time.monotonic()
        async with claims.under_way() if claims else nullcontext():
            try:
                answer = await send()
            except (Unreachable, BadAnswer, Refused, GraphQLRefused) as fault:
                if not may_have_happened(fault):
                    raise
                lost = fault
            else:
                if claims:
                    await claims.claim(answer.body)
                return answer
        found = await self._found(request, started, claims) if self._can_prove else None
        if found is None:
            raise lost
        self.recovered = True
        return found

    def _claims_of(self, request: Request) -> ClaimsOfCreate | None:
        """Only what makes a thing has one to claim; other writes lead to a state, which two may lead to."""
        creates = request.method == "POST" and request.path != GRAPHQL_PATH
        return self._claims.of(self._caller, self._action, request) if creates and self._can_prove else None

    async def _found(self, request: Request, started: float, claims: ClaimsOfCreate | None) -> Answer | None:
        lookup = self._action.spec.recover_with
        assert lookup is not None
        try:
            gitlab = self._gitlab.with_deadline(_LOOKUP_SECONDS)
            return await _Search(gitlab, self._action, lookup, self._read_of, claims).made_by(
                request, started
            )
        except Exception:
            # The caller must be told that the write may have happened, not that the look-up broke.
            log.exception("%s: looking for what was done failed", self._action.spec.tool.name)
            return None

    async def get(self, path: str, **query: Any) -> Answer:
        return await self._gitlab.get(path, **query)

    async def stream(self, request: Request, read: Callable[[Iterator[bytes], Mapping[str, str]], T]) -> T:
        return await self._gitlab.stream(request, read)

    def with_deadline(self, seconds: float) -> GitLab:
        return self._gitlab.with_deadline(seconds)

    @property
    def today(self) -> date:
        return self._gitlab.today

    @property
    def seconds_left(self) -> float:
        return self._gitlab.seconds_left

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
    read_of: ReadOf
    claims: ClaimsOfCreate | None

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
        answers = [self.lookup.answer(found) if self.lookup.answer else found for found in fitting]
        if self.claims and answers:
            if not await self.claims.wait_for_the_others(self.gitlab.with_deadline(_WAIT_SECONDS)):
                return None
            answers = [answer for answer in answers if not await self.claims.is_claimed(answer)]
        if len(answers) != 1 or (self.claims and not await self.claims.claim(answers[0])):
            return None
        return Answer(200, body=answers[0], recovered=True)

    async def _read(self, username: Any) -> list[Any]:
        arguments = self.lookup.arguments(self.action)
        arguments |= {name: username for name, value in self.lookup.where.items() if value == ME}
        body = await self._body_of(self.read_of(self.lookup.read, arguments))
        if self.lookup.inside:
            body = body[self.lookup.inside]
        return body if isinstance(body, list) else [body]

    async def _body_of(self, read: Action) -> Any:
        if read.endpoint().path == "/graphql":
            result = await read.run(self.gitlab)
            return result.data if isinstance(result, Result) else result.body
        request = read.request()
        query = {**request.query, "per_page": _PAGE_SIZE}
        if self.lookup.every_page:
            return (await every_page(self.gitlab, request.path, **query)).body
        return (await self.gitlab.get(request.path, **query)).body

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

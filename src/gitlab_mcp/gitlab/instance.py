"""The questions a failure may ask of GitLab: who calls, which GitLab this is, what a place looks like.

Each is asked once for a caller and remembered for a while. Nothing here raises: what cannot be learned is None.
"""

from __future__ import annotations

import re
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from gitlab_mcp.actions.action import encode_segment
from gitlab_mcp.actions.ask import InstanceFacts, TokenFacts
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.failures import allowed_words as words
from gitlab_mcp.gitlab.faults import Refused

MINUTES: Final = 60.0
_LONG: Final = 60 * MINUTES
_SHORT: Final = 5 * MINUTES


class AnswerCache:
    """What was learned, by caller and question. Bounded; the oldest goes first."""

    def __init__(self, capacity: int = 1000, clock: Callable[[], float] = time.monotonic) -> None:
        self._capacity = capacity
        self._clock = clock
        self._known: OrderedDict[tuple[str, ...], tuple[float, Any]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._known)

    async def once(self, key: tuple[str, ...], seconds: float, learn: Callable[[], Awaitable[Any]]) -> Any:
        """The remembered answer, or a new one. None is not remembered: it may be known a moment later."""
        ends, value = self._known.get(key, (0.0, None))
        if value is not None and self._clock() < ends:
            return value
        value = await learn()
        if value is not None:
            self._known[key] = (self._clock() + seconds, value)
            self._known.move_to_end(key)
            if len(self._known) > self._capacity:
                self._known.popitem(last=False)
        return value


class CachedAsk:
    """Implements `errors.ask.Ask` with one caller's rights.

    `caller` tells callers apart in shared `answers`: a hash of the token, never the token. Without it nothing
    is shared.
    """

    def __init__(
        self, gitlab: GitLab, answers: AnswerCache, *, caller: str | None = None, tier: str | None = None
    ) -> None:
        self._gitlab = gitlab
        self._answers = answers if caller is not None else AnswerCache()
        self._caller = caller or ""
        self._tier = tier.capitalize() if tier else None

    async def token(self) -> TokenFacts | None:
        found: TokenFacts | None = await self._once(_SHORT, self._who, "token")
        return found

    async def instance(self) -> InstanceFacts:
        found: InstanceFacts | None = await self._once(_LONG, self._where, "instance")
        return found or InstanceFacts(tier=self._tier, known_by=_SAID_BY_OPERATOR if self._tier else None)

    async def project(self, id: str) -> Mapping[str, Any] | None:
        heard = await self._hear(f"/projects/{encode_segment(id)}")
        if isinstance(heard, Refused) and (moved := _MOVED.search(heard.headers.get("location", ""))):
            heard = await self._hear(f"/projects/{moved[1]}")
        return _mapping(heard)

    async def group(self, id: str) -> Mapping[str, Any] | None:
        group = await self._object(f"/groups/{encode_segment(id)}", with_projects="false")
        if group is None or not self._is_gitlab_com:
            return group
        # Only owners see the plan; elsewhere than on GitLab.com it is always `default`.
        namespace = await self._object(f"/namespaces/{encode_segment(id)}") or {}
        return {**group, "plan": namespace.get("plan")}

    async def group_role(self, id: str) -> int | None:
        """From the membership: a group's own answer does not show the caller's role."""
        token = await self.token()
        if token is None or token.user_id is None:
            return None
        heard = await self._hear(f"/groups/{encode_segment(id)}/members/all/{token.user_id}")
        if isinstance(heard, Refused):
            return 0 if heard.status == 404 else None
        level = heard.body.get("access_level") if heard and isinstance(heard.body, dict) else None
        return level if isinstance(level, int) else None

    async def merge_request(self, project: str, iid: str) -> Mapping[str, Any] | None:
        # Never remembered: what blocks a merge changes from one moment to the next.
        return _mapping(
            await self._get(f"/projects/{encode_segment(project)}/merge_requests/{encode_segment(iid)}")
        )

    async def has_commit(self, project: str, ref: str) -> bool | None:
        heard = await self._get(
            f"/projects/{encode_segment(project)}/repository/commits/{encode_segment(ref)}", stats="false"
        )
        if isinstance(heard, Refused):
            return False if heard.body() == {"message": "404 Commit Not Found"} else None
        return None if heard is None else True

    async def look(self, path: str, **query: str) -> Any | None:
        heard = await self._get(path, **query)
        return heard.body if isinstance(heard, Answer) else None

    async def _object(self, path: str, **query: str) -> Mapping[str, Any] | None:
        return _mapping(await self._hear(path, **query))

    async def _who(self) -> TokenFacts | None:
        own = await self._get("/personal_access_tokens/self")
        if isinstance(own, Refused) and _is_unauthorized(own) and _problem(own) != "unknown":
            return TokenFacts(alive=False, problem=_problem(own))
        # OAuth tokens have no entry of their own: one that may read /user is alive all the same.
        user = await self._get("/user")
        told, about = _mapping(own) or {}, _mapping(user) or {}
        if not told and not about:
            return TokenFacts(alive=False, problem=_problem(user)) if _is_unauthorized(user) else None
        return TokenFacts(
            alive=told.get("active", True) is not False,
            problem=None if told.get("active", True) is not False else "revoked",
            kind=_kind(about) if about else None,
            scopes=words.scopes(told.get("scopes") or ()),
            user_id=told.get("user_id") or about.get("id"),
            # Only an administrator sees the key; without the right to read /user nobody knows.
            admin=bool(about.get("is_admin")) if about else None,
            expires_at=words.day(told.get("expires_at")),
        )

    async def _where(self) -> InstanceFacts | None:
        told = _mapping(await self._get("/metadata")) or {}
        edition = ("EE" if told["enterprise"] else "CE") if "enterprise" in told else None
        probe = await self._get(_LICENCE_PROBE) if edition != "CE" and not self._is_gitlab_com else None
        edition = edition or _edition_by(probe)
        if edition is None and not told:
            return None
        tier, at_least, known_by = self._licence(edition, probe)
        version = words.version(told.get("version"))
        return InstanceFacts(edition, version, tier, at_least, known_by, self._is_gitlab_com)

    @property
    def _is_gitlab_com(self) -> bool:
        return urlsplit(self._gitlab.base_url).hostname == "gitlab.com"

    def _licence(
        self, edition: str | None, probe: Answer | Refused | None
    ) -> tuple[str | None, bool, str | None]:
        if self._tier:
            return self._tier, False, _SAID_BY_OPERATOR
        if edition == "CE":
            return "Free", False, "this is the Community Edition"
        said = probe.body() if isinstance(probe, Refused) else None
        if said == {"message": "403 Forbidden"}:
            return "Free", False, "the instance has no licence"
        if said == {"message": "404 Project Not Found"}:
            return "Premium", True, "the instance has a licence"
        return None, False, None

    async def _once(self, seconds: float, learn: Callable[[], Awaitable[Any]], *question: str) -> Any:
        return await self._answers.once((self._gitlab.base_url, self._caller, *question), seconds, learn)

    async def _hear(self, path: str, **query: str) -> Answer | Refused | None:
        heard: Answer | Refused | None = await self._once(_SHORT, lambda: self._get(path, **query), path)
        return heard

    async def _get(self, path: str, **query: str) -> Answer | Refused | None:
        try:
            return await self._gitlab.get(path, **query)
        except Refused as refused:
            # The old path of a renamed project answers 301, in plain text.
            lasting = refused.status == 301 or (
                refused.is_json and refused.status < 500 and refused.status != 429
            )
            return refused.with_traceback(None) if lasting else None
        except Exception:
            # A question is no reason to fail: the failure that is being explained matters more.
            return None


_MOVED: Final = re.compile(r"/api/v4/projects/(\d+)$")
_LICENCE_PROBE: Final = "/projects/0/approval_rules"
"""The licence is checked before the project is looked for, so that every token with a scope hears of it. On GitLab.com
it says nothing: there each namespace has its own plan. CE has no such route, whoever asks."""
_BOT: Final = re.compile(r"(project|group)_\d+_bot")
_SAID_BY_OPERATOR: Final = "GITLAB_TIER says so"


def _edition_by(probe: Answer | Refused | None) -> str | None:
    """From the refusal that a token without the scope to read /metadata gets."""
    if not isinstance(probe, Refused):
        return None
    said = probe.body()
    if said == {"error": "404 Not Found"}:
        return "CE"
    named = isinstance(said, dict) and said.get("error") == "insufficient_scope"
    return (
        "EE"
        if named or said in ({"message": "403 Forbidden"}, {"message": "404 Project Not Found"})
        else None
    )


def _kind(user: Mapping[str, Any]) -> str:
    bot = _BOT.match(str(user.get("username", ""))) if user.get("bot") else None
    return bot[1] if bot else "personal"


def _mapping(heard: Answer | Refused | None) -> Mapping[str, Any] | None:
    return heard.body if isinstance(heard, Answer) and isinstance(heard.body, dict) else None


def _is_unauthorized(heard: Answer | Refused | None) -> bool:
    return isinstance(heard, Refused) and heard.status in (401, 403)


def _problem(heard: Answer | Refused | None) -> str:
    body = heard.body() if isinstance(heard, Refused) else None
    if isinstance(heard, Refused) and heard.status == 403:
        return "blocked"
    said = str(body.get("error_description", "")).lower() if isinstance(body, dict) else ""
    return next((word for word in ("expired", "revoked") if word in said), "unknown")

"""Reads what is needed to explain a failure: the token, the instance, a project or group.

Answers are cached per caller. Nothing here raises but `names`, `user` and `is_member`: what cannot be read is None.
"""

from __future__ import annotations

import re
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final
from urllib.parse import urlencode

from gitlab_mcp.actions.action import encode_segment
from gitlab_mcp.actions.ask import NOT_FOR_THE_API, InstanceFacts, TokenFacts, User, is_gitlab_com
from gitlab_mcp.actions.exchange import Answer, GitLab, Request
from gitlab_mcp.callers import JOB_TOKEN, OAUTH_TOKEN, TokenSort
from gitlab_mcp.failures import allowed_words as words
from gitlab_mcp.gitlab.concurrently import concurrently
from gitlab_mcp.gitlab.equal_reads import KeptAnswers, ReadsUnderWay
from gitlab_mcp.gitlab.faults import BadAnswer, BadAnswerReason, Refused
from gitlab_mcp.gitlab.merge_checks import read_merge_checks, read_once_checked

_INSTANCE_SECONDS: Final = 60 * 60.0
"""How long the facts about an instance are cached."""
_CACHE_SECONDS: Final = 5 * 60.0
"""How long everything else is cached."""
_NAME_SECONDS: Final = 60.0
"""How long it is cached what a name stands for: things are renamed, deleted and made anew."""
_LARGEST_CACHE: Final = 16 * 1024 * 1024
"""GitLab decides how large its answers are, so that a number of entries alone would not limit the memory."""
_LICENCE_PROBE: Final = "/projects/0/approval_rules"
"""GitLab checks the licence before it looks for the project, so that any token with a scope gets an answer about the
licence. On GitLab.com it says nothing, because each namespace has its own plan. CE has no such route."""
_PROBE_ON_EE: Final = (
    {"message": "403 Forbidden"},
    {"message": "404 Project Not Found"},
    # A fine-grained token: no project, so no place for which it could have a permission.
    {"message": "404 Not Found"},
    # The token of a job.
    {"message": "401 Unauthorized"},
)
_NEW_PROJECT_URL: Final = re.compile(r"/api/v4/projects/(\d+)$")
_PROJECT_PATH: Final = re.compile(r"/projects/[^/]+")
BOT_USERNAME: Final = re.compile(r"(project|group)_(\d+)_bot")
_NOT_TOLD: Final = "not told"
_SET_BY_OPERATOR: Final = "GITLAB_TIER says so"
_INSTANCE: Final = "instance"


class AnswerCache:
    """What was read, by caller and subject."""

    def __init__(self, capacity: int = 1000, clock: Callable[[], float] = time.monotonic) -> None:
        self._kept = KeptAnswers(capacity, _LARGEST_CACHE, clock)
        self._under_way = ReadsUnderWay()

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: tuple[str, ...]) -> Any:
        """The cached value; None where there is none."""
        return self._kept.get(key)

    async def get_or_fetch(
        self, key: tuple[str, ...], seconds: float, fetch: Callable[[], Awaitable[Any]]
    ) -> Any:
        """The cached value, or a new one. None is not cached: the next attempt may succeed."""
        if (value := self._kept.get(key)) is not None:
            return value

        async def fetch_and_keep() -> Any:
            value = await fetch()
            self._kept.keep(key, seconds, value)
            return value

        return await self._under_way.once(key, fetch_and_keep)


class CachedLookups:
    """Implements `actions.ask.Ask` with the rights of one caller.

    `caller` keeps the callers of a shared `cache` apart. It is a hash of the token, never the token. Without it nothing
    is shared. `sort` is what the caller's token shows itself to be. `people` remembers who callers are, so that much of
    anything else does not make it forget them.
    """

    def __init__(
        self,
        gitlab: GitLab,
        cache: AnswerCache,
        *,
        caller: str | None = None,
        tier: str | None = None,
        sort: TokenSort | None = None,
        people: AnswerCache | None = None,
    ) -> None:
        self._gitlab = gitlab
        self._sort = sort
        self._cache = cache if caller is not None else AnswerCache()
        self._people = people if people is not None else self._cache
        self._caller = caller or ""
        self._tier = tier.capitalize() if tier else None

    @property
    def uses_job_token(self) -> bool:
        return self._sort is JOB_TOKEN

    async def token(self) -> TokenFacts | None:
        facts: TokenFacts | None = await self._cached(_CACHE_SECONDS, self._fetch_token, "token")
        return facts

    async def user(self) -> User | None:
        user: User | str = await self._people.get_or_fetch(
            self._key("user"), _CACHE_SECONDS, self._fetch_user
        )
        return user if isinstance(user, User) else None

    async def is_member(self, group: str, *, direct: bool = False) -> bool | None:
        user = await self.user()
        # The token of a job is answered 404 for any group, as if it were in none.
        if user is None or self.uses_job_token:
            return None
        path = f"/groups/{encode_segment(group)}/members/{'' if direct else 'all/'}{user.id}"
        member: bool | str = await self._people.get_or_fetch(
            self._key(path), _CACHE_SECONDS, lambda: self._fetch_membership(path)
        )
        return member if isinstance(member, bool) else None

    async def instance(self) -> InstanceFacts:
        facts: InstanceFacts | None = await self._cached(_INSTANCE_SECONDS, self._fetch_instance, _INSTANCE)
        return facts or self._instance_as_set

    @property
    def known_instance(self) -> InstanceFacts:
        return self._cache.get(self._key(_INSTANCE)) or self._instance_as_set

    @property
    def _instance_as_set(self) -> InstanceFacts:
        return InstanceFacts(
            tier=self._tier,
            known_by=_SET_BY_OPERATOR if self._tier else None,
            is_gitlab_com=self._is_gitlab_com,
        )

    async def project(self, id: str) -> Mapping[str, Any] | None:
        answer = await self._get_cached(f"/projects/{encode_segment(id)}")
        if isinstance(answer, Refused):
            moved = _NEW_PROJECT_URL.search(answer.headers.get("location", ""))
            if moved:
                answer = await self._get_cached(f"/projects/{moved[1]}")
        project = _json_object(answer)
        return project if _has_number(project) else None

    async def group(self, id: str) -> Mapping[str, Any] | None:
        group = _json_object(await self._get_cached(f"/groups/{encode_segment(id)}", with_projects="false"))
        if group is None or not _has_number(group):
            return None
        if not self._is_gitlab_com:
            return group
        # Only owners see the plan. Anywhere but on GitLab.com it is always `default`.
        namespace = _json_object(await self._get_cached(f"/namespaces/{encode_segment(id)}")) or {}
        return {**group, "plan": namespace.get("plan")}

    async def group_role(self, id: str) -> int | None:
        """Read from the membership: GitLab's answer about a group does not show the caller's role."""
        answer = await self._membership("group", id)
        if isinstance(answer, Refused):
            return 0 if answer.status == 404 else None
        level = (_json_object(answer) or {}).get("access_level")
        return level if isinstance(level, int) else None

    async def custom_role(self, kind: str, id: str) -> Mapping[str, Any] | None:
        role = (_json_object(await self._membership(kind, id)) or {}).get("member_role")
        return role if isinstance(role, dict) and isinstance(role.get("id"), int) else None

    async def _membership(self, kind: str, id: str) -> Answer | Refused | None:
        token = await self.token()
        if token is None or token.user_id is None:
            return None
        return await self._get_cached(f"/{kind}s/{encode_segment(id)}/members/all/{token.user_id}")

    async def merge_request(self, project: str, iid: str) -> Mapping[str, Any] | None:
        # Not cached: what blocks a merge changes at any moment.
        path = f"/projects/{encode_segment(project)}/merge_requests/{encode_segment(iid)}"
        try:
            return await read_once_checked(self._gitlab, path)
        except Exception:
            # Nothing here raises: what cannot be read is None.
            return None

    async def merge_checks(self, merge_request: Mapping[str, Any]) -> Mapping[str, Any] | None:
        try:
            return await read_merge_checks(self._gitlab, merge_request)
        except Exception:
            # Nothing here raises: what cannot be read is None.
            return None

    async def has_commit(self, project: str, ref: str) -> bool | None:
        answer = await self._get(
            f"/projects/{encode_segment(project)}/repository/commits/{encode_segment(ref)}", stats="false"
        )
        if isinstance(answer, Refused):
            return False if answer.body() == {"message": "404 Commit Not Found"} else None
        return None if answer is None else True

    async def exists(self, path: str) -> bool | None:
        answer = await (self._get_cached(path) if _PROJECT_PATH.fullmatch(path) else self._get(path))
        if isinstance(answer, Refused):
            # `{"error": ...}` speaks of the route, not of the object.
            body = answer.body()
            return False if answer.status == 404 and isinstance(body, dict) and "message" in body else None
        return None if answer is None else True

    async def look(self, path: str, **query: str) -> Any | None:
        answer = await self._get(path, **query)
        return answer.body if isinstance(answer, Answer) else None

    async def names(self, path: str, **query: str) -> Any | None:
        async def fetch() -> Any | None:
            answer = await self._gitlab.get(path, **query)
            things = answer.body if isinstance(answer.body, list) else [answer.body]
            if not all(map(_has_number, things)):
                # Kept, it would break the next calls as well.
                raise BadAnswer(Request("GET", path), BadAnswerReason.UNEXPECTED_SHAPE, answer.status)
            return answer.body or None

        return await self._cached(_NAME_SECONDS, fetch, f"{path}?{urlencode(query)}")

    async def _fetch_token(self) -> TokenFacts | None:
        if self._sort is JOB_TOKEN:
            return await self._fetch_job_token()
        if self._sort and not self._sort.opens_the_api:
            return TokenFacts(alive=False, problem=NOT_FOR_THE_API, kind=self._sort.name)
        token_answer, user_answer = await self._get_both("/personal_access_tokens/self", "/user")
        if lacks_permission(token_answer):
            # It may not even read itself.
            return TokenFacts(alive=True, kind="personal", fine_grained=True)
        if isinstance(token_answer, Refused) and _is_unauthorized(token_answer):
            problem = _token_problem(token_answer)
            if problem not in ("unknown", None):
                return TokenFacts(alive=False, problem=problem)
        # An OAuth token is not a personal access token. If it can read /user, it is alive.
        token, user = _json_object(token_answer) or {}, _json_object(user_answer) or {}
        if not token and not user:
            if _is_unauthorized(user_answer):
                problem = _token_problem(user_answer)
                return TokenFacts(alive=problem is None, problem=problem)
            return None
        active = token.get("active", True) is not False
        return TokenFacts(
            alive=active,
            problem=None if active else "revoked",
            kind=_token_kind(user) if user else None,
            scopes=words.scopes(token.get("scopes") or ()),
            user_id=token.get("user_id") or user.get("id"),
            # Only administrators see `is_admin`. Without the right to read /user it is unknown.
            admin=bool(user.get("is_admin")) if user else None,
            expires_at=words.day(token.get("expires_at")),
            fine_grained=token.get("granular") is True,
        )

    async def _fetch_user(self) -> User | str:
        try:
            answer = await self._gitlab.get("/job" if self.uses_job_token else "/user")
        except Refused as refused:
            if _is_too_narrow(refused):
                return _NOT_TOLD
            raise
        body = _json_object(answer) or {}
        user = body.get("user") if self.uses_job_token else body
        return _user(user, self._sort) or _NOT_TOLD

    async def _fetch_membership(self, path: str) -> bool | str:
        try:
            await self._gitlab.get(path)
        except Refused as refused:
            if _is_too_narrow(refused):
                return _NOT_TOLD
            body = refused.body()
            if refused.status in (403, 404) and isinstance(body, dict) and "message" in body:
                # 403: a group whose members only members see. 404: no member, or no such group for this caller.
                return False
            raise
        return True

    async def _fetch_job_token(self) -> TokenFacts | None:
        """The token of a CI/CD job may not read itself nor its user, but its job."""
        answer = await self._get("/job")
        if job := _json_object(answer):
            user = job.get("user")
            id = user.get("id") if isinstance(user, dict) else None
            return TokenFacts(alive=True, kind="job", user_id=id if isinstance(id, int) else None)
        return TokenFacts(alive=False, problem="unknown", kind="job") if _is_unauthorized(answer) else None

    async def _fetch_instance(self) -> InstanceFacts | None:
        # The token of a job is refused there.
        about, probe = await self._get_both(
            None if self._sort is JOB_TOKEN else "/metadata",
            None if self._is_gitlab_com else _LICENCE_PROBE,
        )
        metadata = _json_object(about) or {}
        edition = ("EE" if metadata["enterprise"] else "CE") if "enterprise" in metadata else None
        edition = edition or _edition_from_probe(probe)
        if edition is None and not metadata:
            return None
        tier, at_least, known_by = self._tier_from_probe(edition, probe)
        version = words.version(metadata.get("version"))
        return InstanceFacts(edition, version, tier, at_least, known_by, self._is_gitlab_com)

    @property
    def _is_gitlab_com(self) -> bool:
        return is_gitlab_com(self._gitlab.base_url)

    def _tier_from_probe(
        self, edition: str | None, probe: Answer | Refused | None
    ) -> tuple[str | None, bool, str | None]:
        """The tier, whether it is only a lower bound, and how it is known."""
        if self._tier:
            return self._tier, False, _SET_BY_OPERATOR
        if edition == "CE":
            return "Free", False, "this is the Community Edition"
        body = probe.body() if isinstance(probe, Refused) else None
        if body == {"message": "403 Forbidden"}:
            return "Free", False, "the instance has no licence"
        if body == {"message": "404 Project Not Found"}:
            return "Premium", True, "the instance has a licence"
        return None, False, None

    async def _cached(self, seconds: float, fetch: Callable[[], Awaitable[Any]], subject: str) -> Any:
        return await self._cache.get_or_fetch(self._key(subject), seconds, fetch)

    def _key(self, subject: str) -> tuple[str, ...]:
        return (self._gitlab.base_url, self._caller, subject)

    async def _get_cached(self, path: str, **query: str) -> Answer | Refused | None:
        answer: Answer | Refused | None = await self._cached(
            _CACHE_SECONDS, lambda: self._get(path, **query), path
        )
        return answer

    async def _get_both(self, *paths: str | None) -> Sequence[Any]:
        """The answer at each path, as `_get` gives it, asked for at once; None for none."""
        return await concurrently([partial(self._get, path) if path else _nothing for path in paths])

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
            # The failure that is being explained matters more than this one.
            return None


async def _nothing() -> None:
    return None


def _edition_from_probe(probe: Answer | Refused | None) -> str | None:
    """For a token that lacks the scope to read /metadata."""
    if not isinstance(probe, Refused):
        return None
    body = probe.body()
    if body == {"error": "404 Not Found"}:
        return "CE"
    if isinstance(body, dict) and body.get("error") == "insufficient_scope":
        return "EE"
    return "EE" if body in _PROBE_ON_EE else None


def _token_kind(user: Mapping[str, Any]) -> str:
    bot = BOT_USERNAME.match(str(user.get("username", ""))) if user.get("bot") else None
    return bot[1] if bot else "personal"


def _user(user: Any, sort: TokenSort | None) -> User | None:
    if not _has_number(user) or not isinstance(user.get("username"), str):
        return None
    id, username = user["id"], user["username"]
    kind, counted_as = "personal", f"user {id}"
    if sort is JOB_TOKEN:
        kind = "job"
    elif user.get("bot"):
        bot = BOT_USERNAME.match(username)
        kind = bot[1] if bot else "service_account"
        counted_as = f"{bot[1]} {bot[2]}" if bot else counted_as
    elif sort is OAUTH_TOKEN:
        kind = "oauth"
    return User(id, username, kind, counted_as)


def _is_too_narrow(refused: Refused) -> bool:
    """Whether the token is alive and may not ask this."""
    body = refused.body()
    is_scope = isinstance(body, dict) and body.get("error") == "insufficient_scope"
    return refused.status == 403 and (is_scope or lacks_permission(refused))


def _has_number(thing: Any) -> bool:
    return isinstance(thing, Mapping) and isinstance(thing.get("id"), int)


def _json_object(answer: Answer | Refused | None) -> Mapping[str, Any] | None:
    return answer.body if isinstance(answer, Answer) and isinstance(answer.body, dict) else None


def _is_unauthorized(answer: Answer | Refused | None) -> bool:
    return isinstance(answer, Refused) and answer.status in (401, 403)


def lacks_permission(answer: object) -> bool:
    """Whether it is GitLab's refusal of a fine-grained token that lacks a permission."""
    body = answer.body() if isinstance(answer, Refused) else None
    return isinstance(body, dict) and body.get("error") == "insufficient_granular_scope"


def _token_problem(answer: Answer | Refused | None) -> str | None:
    """None where it is alive."""
    if not isinstance(answer, Refused):
        return "unknown"
    body = answer.body()
    if answer.status == 403:
        # Whose scope is too small is somebody; other refusals of one's own account are about the account.
        return None if _is_too_narrow(answer) else "blocked"
    description = str(body.get("error_description", "")).lower() if isinstance(body, dict) else ""
    return next((word for word in ("expired", "revoked") if word in description), "unknown")

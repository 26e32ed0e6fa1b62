"""The store of several processes: Redis. The redis package is imported only here, and only with `--redis`.

The client is the synchronous one, called in worker threads. It is bound to no event loop, so it can be closed from
anywhere.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, Final, TypeVar, cast
from urllib.parse import unquote, urlsplit, urlunsplit

import anyio.to_thread
import redis
from redis.backoff import NoBackoff
from redis.credentials import CredentialProvider
from redis.retry import Retry

from gitlab_mcp.callers import Secret
from gitlab_mcp.store import StoreUnavailable

T = TypeVar("T")

log = logging.getLogger("gitlab_mcp.store")


class _Password(CredentialProvider):
    """Of the file, as it is when a connection is made."""

    def __init__(self, user: str, password: Callable[[], Secret]) -> None:
        self._user = user
        self._password = password

    def get_credentials(self) -> tuple[str] | tuple[str, str]:
        password = self._password().reveal()
        return (self._user, password) if self._user else (password,)


KEY_PREFIX: Final = "gitlab-mcp:"
_TIMEOUT_SECONDS: Final = 1.0
_PAUSE_SECONDS: Final = 1.0
"""After a failure Redis is not asked for this long, so that one call does not run into the timeout twice."""

# INCR and EXPIRE as two commands could leave a count that never expires, if we died in between.
_INCREMENT: Final = """
local number = redis.call('INCR', KEYS[1])
if number == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return number
"""

# The members of a set, each with the time at which it expires. Redis' own clock counts: replicas' may differ.
_NOW: Final = """
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
"""
_ADD_MEMBER: Final = (
    _NOW
    + """
redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1])
redis.call('PEXPIRE', KEYS[1], math.max(tonumber(ARGV[2]), redis.call('PTTL', KEYS[1])))
"""
)
_MEMBERS: Final = _NOW + "return redis.call('ZRANGE', KEYS[1], 0, -1)"


class RedisStore:
    def __init__(
        self, url: str, password: Callable[[], Secret] | None = None, ca_file: Path | None = None
    ) -> None:
        """`password` is asked for each new connection, in place of one in the address."""
        more: dict[str, Any] = {"ssl_ca_certs": str(ca_file)} if ca_file else {}
        if password is not None:
            parts = urlsplit(url)
            more["credential_provider"] = _Password(unquote(parts.username or ""), password)
            # Redis' client takes a name in the address for a password of its own.
            url = urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
        self._redis = redis.Redis.from_url(
            url,
            **more,
            decode_responses=True,
            socket_timeout=_TIMEOUT_SECONDS,
            socket_connect_timeout=_TIMEOUT_SECONDS,
            retry=Retry(NoBackoff(), 0),
            max_connections=64,
        )
        self._increment = self._redis.register_script(_INCREMENT)
        self._add_member = self._redis.register_script(_ADD_MEMBER)
        self._members = self._redis.register_script(_MEMBERS)
        self._paused_until = 0.0

    async def get(self, key: str) -> str | None:
        return await self._run(lambda: cast("str | None", self._redis.get(KEY_PREFIX + key)))

    async def put(self, key: str, value: str, seconds: float) -> None:
        await self._run(lambda: self._redis.set(KEY_PREFIX + key, value, px=_milliseconds(seconds)))

    async def put_if_absent(self, key: str, value: str, seconds: float) -> str:
        def put() -> str:
            while True:
                if self._redis.set(KEY_PREFIX + key, value, px=_milliseconds(seconds), nx=True):
                    return value
                # None if it has just expired. Then try again.
                if (stored := cast("str | None", self._redis.get(KEY_PREFIX + key))) is not None:
                    return stored

        return await self._run(put)

    async def increment(self, key: str, seconds: float) -> int:
        return await self._run(
            lambda: int(cast("int", self._increment(keys=[KEY_PREFIX + key], args=[_milliseconds(seconds)])))
        )

    async def add_member(self, key: str, member: str, seconds: float) -> None:
        arguments: list[str | int] = [member, _milliseconds(seconds)]
        await self._run(lambda: self._add_member(keys=[KEY_PREFIX + key], args=arguments))

    async def remove_member(self, key: str, member: str) -> None:
        await self._run(lambda: self._redis.zrem(KEY_PREFIX + key, member))

    async def members(self, key: str) -> Collection[str]:
        return await self._run(lambda: cast("list[str]", self._members(keys=[KEY_PREFIX + key])))

    async def alive(self) -> bool:
        try:
            return bool(await self._run(self._redis.ping))
        except StoreUnavailable:
            return False

    def close(self) -> None:
        self._redis.close()

    async def _run(self, command: Callable[[], T]) -> T:
        if time.monotonic() < self._paused_until:
            raise StoreUnavailable("Redis did not answer a moment ago")
        try:
            return await anyio.to_thread.run_sync(command)
        except (redis.ResponseError, UnicodeDecodeError, ValueError) as error:
            # Redis is there: it has no memory left, or holds what this server did not write.
            log.error("Redis refused: %s", type(error).__name__, extra={"component": "store"})
            raise StoreUnavailable("Redis did not take it, or holds something else there") from None
        except redis.RedisError as error:
            self._paused_until = time.monotonic() + _PAUSE_SECONDS
            log.error("Redis did not answer: %s", type(error).__name__, extra={"component": "store"})
            raise StoreUnavailable("Redis did not answer") from None


def _milliseconds(seconds: float) -> int:
    return max(1, round(seconds * 1000))

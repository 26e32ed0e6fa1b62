"""The store of several processes: Redis. The redis package is imported only here, and only with `--redis`.

The client is the synchronous one, called in worker threads. It is bound to no event loop, so it can be closed from
anywhere.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Final, TypeVar, cast

import anyio.to_thread
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from gitlab_mcp.store import NOT_OURS, StoreUnavailable

T = TypeVar("T")

log = logging.getLogger("gitlab_mcp.store")

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


class RedisStore:
    def __init__(self, url: str) -> None:
        self._redis = redis.Redis.from_url(
            url,
            decode_responses=True,
            socket_timeout=_TIMEOUT_SECONDS,
            socket_connect_timeout=_TIMEOUT_SECONDS,
            retry=Retry(NoBackoff(), 0),
            max_connections=64,
        )
        self._increment = self._redis.register_script(_INCREMENT)
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
        count = await self._run(
            lambda: int(cast("int", self._increment(keys=[KEY_PREFIX + key], args=[_milliseconds(seconds)])))
        )
        if count < 1:
            raise StoreUnavailable(NOT_OURS)
        return count

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
        except (redis.ResponseError, ValueError) as error:
            # Redis answered; but another program wrote there, or the value is no text.
            log.error(
                "Redis holds what cannot be read: %s", type(error).__name__, extra={"component": "store"}
            )
            raise StoreUnavailable(NOT_OURS) from None
        except redis.RedisError as error:
            self._paused_until = time.monotonic() + _PAUSE_SECONDS
            log.error("Redis did not answer: %s", type(error).__name__, extra={"component": "store"})
            raise StoreUnavailable("Redis did not answer") from None


def _milliseconds(seconds: float) -> int:
    return max(1, round(seconds * 1000))

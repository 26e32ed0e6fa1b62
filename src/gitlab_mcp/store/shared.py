"""The store of several processes: Redis. Its package is needed only here, and only with `--redis`.

The client is the synchronous one, in worker threads: it belongs to no event loop, so it can be closed by whoever ends.
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

from gitlab_mcp.store import StoreUnavailable

T = TypeVar("T")

log = logging.getLogger("gitlab_mcp.store")

PREFIX: Final = "gitlab-mcp:"
_PATIENCE: Final = 1.0
"""Seconds for one answer."""
_REST: Final = 1.0
"""Seconds in which a store that was gone is not asked again: nobody's read waits for it twice."""

# A plain INCR and EXPIRE would leave a count without an end if we died in between.
_COUNT: Final = """
local number = redis.call('INCR', KEYS[1])
if number == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return number
"""


class RedisStore:
    def __init__(self, url: str) -> None:
        self._redis = redis.Redis.from_url(
            url,
            decode_responses=True,
            socket_timeout=_PATIENCE,
            socket_connect_timeout=_PATIENCE,
            retry=Retry(NoBackoff(), 0),
            max_connections=64,
        )
        self._count = self._redis.register_script(_COUNT)
        self._resting_until = 0.0

    async def get(self, key: str) -> str | None:
        return await self._asked(lambda: cast("str | None", self._redis.get(PREFIX + key)))

    async def put(self, key: str, value: str, seconds: float) -> None:
        await self._asked(lambda: self._redis.set(PREFIX + key, value, px=_milliseconds(seconds)))

    async def put_first(self, key: str, value: str, seconds: float) -> str:
        def first() -> str:
            while True:
                if self._redis.set(PREFIX + key, value, px=_milliseconds(seconds), nx=True):
                    return value
                # None when it ended in between: then ours may be the first after all.
                if (there := cast("str | None", self._redis.get(PREFIX + key))) is not None:
                    return there

        return await self._asked(first)

    async def count(self, key: str, seconds: float) -> int:
        return await self._asked(
            lambda: int(cast("int", self._count(keys=[PREFIX + key], args=[_milliseconds(seconds)])))
        )

    async def alive(self) -> bool:
        try:
            return bool(await self._asked(self._redis.ping))
        except StoreUnavailable:
            return False

    def close(self) -> None:
        self._redis.close()

    async def _asked(self, question: Callable[[], T]) -> T:
        if time.monotonic() < self._resting_until:
            raise StoreUnavailable("Redis did not answer a moment ago")
        try:
            return await anyio.to_thread.run_sync(question)
        except redis.RedisError as problem:
            self._resting_until = time.monotonic() + _REST
            log.error("Redis did not answer: %s", type(problem).__name__, extra={"component": "store"})
            raise StoreUnavailable("Redis did not answer") from None


def _milliseconds(seconds: float) -> int:
    return max(1, round(seconds * 1000))

"""An agent that sends the same failing call again and again is told to stop."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from gitlab_mcp.callers import CallerKey
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import Failure
from gitlab_mcp.store import Store, StoreUnavailable

TIMES: Final = 3
_WITHIN: Final = 300


@dataclass(frozen=True, slots=True)
class Loops:
    store: Store

    async def __call__(
        self, caller: CallerKey, tool: str, arguments: Mapping[str, Any], failure: Failure
    ) -> Failure:
        """The failure, or the failure that says stop."""
        try:
            times = await self.store.increment(
                f"loop:{caller.digest}:{_digest(tool, arguments, failure.code)}", _WITHIN
            )
        except (StoreUnavailable, RecursionError):
            # To notice a loop is no reason to fail; arguments nested without end cannot even be written down.
            return failure
        if times < TIMES:
            return failure
        usual = str(failure.facts.get("suggested_fix", ""))
        return failure.knowing(
            loop=True,
            attempts=times,
            retryable=False,
            suggested_fix=f"Stop: this very call has failed {times} times within minutes, and sending it again will "
            f"not help. Change it, or tell the person what failed. {usual}".rstrip(),
        )


def _digest(tool: str, arguments: Mapping[str, Any], code: Code) -> str:
    sent = {name: value for name, value in arguments.items() if name != "confirmation_token"}
    call = json.dumps([tool, sent, code], sort_keys=True, default=str)
    return hashlib.sha256(call.encode()).hexdigest()[:32]

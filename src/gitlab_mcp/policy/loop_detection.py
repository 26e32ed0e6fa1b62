"""An agent that repeats the same failing call is told to stop."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from gitlab_mcp.callers import CallerKey
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import Failure
from gitlab_mcp.store import FAILURES, Store, StoreUnavailable

_FAILURES_OF_A_LOOP: Final = 3
_WINDOW_SECONDS: Final = 300


@dataclass(frozen=True, slots=True)
class LoopDetection:
    store: Store

    async def __call__(
        self, caller: CallerKey, tool: str, arguments: Mapping[str, Any], failure: Failure
    ) -> Failure:
        """The failure; from the third of the same call on, with the advice to stop."""
        try:
            key = f"{FAILURES}:{caller.digest}:{_digest(tool, arguments, failure.code)}"
            failures = await self.store.increment(key, _WINDOW_SECONDS)
        except (StoreUnavailable, RecursionError):
            # A call must not fail for this. Arguments that are nested too deeply for JSON raise RecursionError.
            return failure
        if failures < _FAILURES_OF_A_LOOP:
            return failure
        usual_fix = str(failure.facts.get("suggested_fix", ""))
        return failure.knowing(
            loop=True,
            attempts=failures,
            retryable=False,
            suggested_fix=f"Stop: this very call has failed {failures} times within minutes, and sending it again will "
            f"not help. Change it, or tell the person what failed. {usual_fix}".rstrip(),
        )


def _digest(tool: str, arguments: Mapping[str, Any], code: Code) -> str:
    sent = {name: value for name, value in arguments.items() if name != "confirmation_token"}
    call = json.dumps([tool, sent, code], sort_keys=True, default=str)
    return hashlib.sha256(call.encode()).hexdigest()[:32]

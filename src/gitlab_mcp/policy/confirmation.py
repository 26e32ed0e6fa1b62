"""A person says yes first: a refusal that carries a token, and the token that lets exactly this call pass once.

A token names its caller, its call and its end, and is signed; that it was used is kept in the store. So a token can be
asked of one replica and redeemed at another, and nobody can make one, change one or use one twice.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from gitlab_mcp.core.call import Call
from gitlab_mcp.core.caller import Who
from gitlab_mcp.errors import catalogue as codes
from gitlab_mcp.errors.failure import CallFailed, Failure
from gitlab_mcp.policy import Intent
from gitlab_mcp.policy.effects import effect
from gitlab_mcp.store import Store

LIFETIME: Final = 600
_KEY_LIFETIME: Final = 10 * 365 * 24 * 3600
_NONCE, _WHO, _WHAT, _SIGNATURE = 9, 8, 12, 16
_LAYOUT: Final = struct.Struct(f">{_NONCE}sI{_WHO}s{_WHAT}s")


@dataclass(frozen=True, slots=True)
class Tokens:
    store: Store
    clock: Callable[[], float] = time.time

    async def issue(self, purpose: str, who: Who, call: Call) -> tuple[str, str]:
        """A token, and when it ends."""
        ends = int(self.clock()) + LIFETIME
        payload = _LAYOUT.pack(secrets.token_bytes(_NONCE), ends, _caller(who), _what(purpose, who, call))
        token = base64.urlsafe_b64encode(payload + await self._signature(payload)).decode().rstrip("=")
        return token, datetime.fromtimestamp(ends, UTC).isoformat().replace("+00:00", "Z")

    async def redeem(self, token: str, purpose: str, who: Who, call: Call) -> None:
        """Raises the refusal that fits; passes once."""
        opened = await self._opened(token)
        # Somebody else's is none: whether it would be good in other hands is nobody's business.
        if opened is None or not hmac.compare_digest(opened[2], _caller(who)):
            raise CallFailed(
                _refused(codes.CONFIRMATION_INVALID, "The confirmation token is not one of yours.")
            )
        nonce, ends, _, what = opened
        if ends <= self.clock():
            raise CallFailed(_refused(codes.CONFIRMATION_EXPIRED, "The confirmation token has expired."))
        if not hmac.compare_digest(what, _what(purpose, who, call)):
            raise CallFailed(
                _refused(codes.CONFIRMATION_MISMATCH, "The confirmation token was given for another call.")
            )
        claim = secrets.token_hex(8)
        if await self.store.put_first(f"used:{nonce.hex()}", claim, LIFETIME + 60) != claim:
            raise CallFailed(
                _refused(codes.CONFIRMATION_USED, "The confirmation token has been used already.")
            )

    def is_for(self, token: str, purpose: str, who: Who, call: Call) -> bool:
        """What a token says it is for. Whether that is true, only `redeem` tells."""
        decoded = _decoded(token)
        return decoded is not None and _LAYOUT.unpack(decoded[0])[3] == _what(purpose, who, call)

    async def _opened(self, token: str) -> tuple[bytes, int, bytes, bytes] | None:
        decoded = _decoded(token)
        if decoded is None:
            return None
        payload, signature = decoded
        if not hmac.compare_digest(signature, await self._signature(payload)):
            return None
        nonce, ends, caller, what = _LAYOUT.unpack(payload)
        return nonce, ends, caller, what

    async def _signature(self, payload: bytes) -> bytes:
        # Whoever comes first makes the key; all replicas then sign with it.
        key = await self.store.put_first("key", secrets.token_hex(32), _KEY_LIFETIME)
        return hmac.digest(bytes.fromhex(key), payload, "sha256")[:_SIGNATURE]


@dataclass(frozen=True, slots=True)
class Confirmation:
    """As a guard: lets pass what needs no yes, and what has one."""

    needed: Callable[[Call], bool]
    tokens: Tokens

    async def __call__(self, intent: Intent) -> None:
        call, who = intent.call, intent.who
        if not self.needed(call):
            return
        given = call.options.confirmation_token
        if given is not None:
            await self.tokens.redeem(given, "confirm", who, call)
            return
        token, ends = await self.tokens.issue("confirm", who, call)
        will = await effect(intent)
        raise CallFailed(
            Failure(
                codes.CONFIRMATION_REQUIRED, f"{call.action.spec.name} needs a yes first. {will}"
            ).knowing(
                what_will_happen=will,
                danger=str(call.action.spec.danger),
                confirmation_token=token,
                expires_at=ends,
                suggested_fix="Show the person what_will_happen. After a yes, send the same call again with "
                "confirmation_token; after a no, do not.",
            )
        )


def _decoded(token: str) -> tuple[bytes, bytes] | None:
    try:
        raw = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
    except ValueError:
        return None
    return (raw[:-_SIGNATURE], raw[-_SIGNATURE:]) if len(raw) == _LAYOUT.size + _SIGNATURE else None


def _caller(who: Who) -> bytes:
    return bytes.fromhex(who.key)[:_WHO]


def _what(purpose: str, who: Who, call: Call) -> bytes:
    arguments = call.action.model_dump(mode="json", exclude_unset=True)
    name = [purpose, who.gitlab, call.tool.name, call.action.spec.name]
    return hashlib.sha256(json.dumps([name, arguments], sort_keys=True).encode()).digest()[:_WHAT]


def _refused(code: str, message: str) -> Failure:
    fixes = {
        codes.CONFIRMATION_USED: "Look whether the call has taken effect already. If it is still wanted, send it "
        "without confirmation_token to get a new one.",
        codes.CONFIRMATION_MISMATCH: "Send exactly the call that was confirmed, or send this one without "
        "confirmation_token to get its own.",
    }
    usual = "Send the call without confirmation_token to get a new one."
    return Failure(code, message).knowing(confidence="certain", suggested_fix=fixes.get(code, usual))

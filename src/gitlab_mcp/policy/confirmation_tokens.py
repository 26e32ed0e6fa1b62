"""Tokens that stand for a person's yes: to exactly one thing, by one caller, for ten minutes, once.

A token names its caller, its subject, its operation and its end, and is signed; that it was used is kept in the
store. So a token can be asked of one replica and redeemed at another, and nobody can make one, change one or use one
twice.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from gitlab_mcp.callers import CallerKey
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.store import Store

LIFETIME: Final = 600
_KEY_LIFETIME: Final = 10 * 365 * 24 * 3600
_NONCE, _WHO, _SUBJECT, _SIGNATURE = 9, 8, 12, 16
_LAYOUT: Final = struct.Struct(f">{_NONCE}sI{_WHO}s{_SUBJECT}s")


@dataclass(frozen=True, slots=True)
class Tokens:
    store: Store
    clock: Callable[[], float] = time.time
    """The time of day: replicas must agree on when a token ends."""

    async def issue(self, caller: CallerKey, subject: str, operation: str) -> tuple[str, str]:
        """A token, and when it ends. `operation` is what a refusal says that it was given for."""
        ends = int(self.clock()) + LIFETIME
        fixed = _LAYOUT.pack(secrets.token_bytes(_NONCE), ends, _caller(caller), _digest(subject))
        payload = fixed + operation.encode()
        token = base64.urlsafe_b64encode(payload + await self._signature(payload)).decode().rstrip("=")
        return token, moment(ends)

    async def redeem(self, token: str, caller: CallerKey, subject: str) -> None:
        """Raises the refusal that fits; passes once."""
        decoded = _decoded(token)
        if decoded is None or not hmac.compare_digest(decoded[1], await self._signature(decoded[0])):
            raise CallFailed(_refusal(Code.CONFIRMATION_INVALID))
        nonce, ends, holder, about = _LAYOUT.unpack_from(decoded[0])
        # Somebody else's is none: whether it would be good in other hands is nobody's business.
        if not hmac.compare_digest(holder, _caller(caller)):
            raise CallFailed(_refusal(Code.CONFIRMATION_INVALID))
        now = int(self.clock())
        if ends <= self.clock():
            refusal = _refusal(Code.CONFIRMATION_EXPIRED)
            raise CallFailed(refusal.knowing(expired_at=moment(ends), current_time=moment(now)))
        if not hmac.compare_digest(about, _digest(subject)):
            operation = decoded[0][_LAYOUT.size :].decode()
            raise CallFailed(_refusal(Code.CONFIRMATION_MISMATCH).knowing(token_operation=operation))
        claim = f"{now} {secrets.token_hex(8)}"
        kept = await self.store.put_if_absent(f"used:{nonce.hex()}", claim, LIFETIME + 60)
        if kept != claim:
            consumed = moment(int(kept.partition(" ")[0]))
            raise CallFailed(_refusal(Code.CONFIRMATION_USED).knowing(consumed_at=consumed))

    async def _signature(self, payload: bytes) -> bytes:
        # Whoever comes first makes the key; all replicas then sign with it.
        key = await self.store.put_if_absent("key", secrets.token_hex(32), _KEY_LIFETIME)
        return hmac.digest(bytes.fromhex(key), payload, "sha256")[:_SIGNATURE]


def moment(seconds: int) -> str:
    """As callers read it: `2026-01-31T12:00:00Z`."""
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")


def claims(token: str | None, subject: str) -> bool:
    """Whether a token says that it is about this. Whether that is true, only redeeming it tells."""
    decoded = _decoded(token) if token is not None else None
    return decoded is not None and bool(_LAYOUT.unpack_from(decoded[0])[3] == _digest(subject))


def _decoded(token: str) -> tuple[bytes, bytes] | None:
    try:
        raw = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
    except ValueError:
        return None
    return (raw[:-_SIGNATURE], raw[-_SIGNATURE:]) if len(raw) >= _LAYOUT.size + _SIGNATURE else None


def _caller(caller: CallerKey) -> bytes:
    return bytes.fromhex(caller.digest)[:_WHO]


def _digest(subject: str) -> bytes:
    return hashlib.sha256(subject.encode()).digest()[:_SUBJECT]


_REFUSALS: Final = {
    Code.CONFIRMATION_INVALID: (
        "The confirmation token is not one of yours.",
        "Send the call without confirmation_token to get one.",
    ),
    Code.CONFIRMATION_EXPIRED: (
        "The confirmation token has expired.",
        "Send the call without confirmation_token to get a new one.",
    ),
    Code.CONFIRMATION_MISMATCH: (
        "The confirmation token was given for another call.",
        "Send exactly the call that was confirmed, or send this one without confirmation_token to get its own.",
    ),
    Code.CONFIRMATION_USED: (
        "The confirmation token has been used already.",
        "Look whether the call has taken effect. If it is still wanted, send it without confirmation_token to get a "
        "new one.",
    ),
}


def _refusal(code: Code) -> Failure:
    message, fix = _REFUSALS[code]
    return Failure(code, message).knowing(confidence="certain", suggested_fix=fix)

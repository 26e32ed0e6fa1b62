"""Tokens that stand for a person's yes: to one purpose, from one caller, for ten minutes, once.

A token holds its caller, its purpose, its operation, its expiry and the channel it may come back through, and is
signed. Only that it was used is kept in the store, so a token issued by one replica can be redeemed at another.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from typing import Final, NamedTuple

from gitlab_mcp.callers import CallerKey, Secret
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.store import Store, StoreUnavailable, as_number

LIFETIME: Final = 600
"""Seconds."""
_KEY_LIFETIME: Final = 10 * 365 * 24 * 3600
_SEEN_LENGTH: Final = 12
"""Of a commit: enough to tell two apart. The token is bound to all of it by its purpose."""
_NONCE_BYTES, _CALLER_BYTES, _PURPOSE_BYTES, _SIGNATURE_BYTES = 9, 8, 12, 16
_LAYOUT: Final = struct.Struct(f">c{_NONCE_BYTES}sI{_CALLER_BYTES}s{_PURPOSE_BYTES}s")


class Channel(Enum):
    """How a token comes back. One that was given out for one channel is worth nothing in the other."""

    AGENT = b"a"
    """As an argument of the call: where the client cannot ask its person."""
    PERSON = b"p"
    """With the answer of the person whom the client asked."""


class _Payload(NamedTuple):
    channel: bytes
    nonce: bytes
    expires: int
    caller: bytes
    purpose: bytes


@dataclass(frozen=True, slots=True)
class ConfirmationTokens:
    store: Store
    clock: Callable[[], float] = time.time
    """The time of day: replicas must agree on when a token expires."""
    key: Callable[[], Secret] | None = None
    """What tokens are signed with. None: what the first that needs it puts into the store."""

    async def issue(
        self,
        caller: CallerKey,
        purpose: str,
        operation: str,
        channel: Channel = Channel.AGENT,
        seen: str = "",
    ) -> tuple[str, str]:
        """A token, and when it expires. `operation` is what a refusal says that it was given for, and `seen` the
        version of the thing."""
        expires = int(self.clock()) + LIFETIME
        nonce = secrets.token_bytes(_NONCE_BYTES)
        fixed = _LAYOUT.pack(channel.value, nonce, expires, _caller_digest(caller), _purpose_digest(purpose))
        payload = fixed + f"{operation} {seen[:_SEEN_LENGTH]}".rstrip().encode()
        token = base64.urlsafe_b64encode(payload + await self._signature(payload)).decode().rstrip("=")
        return token, utc_time(expires)

    async def redeem(
        self, token: str, caller: CallerKey, purpose: str, channel: Channel = Channel.AGENT
    ) -> None:
        """Use the token up. Raises CallFailed where it is not good for this."""
        nonce = await self.check(token, caller, purpose, channel)
        claim = f"{int(self.clock())} {secrets.token_hex(8)}"
        stored = await self.store.put_if_absent(f"used:{nonce.hex()}", claim, LIFETIME + 60)
        if stored != claim:
            consumed_at = utc_time(as_number(stored.partition(" ")[0]))
            raise CallFailed(_refusal(Code.CONFIRMATION_USED).knowing(consumed_at=consumed_at))

    async def check(
        self, token: str, caller: CallerKey, purpose: str, channel: Channel, seen: str = ""
    ) -> bytes:
        """What the token is known by. Raises CallFailed where it is not good for this; whether it was used is not
        looked at."""
        parts = _payload_and_signature(token)
        if parts is None or not hmac.compare_digest(parts[1], await self._signature(parts[0])):
            raise CallFailed(_refusal(Code.CONFIRMATION_INVALID))
        payload = _Payload(*_LAYOUT.unpack_from(parts[0]))
        # The same refusal as for a forged one, so that nobody learns whether another caller's token is good.
        same_caller = hmac.compare_digest(payload.caller, _caller_digest(caller))
        if not same_caller or payload.channel != channel.value:
            raise CallFailed(_refusal(Code.CONFIRMATION_INVALID))
        if payload.expires <= self.clock():
            refusal = _refusal(Code.CONFIRMATION_EXPIRED)
            now = int(self.clock())
            raise CallFailed(
                refusal.knowing(expired_at=utc_time(payload.expires), current_time=utc_time(now))
            )
        if not hmac.compare_digest(payload.purpose, _purpose_digest(purpose)):
            operation, _, seen_then = parts[0][_LAYOUT.size :].decode().partition(" ")
            if seen_then and seen and not seen.startswith(seen_then):
                raise CallFailed(_changed_since(seen_then, seen))
            raise CallFailed(_refusal(Code.CONFIRMATION_MISMATCH).knowing(token_operation=operation))
        return payload.nonce

    async def _signature(self, payload: bytes) -> bytes:
        return hmac.digest(await self._key(), payload, "sha256")[:_SIGNATURE_BYTES]

    async def _key(self) -> bytes:
        if self.key is not None:
            return self.key().reveal().encode()
        # The first replica that needs it makes it; all sign with it.
        key = await self.store.put_if_absent("key", secrets.token_hex(32), _KEY_LIFETIME)
        if not re.fullmatch("[0-9a-f]{64}", key):
            raise StoreUnavailable("the store holds something else than a key to sign with")
        return bytes.fromhex(key)


def utc_time(seconds: int) -> str:
    """`2026-01-31T12:00:00Z`."""
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")


def is_for(token: str | None, purpose: str) -> bool:
    """Whether a token names this purpose. The signature is not checked here, only when it is redeemed."""
    parts = _payload_and_signature(token) if token is not None else None
    return parts is not None and _Payload(*_LAYOUT.unpack_from(parts[0])).purpose == _purpose_digest(purpose)


def _payload_and_signature(token: str) -> tuple[bytes, bytes] | None:
    try:
        raw = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
    except ValueError:
        return None
    if len(raw) < _LAYOUT.size + _SIGNATURE_BYTES:
        return None
    return raw[:-_SIGNATURE_BYTES], raw[-_SIGNATURE_BYTES:]


def _caller_digest(caller: CallerKey) -> bytes:
    return bytes.fromhex(caller.digest)[:_CALLER_BYTES]


def _purpose_digest(purpose: str) -> bytes:
    return hashlib.sha256(purpose.encode()).digest()[:_PURPOSE_BYTES]


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


def _changed_since(then: str, now: str) -> Failure:
    """The call may be the same, but it would now be done to what the person has not seen."""
    return Failure(
        Code.CONFIRMATION_MISMATCH,
        f"It changed after the person was asked: the yes was to {then}, and now it is {now[:_SEEN_LENGTH]}.",
    ).knowing(
        confidence="certain",
        head_sha=now,
        suggested_fix="Show the person what changed. Send the call without confirmation_token: it is asked again, for "
        "what is there now.",
    )


def _refusal(code: Code) -> Failure:
    message, fix = _REFUSALS[code]
    return Failure(code, message).knowing(confidence="certain", suggested_fix=fix)

"""What is kept of one account, and its form as text."""

from __future__ import annotations

import json
import re
import secrets
from dataclasses import dataclass, field
from typing import Any, Final

from gitlab_mcp.callers import Secret, Token, token_kind

_RENEW_BEFORE: Final = 120.0
"""Seconds before its end at which an access token is renewed: longer than a call may take."""


@dataclass(frozen=True, slots=True)
class Renewal:
    """What a sign-in has beside its access token."""

    refresh_token: Secret
    client_id: str
    expires_at: float
    """When the access token ends, in seconds since 1970."""


@dataclass(frozen=True, slots=True)
class Credential:
    token: Secret
    renewal: Renewal | None = None
    """None for a token that was pasted: nobody here can renew it."""
    username: str = ""
    sign_in: str = field(default_factory=lambda: secrets.token_hex(16))
    """What the account is known by to quotas and confirmations while its tokens change; new with each sign-in."""

    def as_token(self) -> Token:
        if self.renewal is None:
            return Token(self.token, token_kind(self.token), self.sign_in)
        return Token(self.token, "bearer", self.sign_in)

    def is_due(self, now: float, margin: float = _RENEW_BEFORE) -> bool:
        """Whether the token ends within the margin, as far as is known."""
        return self.renewal is not None and self.renewal.expires_at - margin <= now


def to_text(credential: Credential) -> str:
    """Short: Windows keeps at most 1,280 characters."""
    kept: dict[str, Any] = {
        "token": credential.token.reveal(),
        "username": credential.username,
        "sign_in": credential.sign_in,
    }
    if credential.renewal is not None:
        kept["refresh_token"] = credential.renewal.refresh_token.reveal()
        kept["client_id"] = credential.renewal.client_id
        kept["expires_at"] = credential.renewal.expires_at
    return json.dumps(kept)


def from_text(text: str) -> Credential:
    """ValueError where it is not what `to_text` wrote."""
    kept = json.loads(text)
    if not isinstance(kept, dict):
        raise ValueError
    renewal = None
    if "refresh_token" in kept:
        expires_at = kept.get("expires_at")
        if isinstance(expires_at, bool) or not isinstance(expires_at, int | float):
            raise ValueError
        renewal = Renewal(_secret(kept, "refresh_token"), _line(kept, "client_id"), float(expires_at))
    return Credential(_secret(kept, "token"), renewal, str(kept.get("username", "")), _line(kept, "sign_in"))


def _secret(kept: dict[str, Any], name: str) -> Secret:
    return Secret(_line(kept, name))


def _line(kept: dict[str, Any], name: str) -> str:
    value = kept.get(name)
    # It becomes part of a header or of a form.
    if not isinstance(value, str) or not re.fullmatch(r"[!-~]+", value):
        raise ValueError
    return value

"""On which terms the server serves: what the operator decided, as the transport needs it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gitlab_mcp.callers import Secret


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    url: str
    """The GitLab that is meant where a request names none."""
    others: tuple[str, ...] = ()
    """GitLabs that a request may choose."""
    own_token: bool = False
    """Whether the server holds a token that a request without one may use."""
    bearer: Callable[[], Secret] | None = None
    """The secret that every request must bring, where the operator asked for one."""
    operator: Callable[[], Secret] | None = None
    """The secret that opens metrics and details; without one they are for this machine."""
    public_url: str | None = None
    toolsets: tuple[str, ...] = ("all",)
    style: str = "tier"
    """The shape of errors, where a request does not choose."""
    scope: str = "api"
    """The OAuth scope that clients should ask GitLab for."""
    largest: int = 4_000_000
    """Bytes of a request."""
    client_seconds: float = 15.0
    """For a client to send a request, or to take the next part of an answer."""
    call_seconds: float = 50.0
    """For the longest call: a stop waits for it."""

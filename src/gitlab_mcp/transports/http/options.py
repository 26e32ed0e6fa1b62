"""What the operator chose, as far as serving over HTTP needs it. No defaults: the settings state them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gitlab_mcp.callers import Secret
from gitlab_mcp.transports.http.client_address import Network


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpOptions:
    url: str
    """The GitLab that is meant where a request names none."""
    other_urls: tuple[str, ...]
    """GitLabs that a request may choose."""
    own_token: bool
    """Whether the server holds a token that a request without one may use."""
    bearer: Callable[[], Secret] | None
    """The secret that every request must bring, where the operator asked for one."""
    operator_secret: Callable[[], Secret] | None
    """The secret that opens metrics and details; without one they are for this machine."""
    public_url: str | None
    toolsets: tuple[str, ...]
    error_style: str
    """The shape of errors, where a request does not choose."""
    oauth_scope: str
    """What clients should ask GitLab for."""
    max_request_bytes: int
    client_timeout: float
    """Seconds for a client to send the head of a request, to send its body, or to take the next part of an answer."""
    max_connections: int
    connections_per_address: int
    trusted_proxies: tuple[Network, ...]
    """Proxies whose word on the client's address is taken."""
    deadline: float
    """Seconds of the longest call: a stop waits for it."""

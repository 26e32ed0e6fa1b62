"""A request that the stand-in received, and a reply that it sends."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import parse_qsl

API = "/api/v4"


@dataclass(frozen=True, slots=True)
class Received:
    method: str
    path: str
    """As it came, still encoded, without the relative URL root."""
    query: str
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes
    at: float
    """By the monotonic clock."""

    @property
    def route(self) -> str:
        """The path below /api/v4."""
        return self.path.removeprefix(API)

    @property
    def params(self) -> list[tuple[str, str]]:
        return parse_qsl(self.query, keep_blank_values=True)

    @property
    def token(self) -> str | None:
        bearer = self.headers.get("authorization", "").removeprefix("Bearer ")
        return self.headers.get("private-token") or self.headers.get("job-token") or bearer or None

    @property
    def caller(self) -> str:
        return self.token or "anon"

    @property
    def json(self) -> Any:
        return json.loads(self.body) if self.body else None


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    synthetic: bool = True

    @classmethod
    def of(cls, status: int, content: Any = None, headers: Mapping[str, str] | None = None) -> Reply:
        """Text and bytes are sent as they are, anything else as JSON."""
        if isinstance(content, bytes):
            body, kind = content, "application/octet-stream"
        elif isinstance(content, str):
            body, kind = content.encode(), "text/plain"
        else:
            body, kind = (b"" if content is None else json.dumps(content).encode()), "application/json"
        return cls(status, body, {"Content-Type": kind, **(headers or {})})

    def with_body(self, body: bytes) -> Reply:
        """The same reply with another body. It is then synthetic."""
        return replace(self, body=body, synthetic=True)

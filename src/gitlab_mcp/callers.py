"""Who calls: a token that shows itself to nobody, and what one request brings along."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, Literal

from gitlab_mcp.actions.action import Danger


class Secret:
    """A value that shows itself only when asked by name, so that no log, traceback or repr carries it."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        return self._value

    def __repr__(self) -> str:
        return "Secret(…)"

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return repr(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._value == self._value

    def __hash__(self) -> int:
        return hash(self._value)

    def __deepcopy__(self, memo: object) -> Secret:
        return self

    def __reduce__(self) -> Any:
        raise TypeError("a secret is not pickled")


TokenKind = Literal["private", "bearer", "job"]


@dataclass(frozen=True, slots=True)
class Token:
    value: Secret
    kind: TokenKind
    """How GitLab wants it: `private` (PRIVATE-TOKEN), `bearer` (Authorization) or `job` (JOB-TOKEN)."""

    @property
    def fingerprint(self) -> str:
        """Tells callers apart where the token itself must not be kept."""
        return hashlib.sha256(f"{self.kind}:{self.value.reveal()}".encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class RequestContext:
    """What one request over the network brings along. What it says can narrow what the operator allows, never
    widen it."""

    request_id: str
    token: Token | None = None
    """The caller's own; None stands for the server's."""
    url: str | None = None
    """A GitLab the operator allows beside the usual one."""
    error_style: str | None = None
    toolsets: tuple[str, ...] | None = None
    read_only: bool = False
    trust: Danger | None = None
    """The most dangerous kind of action that the request shall be able to take."""
    only_in: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CallerKey:
    """A caller as far as rules need to know one: which token, at which GitLab. The token itself is not here."""

    fingerprint: str
    """Empty where there is no token."""
    gitlab: str
    request_id: str | None = None

    @property
    def key(self) -> str:
        """One caller in a store or a log, short and without anything to learn from."""
        return hashlib.sha256(f"{self.gitlab}\n{self.fingerprint}".encode()).hexdigest()[:32]

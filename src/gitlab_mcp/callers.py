"""Who calls: the token, what one HTTP request asks for, and the key a caller is known by."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

if TYPE_CHECKING:
    from gitlab_mcp.actions.danger import Danger


class Secret:
    """A string that only `reveal` returns, so that no log, traceback or repr holds it."""

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
class TokenSort:
    """What a token is for, by the prefix that GitLab gives it."""

    name: str
    opens_the_api: bool = False


JOB_TOKEN: Final = TokenSort("a CI job token", True)
OAUTH_TOKEN: Final = TokenSort("an OAuth token", True)
_SORTS: Final = {
    "glpat-": TokenSort("an access token", True),
    "glcbt-": JOB_TOKEN,
    "gldt-": TokenSort("a deploy token"),
    "glrt-": TokenSort("a runner's token"),
    "glrtr-": TokenSort("a runner's registration token"),
    "GR1348941": TokenSort("a runner's registration token"),
    "glptt-": TokenSort("a pipeline trigger token"),
    "glft-": TokenSort("a feed token"),
    "glimt-": TokenSort("an incoming mail token"),
    "glagent-": TokenSort("an agent's token"),
    "glsoat-": TokenSort("a SCIM token"),
    "gloas-": TokenSort("an OAuth application's secret"),
    "glffct-": TokenSort("a feature flag client's token"),
}
# An administrator may put a prefix of the instance before GitLab's own.
_PREFIX: Final = re.compile(rf"(?:[A-Za-z0-9_.]{{1,20}}-)?({'|'.join(_SORTS)})")


def sort_of(token: str) -> TokenSort | None:
    """None where nothing shows it: older tokens, and prefixes that an administrator chose."""
    if found := _PREFIX.match(token):
        return _SORTS[found[1]]
    # OAuth access tokens have no prefix.
    return OAUTH_TOKEN if re.fullmatch(r"[0-9a-f]{64}", token) else None


@dataclass(frozen=True, slots=True)
class Token:
    value: Secret
    kind: TokenKind
    """The header it is sent in: `private` (PRIVATE-TOKEN), `bearer` (Authorization) or `job` (JOB-TOKEN)."""

    @property
    def sort(self) -> TokenSort | None:
        return JOB_TOKEN if self.kind == "job" else sort_of(self.value.reveal())

    @property
    def holder(self) -> str:
        """A hash of the value alone: the same token is the same caller, whichever header it came in."""
        return _sha256(self.value.reveal())

    @property
    def fingerprint(self) -> str:
        """A hash that tells tokens apart where the token itself must not be kept."""
        return _sha256(f"{self.kind}:{self.value.reveal()}")


@dataclass(frozen=True, slots=True)
class RequestContext:
    """What one HTTP request to this server asks for. It can narrow what the operator allows, never widen it."""

    request_id: str
    token: Token | None = None
    """The caller's own token. None means the server's."""
    gitlab_url: str | None = None
    """Another GitLab than the configured one. The operator must have allowed it."""
    error_style: str | None = None
    toolsets: tuple[str, ...] | None = None
    read_only: bool = False
    trust: Danger | None = None
    """The most dangerous kind of action that the request may take."""
    only_in: tuple[str, ...] = ()
    """The projects and groups that the request may reach. Empty: no limit of its own."""


@dataclass(frozen=True, slots=True)
class Consent:
    """Whether the person at the client can be asked, and what they answered about this call."""

    can_ask: bool = False
    accepted: tuple[str, ...] = ()
    """The confirmation tokens that came back with a yes."""
    declined: tuple[str, ...] = ()
    """Those that came back with anything else."""


NOBODY_TO_ASK: Final = Consent()


@dataclass(frozen=True, slots=True)
class CallerKey:
    """Identifies a caller to rules, quotas and logs by token and GitLab, without holding the token."""

    token_holder: str
    """Empty where there is no token."""
    gitlab_url: str
    request_id: str | None = None

    @property
    def digest(self) -> str:
        """Names the caller in a store or a log."""
        return _sha256(f"{self.gitlab_url}\n{self.token_holder}")[:32]


def _sha256(text: str) -> str:
    # Here, not above: everyone pays for start-up, and a server that only lists hashes nothing.
    import hashlib

    return hashlib.sha256(text.encode()).hexdigest()

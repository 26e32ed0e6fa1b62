"""What may be asked about a call's surroundings, with the caller's own rights: the token, the instance, the project
or group. Nothing here raises but `names`, `user` and `is_member`: unknown is None."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol
from urllib.parse import urlsplit

NOT_FOR_THE_API: Final = "not for the API"


@dataclass(frozen=True, slots=True)
class TokenFacts:
    """Who calls."""

    alive: bool
    problem: str | None = None
    """Where it is not alive: unknown, expired, revoked, blocked or not for the API."""
    kind: str | None = None
    """personal, project or group: whose token it is; or what else it is, such as a CI job token."""
    fine_grained: bool = False
    """It has single permissions for single places, and no scopes."""
    scopes: tuple[str, ...] = ()
    user_id: int | None = None
    admin: bool | None = None
    expires_at: str | None = None


TOKEN_KINDS: Final = ("personal", "oauth", "project", "group", "service_account", "job")


@dataclass(frozen=True, slots=True)
class User:
    """Whose token it is, in GitLab."""

    id: int
    username: str
    token_kind: str
    """One of TOKEN_KINDS."""
    counted_as: str
    """Whose quota a call counts for. All tokens of a person are one; so are those of a project or group, of which each
    has a user of its own."""


@dataclass(frozen=True, slots=True)
class InstanceFacts:
    """Where the call goes. A tier that nobody could tell is None, never Free."""

    edition: str | None = None
    """CE or EE."""
    version: str | None = None
    tier: str | None = None
    """Free, Premium or Ultimate. Premium found by a probe may be Ultimate: see `at_least`."""
    at_least: bool = False
    """The tier is a lower bound."""
    known_by: str | None = None
    """How the tier is known, as a clause for evidence."""
    is_gitlab_com: bool = False
    """Where each namespace has a tier of its own."""


def is_gitlab_com(url: str) -> bool:
    """Whether it is GitLab's own service, where strangers share one GitLab and each namespace has its own plan."""
    return urlsplit(url).hostname == "gitlab.com"


class Look(Protocol):
    async def look(self, path: str, **query: str) -> Any | None:
        """What is at this path now; never remembered."""
        ...


class Ask(Look, Protocol):
    @property
    def uses_job_token(self) -> bool:
        """Whether the token is that of a CI/CD job. Asks nobody."""
        ...

    async def token(self) -> TokenFacts | None: ...

    async def user(self) -> User | None:
        """Whose token it is; None where the token may not tell. Remembered for a few minutes. Raises what else GitLab
        refuses with."""
        ...

    async def is_member(self, group: str, *, direct: bool = False) -> bool | None:
        """Whether the token's user is a member of the group (a path or a number): also by one above it or one that was
        invited, unless `direct`. None where the token may not ask. Remembered for a few minutes. Raises what else
        GitLab refuses with."""
        ...

    async def instance(self) -> InstanceFacts: ...

    @property
    def known_instance(self) -> InstanceFacts:
        """What is known of the instance already, or set by the operator. Asks nobody."""
        ...

    async def project(self, id: str) -> Mapping[str, Any] | None:
        """By number or path, also by a path it had before it was renamed. Remembered for a few minutes."""
        ...

    async def group(self, id: str) -> Mapping[str, Any] | None: ...

    async def group_role(self, id: str) -> int | None:
        """The caller's access level in the group; 0 for no member."""
        ...

    async def custom_role(self, kind: str, id: str) -> Mapping[str, Any] | None:
        """The custom role that the caller has in a project or group (`kind`); None also for unknown."""
        ...

    async def merge_request(self, project: str, iid: str) -> Mapping[str, Any] | None: ...

    async def merge_checks(self, merge_request: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """A merge request that was read by REST, as GraphQL shows it, with every check."""
        ...

    async def names(self, path: str, **query: str) -> Any | None:
        """What is at this path, remembered for a minute unless it is empty. Raises what GitLab refuses with."""
        ...

    async def has_commit(self, project: str, ref: str) -> bool | None:
        """Whether the project has what a branch, tag or sha names."""
        ...

    async def exists(self, path: str) -> bool | None:
        """Whether the caller can read what is at this path. A project is remembered for a few minutes."""
        ...


class NobodyToAsk:
    """Stands in where no connection came about: everything is unknown."""

    uses_job_token: Final = False

    async def token(self) -> TokenFacts | None:
        return None

    async def user(self) -> User | None:
        return None

    async def is_member(self, group: str, *, direct: bool = False) -> bool | None:
        return None

    async def instance(self) -> InstanceFacts:
        return InstanceFacts()

    @property
    def known_instance(self) -> InstanceFacts:
        return InstanceFacts()

    async def project(self, id: str) -> Mapping[str, Any] | None:
        return None

    async def group(self, id: str) -> Mapping[str, Any] | None:
        return None

    async def group_role(self, id: str) -> int | None:
        return None

    async def custom_role(self, kind: str, id: str) -> Mapping[str, Any] | None:
        return None

    async def merge_request(self, project: str, iid: str) -> Mapping[str, Any] | None:
        return None

    async def merge_checks(self, merge_request: Mapping[str, Any]) -> Mapping[str, Any] | None:
        return None

    async def has_commit(self, project: str, ref: str) -> bool | None:
        return None

    async def exists(self, path: str) -> bool | None:
        return None

    async def look(self, path: str, **query: str) -> Any | None:
        return None

    async def names(self, path: str, **query: str) -> Any | None:
        return None


def role_in(project: Mapping[str, Any]) -> int | None:
    permissions = project.get("permissions")
    if not isinstance(permissions, Mapping):
        return None
    grants = (permissions.get("project_access"), permissions.get("group_access"))
    told = [grant.get("access_level") for grant in grants if isinstance(grant, Mapping)]
    levels = [level for level in told if isinstance(level, int)]
    return max(levels, default=0) if len(levels) == len(told) else None

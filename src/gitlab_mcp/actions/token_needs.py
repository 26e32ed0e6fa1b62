"""What an endpoint asks of tokens that are not those of a person with the scope api."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from gitlab_mcp.actions.action_facts import all_facts


@dataclass(frozen=True, slots=True)
class TokenNeeds:
    permissions: tuple[str, ...] = ()
    """Those that a fine-grained token must have, all of them, as GitLab shows them: `Work Item: Read`."""
    boundaries: tuple[str, ...] = ()
    """Where they may be given, one is enough: project, group, user, instance."""
    no_fine_grained: str | None = None
    """A sentence that says why it takes no fine-grained token."""
    job_token: bool = False
    """Whether it takes the token of a CI/CD job."""

    @property
    def told(self) -> str:
        """`Work Item: Read (project or group)`."""
        return f"{', '.join(self.permissions)} ({' or '.join(self.boundaries)})"


def token_needs(facts: Mapping[str, Any]) -> Mapping[str, TokenNeeds]:
    """By endpoint, where it is known. `facts`: those of an action."""
    told: Mapping[str, Mapping[str, Any]] = facts.get("tokens", {})
    return {
        endpoint: TokenNeeds(
            tuple(each.get("permissions", ())),
            tuple(each.get("at", ())),
            each.get("no"),
            each.get("job", False),
        )
        for endpoint, each in told.items()
    }


def by_resource(needs: Iterable[TokenNeeds]) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    """The least that opens all of them: by resource its permissions, and where they have to be given."""
    found: dict[str, tuple[dict[str, None], dict[str, None]]] = {}
    for each in needs:
        for title in each.permissions:
            resource, _, permission = title.partition(": ")
            permissions, places = found.setdefault(resource, ({}, {}))
            permissions[permission] = None
            places[" or ".join(each.boundaries)] = None
    return {
        resource: (tuple(sorted(permissions)), tuple(sorted(places)))
        for resource, (permissions, places) in sorted(found.items())
    }


@cache
def _titles() -> Mapping[str, str]:
    return {
        title.lower(): title
        for actions in all_facts().values()
        for facts in actions.values()
        for needs in token_needs(facts).values()
        for title in needs.permissions
    }


def known_permissions(words: Iterable[str]) -> tuple[str, ...]:
    """Those of the words that are permissions which this server knows, in its own spelling."""
    return tuple(title for word in words if (title := _titles().get(word.strip().lower())))

"""What an action's endpoints say of it: where it is documented, and what it needs.

scripts/generate.py writes it into `action_facts.json`, so that a running server never reads the endpoints.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gitlab_mcp.api.endpoints import NO_FINE_GRAINED, find, normalised
from gitlab_mcp.api.switches import switch_of

FACTS = ("docs", "switch", "feature", "role", "docs_at", "tokens", "role_at", "beside", "custom")
PUBLIC = NO_FINE_GRAINED["public_endpoint"]


def derived(endpoints: Sequence[str], features: Mapping[str, str]) -> dict[str, str]:
    """Those of FACTS that are known. `features`: by normalised endpoint, the paid feature it belongs to.

    The first endpoint speaks for the action, the first that is documented for its page. Only the switch must be that
    of all its endpoints of a project: where they differ, the switch is that of the request.
    """
    known = [find(endpoint) for endpoint in endpoints]
    paths = [normalised(endpoint).partition(" ")[2] for endpoint in endpoints]
    switches = {switch_of(path) for path in paths if path.startswith("/projects/")}
    found = {
        "docs": next((each.docs for each in known if each and each.docs), None),
        "switch": switches.pop() if len(switches) == 1 else None,
        "feature": features.get(normalised(endpoints[0])) if endpoints else None,
        "role": known[0].role if known and known[0] else None,
    }
    return {name: value for name, value in found.items() if value}


def tokens(endpoints: Sequence[str]) -> dict[str, dict[str, Any]]:
    """What each endpoint asks of fine-grained tokens, and whether it takes those of jobs, where it is known."""
    known = {endpoint: each.tokens for endpoint in endpoints if (each := find(endpoint)) and each.tokens}
    return {
        endpoint: {
            name: value
            for name, value in {
                "permissions": needs.permission_titles,
                "at": needs.boundaries,
                # What needs no token is open to a fine-grained one too.
                "no": needs.no_fine_grained if needs.no_fine_grained != PUBLIC else None,
                "job": needs.job_token,
            }.items()
            if value
        }
        for endpoint, needs in known.items()
    }


def role_at(endpoints: Sequence[str]) -> dict[str, str]:
    """The roles of those endpoints that take another than the first one: others' addresses are an administrator's."""
    roles = {endpoint: each.role for endpoint in endpoints if (each := find(endpoint)) and each.role}
    first = roles.get(endpoints[0]) if endpoints else None
    return {endpoint: role for endpoint, role in roles.items() if role != first}


def beside(endpoints: Sequence[str]) -> tuple[str, ...]:
    """Roles below the least one that every endpoint lets in."""
    known = [each.beside if (each := find(endpoint)) else () for endpoint in endpoints]
    return tuple(role for role in (known[0] if known else ()) if all(role in each for each in known))


def custom_permissions(endpoints: Sequence[str]) -> dict[str, str]:
    """By endpoint, what a custom role adds to be let in."""
    known = {endpoint: each.custom_permission for endpoint in endpoints if (each := find(endpoint))}
    return {endpoint: permission for endpoint, permission in known.items() if permission}


def docs_at(endpoints: Sequence[str]) -> dict[str, str]:
    """The pages of those endpoints that are documented elsewhere than the action: `/groups/...` of a project's."""
    pages = {endpoint: each.docs for endpoint in endpoints if (each := find(endpoint)) and each.docs}
    first = next(iter(pages.values()), None)
    return {endpoint: page for endpoint, page in pages.items() if page != first}

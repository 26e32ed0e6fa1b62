"""The rules of the operator, from the settings."""

from __future__ import annotations

from gitlab_mcp.actions.danger import Danger
from gitlab_mcp.policy.rules import Rules
from gitlab_mcp.settings.settings import Settings


def operator_rules(settings: Settings) -> Rules:
    return Rules(
        read_only=settings.read_only,
        toolsets=settings.callable_toolsets(),
        only_in=settings.only_in,
        never_in=settings.never_in,
        gitlab=settings.url,
        gitlabs=settings.gitlabs(),
        only_actions=settings.only_actions,
        never_actions=settings.never_actions,
        trust=Danger(settings.trust) if settings.trust else None,
        confirm=confirmed_from(settings.confirm),
        quotas=quotas(settings.quota),
    )


def confirmed_from(level: str) -> Danger | None:
    return None if level == "never" else Danger(level)


def quotas(limits: tuple[str, ...]) -> dict[str, int]:
    """Of `writes=1000`."""
    return {kind: int(most) for kind, _, most in (each.partition("=") for each in limits)}

"""The operator's rules in one place, and the order in which a call meets them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gitlab_mcp.actions.action import Danger
from gitlab_mcp.policy import Guard
from gitlab_mcp.policy.action_patterns import Actions
from gitlab_mcp.policy.confirmation import Confirmation
from gitlab_mcp.policy.confirmation_tokens import Tokens
from gitlab_mcp.policy.danger import narrowed_to, needs_confirmation, trusted_up_to
from gitlab_mcp.policy.places import Places
from gitlab_mcp.policy.quick_actions import sent_as_text
from gitlab_mcp.policy.quotas import Quotas
from gitlab_mcp.policy.read_only import reads_only
from gitlab_mcp.policy.toolsets import only
from gitlab_mcp.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    read_only: bool
    only_in: tuple[str, ...]
    never_in: tuple[str, ...]
    only_actions: tuple[str, ...]
    never_actions: tuple[str, ...]
    trust: Danger
    """The most dangerous kind of action that callers may take."""
    confirm: Danger | None
    """The least dangerous kind of action that a person must confirm; None: nobody is asked."""
    quotas: Mapping[str, int]
    """How many reads, writes and destructive actions one caller may take in an hour."""


def pipeline(rules: Rules, store: Store) -> tuple[Guard, ...]:
    """What costs nothing comes first; what uses something up (a token, a quota) comes last."""
    guards: list[Guard] = [sent_as_text]
    if rules.read_only:
        guards.append(reads_only)
    if rules.only_actions or rules.never_actions:
        guards.append(Actions(rules.only_actions, rules.never_actions))
    guards.append(trusted_up_to(rules.trust))
    if rules.only_in or rules.never_in:
        guards.append(Places(rules.only_in, rules.never_in))
    tokens = Tokens(store)
    quotas = Quotas(rules.quotas, tokens, store)
    guards += [quotas.allow, Confirmation(needs_confirmation(rules.confirm), tokens), quotas.spend]
    return tuple(guards)


def narrowing(
    *,
    read_only: bool,
    toolsets: tuple[str, ...] | None,
    trust: Danger | None,
    only_in: tuple[str, ...],
) -> tuple[Guard, ...]:
    """What a request says about itself, as guards that stand before the operator's: it can only take away."""
    guards: list[Guard] = []
    if read_only:
        guards.append(reads_only)
    if toolsets is not None:
        guards.append(only(toolsets))
    if trust is not None:
        guards.append(narrowed_to(trust))
    if only_in:
        guards.append(Places(only=only_in))
    return tuple(guards)

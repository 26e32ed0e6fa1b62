"""The rules of the operator, of a caller and of a request, and the guards that enforce them in the order in which a
call meets them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from gitlab_mcp.actions.danger import Danger
from gitlab_mcp.callers import Secret
from gitlab_mcp.policy.action_patterns import ActionPatterns
from gitlab_mcp.policy.allowed_places import AllowedPlaces
from gitlab_mcp.policy.callable_toolsets import (
    refuse_outside_toolsets,
    refuse_toolsets_outside_of_rule,
    refuse_unrequested_toolsets,
)
from gitlab_mcp.policy.confirmation import AskForConfirmation
from gitlab_mcp.policy.confirmation_required import confirmation_required
from gitlab_mcp.policy.confirmation_tokens import ConfirmationTokens
from gitlab_mcp.policy.consent import PersonsAnswers
from gitlab_mcp.policy.escaped_quick_actions import notice_escaped_quick_actions
from gitlab_mcp.policy.guard import Guard
from gitlab_mcp.policy.limits import Limits
from gitlab_mcp.policy.personal_rules import PersonalRule
from gitlab_mcp.policy.quotas import Quotas
from gitlab_mcp.policy.read_only import refuse_writes, refuse_writes_by_rule
from gitlab_mcp.policy.redacted_text import refuse_redacted_text
from gitlab_mcp.policy.trust import (
    refuse_above_requested_trust,
    refuse_above_trust,
    refuse_above_trust_of_rule,
)
from gitlab_mcp.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    read_only: bool
    toolsets: tuple[str, ...] | None
    """Those whose tools alone can be called; None: every tool."""
    only_in: tuple[str, ...]
    never_in: tuple[str, ...]
    gitlab: str
    """The GitLab of the settings, which places belong to that name none."""
    gitlabs: tuple[str, ...]
    """It, and those that a request may choose."""
    only_actions: tuple[str, ...]
    never_actions: tuple[str, ...]
    trust: Danger | None
    """The most dangerous kind of action that callers may take; None: the most dangerous kind where a person says yes to
    it, and the one below it where nobody can be asked."""
    confirm: Danger | None
    """The least dangerous kind of action that a person must confirm; None: no confirmations."""
    quotas: Mapping[str, int]
    """How many reads, writes and destructive actions one caller may take in an hour."""

    def with_limits(self, limits: Limits) -> Rules:
        """With the quotas and the confirmations of both, whichever is stricter. What else a rule limits has guards of
        its own."""
        quotas = dict(self.quotas)
        for kind, most in limits.quotas.items():
            quotas[kind] = min(most, quotas.get(kind, most))
        confirm = [level for level in (self.confirm, limits.confirm) if level is not None]
        return replace(self, quotas=quotas, confirm=min(confirm, key=lambda level: level.rank, default=None))


def operator_guards(rules: Rules) -> tuple[Guard, ...]:
    """Guards that need no request come first."""
    guards: list[Guard] = [notice_escaped_quick_actions, refuse_redacted_text]
    if rules.toolsets is not None:
        guards.append(refuse_outside_toolsets(rules.toolsets))
    if rules.read_only:
        guards.append(refuse_writes)
    if rules.only_actions or rules.never_actions:
        guards.append(ActionPatterns(rules.only_actions, rules.never_actions))
    guards.append(refuse_above_trust(rules.trust))
    if rules.only_in or rules.never_in:
        guards.append(
            AllowedPlaces(
                rules.only_in,
                rules.never_in,
                home=rules.gitlab,
                gitlabs=rules.gitlabs,
            )
        )
    return tuple(guards)


def last_guards(
    rules: Rules, store: Store, key: Callable[[], Secret] | None = None, rule: PersonalRule | None = None
) -> tuple[Guard, ...]:
    """Those that use something up (a token, a quota), with what a personal rule adds. They see numbers where the caller
    gave names."""
    answers = PersonsAnswers(ConfirmationTokens(store, key=key), store)
    set_by: Mapping[str, str] = {}
    if rule is not None:
        of_operator, rules = rules.quotas, rules.with_limits(rule.limits)
        lowered = [kind for kind, most in rules.quotas.items() if most != of_operator.get(kind)]
        set_by = dict.fromkeys(
            lowered, f"The rule {rule.name} sets the quota; it can be changed by {rule.contact}."
        )
    quotas = Quotas(rules.quotas, answers, store, set_by)
    required = confirmation_required(rules.confirm, rules.trust)
    return quotas.check, AskForConfirmation(required, answers), quotas.count


def guards_of_limits(limits: Limits, gitlab: str, gitlabs: tuple[str, ...]) -> tuple[Guard, ...]:
    """Those of a personal rule, whose places are on `gitlab` where they name none. They run after the operator's."""
    guards: list[Guard] = []
    if limits.toolsets is not None:
        guards.append(refuse_toolsets_outside_of_rule(limits.toolsets))
    if limits.read_only:
        guards.append(refuse_writes_by_rule)
    if limits.only_actions or limits.never_actions:
        guards.append(ActionPatterns(limits.only_actions, limits.never_actions))
    if limits.trust is not None:
        guards.append(refuse_above_trust_of_rule(limits.trust))
    if limits.only_in or limits.never_in:
        guards.append(AllowedPlaces(limits.only_in, limits.never_in, home=gitlab, gitlabs=gitlabs))
    return tuple(guards)


def fences(guards: Iterable[Guard]) -> Iterator[AllowedPlaces]:
    """Those among the guards that say which places may be reached, and those inside of a personal rule."""
    for guard in guards:
        if isinstance(guard, AllowedPlaces):
            yield guard
        elif isinstance(guard, PersonalRule):
            yield from fences(guard.guards)


def request_guards(
    *,
    read_only: bool,
    toolsets: tuple[str, ...] | None,
    trust: Danger | None,
    only_in: tuple[str, ...],
    gitlabs: tuple[str, ...],
) -> tuple[Guard, ...]:
    """For what a request forbids itself with its headers. They run before the operator's guards."""
    guards: list[Guard] = []
    if read_only:
        guards.append(refuse_writes)
    if toolsets is not None:
        guards.append(refuse_unrequested_toolsets(toolsets))
    if trust is not None:
        guards.append(refuse_above_requested_trust(trust))
    if only_in:
        guards.append(AllowedPlaces(only=only_in, gitlabs=gitlabs))
    return tuple(guards)

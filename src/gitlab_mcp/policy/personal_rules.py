"""Who may do what: rules for users, members of groups and kinds of tokens. Each caller has one.

The first rule that is for the caller applies, and no other; whom no rule is for may call nothing. A rule is made of
guards, so it can only forbid: nobody gets past what the operator's settings forbid. No rule is skipped in doubt: where
GitLab does not say whether it is for the caller, the call is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from gitlab_mcp.actions.ask import Ask, User
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.policy.guard import Guard, ProposedCall
from gitlab_mcp.policy.limits import Limits

THE_OPERATOR: Final = "the operator of this server"


class NoRule(CallFailed):
    """Whatever this caller calls is refused."""


@dataclass(frozen=True, slots=True)
class Who:
    """Whom a rule is for: one of its users or a member of one of its groups, with a token of one of its kinds. Where it
    names no users and groups, or no kinds, all are meant."""

    users: frozenset[str] = frozenset()
    """Usernames in lower case, and numbers as `user:42`."""
    groups: tuple[str, ...] = ()
    """Paths, and numbers as `group:7`. Who is a member by a group above or by an invited one is meant too."""
    direct_groups: tuple[str, ...] = ()
    """The same; only direct members are meant."""
    tokens: frozenset[str] = frozenset()

    @property
    def is_everybody(self) -> bool:
        return self.is_anybody and not self.tokens

    @property
    def is_anybody(self) -> bool:
        """Whether only the kind of token matters."""
        return not (self.users or self.groups or self.direct_groups)

    async def includes(self, ask: Ask) -> bool:
        """Raises where that cannot be told."""
        if self.is_everybody:
            return True
        user = await ask.user()
        if user is None:
            raise NoRule(_not_told())
        if self.tokens and user.token_kind not in self.tokens:
            return False
        return self.is_anybody or self._names(user) or await self._has_as_member(ask)

    def _names(self, user: User) -> bool:
        return not self.users.isdisjoint((user.username.casefold(), f"user:{user.id}"))

    async def _has_as_member(self, ask: Ask) -> bool:
        groups = [(group, False) for group in self.groups] + [(group, True) for group in self.direct_groups]
        for group, direct in groups:
            member = await ask.is_member(group.removeprefix("group:"), direct=direct)
            if member is None:
                raise NoRule(_membership_not_told())
            if member:
                return True
        return False


@dataclass(frozen=True, slots=True)
class PersonalRule:
    name: str
    who: Who
    gitlab: str
    """The GitLab whose users, groups and places are meant."""
    limits: Limits
    guards: Sequence[Guard]
    contact: str
    """Who can change it, in the operator's own words."""
    line: int
    """Where it begins in the file."""

    async def __call__(self, proposed: ProposedCall) -> None:
        """As a guard: refuses what the rule does not leave, and says which rule that is."""
        for guard in self.guards:
            try:
                await guard(proposed)
            except CallFailed as refused:
                raise CallFailed(self._named(refused.failure)) from None

    def _named(self, failure: Failure) -> Failure:
        facts = {name: value for name, value in failure.facts.items() if name != "setting"}
        message = f"The rule {self.name} of this server's policy refuses it. {failure.message}"
        fix = facts.get("suggested_fix", "Do not try again; tell the person what you wanted to do.")
        return replace(failure, message=message, facts=facts).knowing(
            rule=self.name,
            contact=self.contact,
            confidence="certain",
            suggested_fix=f"{fix} The rule can be changed by {self.contact}.",
            retryable=False,
        )


@dataclass(frozen=True, slots=True)
class PersonalRules:
    """A policy: rules in the order in which they are asked."""

    rules: tuple[PersonalRule, ...]
    contact: str
    digest: str
    """Of the file, so that it can be seen whether two servers have the same."""

    async def rule_for(self, ask: Ask, gitlab: str) -> PersonalRule:
        """Raises NoRule where there is none or GitLab does not say it to this token, and what else GitLab refuses to
        say it with."""
        for rule in self.rules:
            if rule.gitlab == gitlab and await rule.who.includes(ask):
                return rule
        raise NoRule(
            Failure(Code.OUT_OF_SCOPE, "No rule of this server's policy is for you.").knowing(
                contact=self.contact,
                confidence="certain",
                suggested_fix=f"Do not try again. Tell the person: {self.contact} can add a rule for them.",
                retryable=False,
            )
        )


def _not_told() -> Failure:
    return Failure(
        Code.OUT_OF_SCOPE,
        "This server's policy goes by who calls, and GitLab does not say whose token this is.",
    ).knowing(
        confidence="certain",
        suggested_fix="Use a token that may read its own user: one with the scope read_user, read_api or api, or "
        "with the permission User: Read.",
        retryable=False,
    )


def _membership_not_told() -> Failure:
    return Failure(
        Code.OUT_OF_SCOPE,
        "This server's policy goes by membership in groups, and GitLab does not tell it to this token.",
    ).knowing(
        confidence="certain",
        suggested_fix="Use a token with the scope read_api or api, or with the permission Member: Read for that "
        "group. The token of a CI job may never ask: a rule for it must come before those for groups.",
        retryable=False,
    )

"""`gitlab-mcp policy`: what is wrong with a policy file, and what it says of one person and one call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio

from gitlab_mcp.actions.action import encode_segment
from gitlab_mcp.actions.arguments.defaults import InstanceDefaults
from gitlab_mcp.actions.arguments.validation import validate
from gitlab_mcp.actions.ask import TOKEN_KINDS, Ask, NobodyToAsk, User
from gitlab_mcp.actions.call import Call
from gitlab_mcp.actions.danger import Danger
from gitlab_mcp.actions.fields import NamesPlace
from gitlab_mcp.actions.reach import reached
from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.actions.shape import shapes
from gitlab_mcp.app import App
from gitlab_mcp.callers import CallerKey, Consent
from gitlab_mcp.cli import exit_codes
from gitlab_mcp.cli.call import arguments_from_pairs
from gitlab_mcp.cli.person import AsTold, InGitLab, Person
from gitlab_mcp.cli.terminal import format_answer, write_json, write_line
from gitlab_mcp.cli.usage_error import UsageError, no_such
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.gitlab.instance import AnswerCache, CachedLookups
from gitlab_mcp.policy.allowed_places import AllowedPlaces
from gitlab_mcp.policy.confirmation_required import confirmation_required
from gitlab_mcp.policy.guard import ProposedCall
from gitlab_mcp.policy.personal_rules import NoRule, PersonalRule, PersonalRules
from gitlab_mcp.policy.quotas import quota_kind
from gitlab_mcp.policy.rules import operator_guards
from gitlab_mcp.refusals.translate import translate
from gitlab_mcp.settings import Settings, load
from gitlab_mcp.settings.operator_rules import operator_rules
from gitlab_mcp.settings.policy_file import PolicyMistakes, content_of, doubts, read_policy


def check(flags: Mapping[str, Any], files: Sequence[str], *, as_json: bool) -> int:
    """Everything that is wrong with the file, and what in it is hardly meant. With a token, GitLab is asked whether the
    users and groups are there."""
    if len(files) > 1:
        raise UsageError("More than one file is named.", "See `gitlab-mcp policy --help`.")
    settings = load({**flags, "policy": files[0]} if files else flags)
    path = _path(settings)
    found: list[str] = []
    rules: PersonalRules | None = None
    try:
        rules = read_policy(content_of(path), settings, Registry())
        found = [f"{path}:{doubt.line}: {doubt.what}" for doubt in doubts(rules, settings)]
        if _has_token(settings):
            found += [f"{path}:{line}: {what}" for line, what in anyio.run(_not_there, settings, rules)]
    except PolicyMistakes as unusable:
        found = [f"{path}:{mistake.line}: {mistake.what}" for mistake in unusable.mistakes]
    if as_json:
        write_json({"usable": rules is not None, "found": found, "digest": rules.digest if rules else None})
    else:
        for line in found:
            write_line(line)
        write_line(
            f"{path} cannot be used."
            if rules is None
            else f"{path} can be used: {len(rules.rules)} rules, {rules.digest}."
        )
    if rules is None:
        return exit_codes.USAGE
    return exit_codes.FAILED if found else exit_codes.OK


def explain(
    flags: Mapping[str, Any],
    words: Sequence[str],
    username: str | None,
    groups: Sequence[str] | None,
    token_kind: str | None,
    *,
    as_json: bool,
) -> int:
    """Whether a call would be allowed, by which rule, and what would be asked. Nothing is called."""
    settings = load(flags)
    path = _path(settings)
    try:
        rules = read_policy(content_of(path), settings, Registry())
    except PolicyMistakes:
        return check(flags, [], as_json=as_json)
    if token_kind is not None and token_kind not in TOKEN_KINDS:
        raise no_such("kind of token", token_kind, TOKEN_KINDS, f"There are {', '.join(TOKEN_KINDS)}.")
    call, filled_in = _call(settings, words)
    online = _has_token(settings) and groups is None
    if username is None and not online:
        raise UsageError("It is not said who calls.", "Name the person with --as, or set a token.")
    told = anyio.run(
        _explained, settings, rules, call, Person(username, groups, token_kind or "personal"), online
    )
    shown = {**told, **({"filled_in": filled_in} if filled_in else {})}
    if as_json:
        write_json(shown)
    else:
        write_line(format_answer(shown))
    return exit_codes.OK if told["verdict"] != "refused" else exit_codes.FAILED


async def _explained(
    settings: Settings, rules: PersonalRules, call: Call, person: Person, online: bool
) -> dict[str, Any]:
    if not online:
        assert person.username is not None
        user = User(0, person.username, person.token_kind, "")
        return await _verdict(
            settings, rules, call, AsTold(user, person.groups or (), call.action), online=False
        )
    app, token = App(replace(settings, policy=None)), settings.token_source()()
    try:
        ask = InGitLab(app.gitlab(), person, token.sort if token else None)
        return await _verdict(settings, rules, call, ask, online=True)
    except (CallFailed, UsageError):
        raise
    except Exception as problem:
        raise CallFailed(await translate(problem, None, NobodyToAsk())) from problem
    finally:
        app.close()


async def _verdict(
    settings: Settings, policy: PersonalRules, call: Call, ask: Ask, *, online: bool
) -> dict[str, Any]:
    user = await ask.user()
    told: dict[str, Any] = {"verdict": "refused"}
    told["who"] = f"{user.username}, {user.token_kind}" if user else "not told by GitLab"
    try:
        rule = await policy.rule_for(ask, settings.url)
    except NoRule as none:
        return {**told, **_why(none.failure), "contact": policy.contact}
    if passed_over := [before.name for before in policy.rules[: policy.rules.index(rule)]]:
        told["passed_over"] = passed_over
    told |= {"rule": rule.name, "at": f"{settings.policy}:{rule.line}", "danger": str(call.danger)}
    operators = operator_rules(settings)
    guards = {"the settings": operator_guards(operators), f"the rule {rule.name}": tuple(rule.guards)}
    depends_on_gitlab = False if online else _needs_gitlab(settings, rule, call)
    proposed = ProposedCall(call, CallerKey("", settings.url), ask, Consent(can_ask=True), rehearsal=True)
    for whose, of_them in guards.items():
        for guard in of_them:
            if depends_on_gitlab and isinstance(guard, AllowedPlaces):
                continue
            try:
                await guard(proposed)
            except CallFailed as failed:
                return {**told, "refused_by": whose, **_why(failed.failure)}
    strict = operators.with_limits(rule.limits)
    told["verdict"] = "allowed"
    if depends_on_gitlab:
        told["not_told"] = (
            "whether the place is allowed: numbers are looked up in GitLab, and there is no token"
        )
    if confirmation_required(strict.confirm, strict.trust)(call.danger):
        told["asked"] = "a person must say yes first"
        if operators.trust is None and call.danger is Danger.DANGEROUS:
            told["asked"] += "; where the client cannot ask its person, it is refused"
    kind = quota_kind(call)
    if kind in strict.quotas:
        told["quota"] = f"{strict.quotas[kind]} {kind} an hour"
    return told


def _why(failure: Failure) -> dict[str, Any]:
    return {"code": failure.code, "because": failure.message}


def _needs_gitlab(settings: Settings, rule: PersonalRule, call: Call) -> bool:
    """Whether a place is named by its number."""
    limits = rule.limits
    entries = (*settings.only_in, *settings.never_in, *limits.only_in, *limits.never_in)
    named = [str(each.value) for each in reached(call.action) if isinstance(each.reach, NamesPlace)]
    return bool(entries) and any(
        each.isdecimal() or each.rpartition("/")[2].startswith("group:") for each in (*entries, *named)
    )


async def _not_there(settings: Settings, rules: PersonalRules) -> list[tuple[int, str]]:
    """The users and groups that GitLab does not show to this token."""
    app = App(replace(settings, policy=None))
    found = []
    try:
        ask = CachedLookups(app.gitlab(), AnswerCache())
        for rule in (rule for rule in rules.rules if rule.gitlab == settings.url):
            for group in (*rule.who.groups, *rule.who.direct_groups):
                there = await ask.exists(f"/groups/{encode_segment(group.removeprefix('group:'))}")
                found.append((rule, f"the group {group}", there))
            for user in sorted(rule.who.users):
                found.append((rule, f"the user {user}", await _is_there(user, ask)))
    finally:
        app.close()
    words = {False: "which GitLab does not show to this token", None: "which GitLab could not be asked about"}
    return [
        (rule.line, f"the rule {rule.name} names {whom}, {words[there]}.")
        for rule, whom, there in found
        if not there
    ]


async def _is_there(user: str, ask: CachedLookups) -> bool | None:
    if user.startswith("user:"):
        return await ask.exists(f"/users/{user.removeprefix('user:')}")
    named = await ask.look("/users", username=user)
    return bool(named) if isinstance(named, list) else None


def _path(settings: Settings) -> Path:
    if settings.policy is None:
        raise UsageError("There is no policy.", "Name its file with --policy, or in GITLAB_MCP_POLICY.")
    return settings.policy


def _has_token(settings: Settings) -> bool:
    return bool(settings.replay) or settings.token_source()() is not None


def _call(settings: Settings, words: Sequence[str]) -> tuple[Call, dict[str, Any]]:
    """The call that is meant, and the arguments that were taken from the action's example because they were missing."""
    names = [word for word in words if "=" not in word]
    if len(names) != 2:
        raise UsageError(
            "It is not said which call.",
            "Name a tool and an action: gitlab-mcp policy explain --as alice manage_branch delete.",
        )
    tool, action = names
    given: dict[str, Any] = {
        **arguments_from_pairs([word for word in words if "=" in word]),
        "action": action,
    }
    registry = Registry()
    defaults = InstanceDefaults(settings.url, settings.project)
    try:
        return validate(registry, tool, given, defaults), {}
    except CallFailed as failed:
        declared = registry.action(tool, action)
        missing = failed.failure.facts.get("missing_fields", ())
        if failed.failure.code is not Code.MISSING_REQUIRED_FIELD or declared is None:
            raise
    fields = {name for each in missing for choice in each.split("|") for name in choice.split("+")}
    filled_in = {name: value for name, value in declared.spec.example.items() if name in fields}
    if places := [name for name in filled_in if shapes(declared)[name].mark(NamesPlace)]:
        raise UsageError(
            "It is not said where.",
            f"Add {' or '.join(f'{place}=…' for place in places)}: a rule can depend on it.",
        )
    return validate(registry, tool, {**given, **filled_in}, defaults), filled_in

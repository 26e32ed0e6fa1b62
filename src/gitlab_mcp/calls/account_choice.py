"""For which of several accounts a call is: the one it names, or the one whose GitLab its URLs are of."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from gitlab_mcp.actions.account_field import FIELD
from gitlab_mcp.actions.arguments.limits import check_transportable
from gitlab_mcp.actions.arguments.urls import is_of
from gitlab_mcp.actions.arguments.wrapped_calls import looks_like, names_another_call
from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.actions.shape import shapes
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed, Failure

_BATCH: Final = "run_batch"
_CALLS: Final = "calls"
_READY_CALLS: Final = ("undo", "call", "call_again", "warnings")
"""The members of an answer that hold calls of ours; in others may be what people wrote."""


@dataclass(frozen=True, slots=True)
class AccountChoice:
    """The names of the accounts, each with the URL of its GitLab."""

    urls: Mapping[str, str]
    usual: str | None
    """Of a call that says nothing; None where every call must say it."""

    def __call__(
        self, registry: Registry, tool: str, arguments: Mapping[str, Any]
    ) -> tuple[str, dict[str, Any]]:
        """The account, and the arguments without its name. Raises CallFailed where that cannot be told."""
        check_transportable(arguments)
        named: list[Any] = []
        rest = _taken_out(tool, arguments, named)
        names = set(map(str, (each for each in named if each not in (None, ""))))
        if strange := names - self.urls.keys():
            raise CallFailed(self._no_such(strange))
        names = names or self._by_urls(registry, tool, rest)
        if len(names) > 1:
            raise CallFailed(self._several(names))
        if not names and self.usual is None:
            raise CallFailed(self._not_said())
        return (names.pop() if names else str(self.usual)), rest

    def all_of_them(self) -> str:
        """For a sentence."""
        return ", ".join(f"{name} ({url})" for name, url in self.urls.items())

    def _by_urls(self, registry: Registry, tool: str, arguments: Mapping[str, Any]) -> set[str]:
        found = set()
        for url, is_asked_about in _urls(registry, tool, arguments):
            bases = {name: base for name, base in self.urls.items() if is_of(url, base)}
            # Of a GitLab below a path of another's host, the longer address is meant.
            nearest = max(map(len, bases.values()), default=0)
            fitting = {name for name, base in bases.items() if len(base) == nearest}
            if not fitting and not is_asked_about:
                raise CallFailed(self._elsewhere())
            if len(fitting) > 1 and self.usual not in fitting:
                raise CallFailed(self._two_of_one_gitlab(fitting))
            found |= {self.usual} if self.usual in fitting else fitting
        return found

    def _no_such(self, names: Iterable[str]) -> Failure:
        return Failure(Code.INVALID_VALUE, "There is no such profile.").knowing(
            confidence="certain",
            invalid_fields=[
                {"field": FIELD, "expected": " or ".join(self.urls), "received": "another name"}
                for _ in names
            ],
            suggested_fix=f"Use one of {self.all_of_them()}.",
        )

    def _not_said(self) -> Failure:
        return Failure(Code.MISSING_REQUIRED_FIELD, "The call does not say which account it is for.").knowing(
            confidence="certain",
            missing_fields=[FIELD],
            suggested_fix=f"Add {FIELD}: one of {self.all_of_them()}. A URL in place of an id says it too.",
        )

    def _several(self, names: Iterable[str]) -> Failure:
        return Failure(Code.INVALID_VALUE, "One call cannot be for several accounts.").knowing(
            confidence="certain",
            suggested_fix=f"Make one call for each of {', '.join(sorted(names))}; a batch is one call.",
        )

    def _two_of_one_gitlab(self, names: Iterable[str]) -> Failure:
        return Failure(
            Code.MISSING_REQUIRED_FIELD, "Several accounts are of the GitLab of this URL."
        ).knowing(
            confidence="certain",
            missing_fields=[FIELD],
            suggested_fix=f"Add {FIELD}: one of {', '.join(sorted(names))}.",
        )

    def _elsewhere(self) -> Failure:
        return Failure(
            Code.HOST_NOT_ALLOWED, "The URL is of none of the GitLabs that this server talks to."
        ).knowing(confidence="certain", suggested_fix=f"Give a URL of one of {self.all_of_them()}, or ids.")


def naming_account(value: Any, name: str) -> Any:
    """The same, with the account in every call that is ready to be made."""
    if isinstance(value, Failure):
        return replace(value, facts={key: naming_account(each, name) for key, each in value.facts.items()})
    if isinstance(value, list | tuple):
        return type(value)(naming_account(each, name) for each in value)
    if not isinstance(value, Mapping):
        return value
    if isinstance(value.get("arguments"), Mapping) and ("tool" in value or "action" in value):
        return {**value, "arguments": {**value["arguments"], FIELD: name}}
    return {key: each if key == "taken_as" else naming_account(each, name) for key, each in value.items()}


def naming_account_in_answer(data: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {key: naming_account(each, name) if key in _READY_CALLS else each for key, each in data.items()}


def _taken_out(tool: str, arguments: Mapping[str, Any], named: list[Any]) -> dict[str, Any]:
    """The arguments without the name, wherever in a call of calls it stands."""
    rest = {key: value for key, value in arguments.items() if key != FIELD}
    if FIELD in arguments:
        named.append(arguments[FIELD])
    for key, value in rest.items():
        if tool == _BATCH and key == _CALLS:
            rest[key] = _from_calls(_parsed(value), named)
        elif names_another_call(tool, key) and isinstance(inside := _parsed(value), Mapping):
            rest[key] = _taken_out(str(arguments.get("action")), inside, named)
    return rest


def _from_calls(calls: Any, named: list[Any]) -> Any:
    if not isinstance(calls, list):
        return calls
    found = []
    for each in calls:
        if isinstance(each, Mapping):
            each = _taken_out(str(each.get("tool")), each, named)
            if isinstance(inside := _parsed(each.get("arguments")), Mapping):
                each["arguments"] = _taken_out(str(each.get("tool")), inside, named)
        found.append(each)
    return found


def _parsed(value: Any) -> Any:
    """From JSON text, where it is one."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def _urls(registry: Registry, tool: str, arguments: Mapping[str, Any]) -> Iterator[tuple[str, bool]]:
    """The URLs that say where a thing is; whether one is what the call asks about, and may be of anywhere."""
    calls = arguments.get(_CALLS) if tool == _BATCH else None
    if isinstance(calls, list):
        for each in calls:
            inside = each.get("arguments", each) if isinstance(each, Mapping) else None
            if isinstance(inside, Mapping) and isinstance(each.get("tool"), str) and each["tool"] != _BATCH:
                yield from _urls(registry, each["tool"], inside)
        return
    tool, arguments = looks_like(tool, arguments, registry)
    action = registry.action(tool, arguments.get("action"))
    for name, value in arguments.items():
        if not (isinstance(value, str) and value.strip().startswith(("http://", "https://"))):
            continue
        if name.endswith(("_id", "_iid")):
            yield value, False
        elif name == "url":
            is_own = action is not None and name in shapes(action)
            # A write saves its own: the address of a webhook says nothing about where the project is.
            if not (is_own and action is not None and action.spec.writes):
                yield value, is_own

"""Tools and actions under other names: the call that is meant, where it is one, and whether it may simply be made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from gitlab_mcp.actions.arguments.field_names import candidates
from gitlab_mcp.actions.arguments.words import (
    SAME_VERB,
    VERBS,
    is_short_name,
    misspelt,
    same_words,
    snake,
    stems,
)
from gitlab_mcp.actions.danger import Danger
from gitlab_mcp.actions.other_names import Instead
from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.actions.shape import shapes
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.failures.tool_names import browse_tool

_DANGERS = list(Danger)
_FIELD_VERBS = ("set", "change", "update", "edit", "modify", "assign")


@dataclass(frozen=True, slots=True)
class MeantCall:
    """The call that another name stands for."""

    tool: Tool
    action: str
    """Nothing where no single call does it."""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    renames: Mapping[str, str] = field(default_factory=dict)
    advice: str = ""
    is_certain: bool = True
    """Whether it is the one call that can be meant; what is not certain is suggested, never made."""
    has_moved: bool = False
    """Whether the other name is what the call was named before: then it is made as it was."""

    @property
    def danger(self) -> Danger:
        return self.tool.actions[self.action].spec.danger

    def may_be_made_by(self, tool: Tool) -> bool:
        """A client may let a tool that reads do its work unasked, so no write is made by one; and no call is made
        that is more dangerous than all the tool is known for, or that reaches far."""
        if self.has_moved:
            return True
        if self.advice or not self.is_certain or self.danger is Danger.DANGEROUS:
            return False
        most = max(_DANGERS.index(action.spec.danger) for action in tool.actions.values())
        return _DANGERS.index(self.danger) <= most


def meant_action(
    registry: Registry, tool: Tool, name: str, given: Mapping[str, Any]
) -> tuple[list[MeantCall], str | None]:
    """The calls that an action this tool does not have can mean, the likeliest first; and a misspelt action."""
    plain = snake(name)
    within = list(_within(registry, tool, plain, given))
    if within:
        return within, None
    sibling = sibling_of(registry, tool)
    across = list(_within(registry, sibling, plain, given)) if sibling else []
    if not across:
        across = _about_another(registry, tool, plain)
    return across, None if across else misspelt(plain, tool.actions)


def meant_in_place_of(
    registry: Registry, tool: Tool, name: str, given: Mapping[str, Any]
) -> MeantCall | None:
    """The call that is meant although the action exists: it lacks a field that was given."""
    instead = tool.instead.get(name)
    if instead is None or instead.only_with is None:
        return None
    fields = shapes(tool.actions[name])
    if (
        instead.only_with not in given
        or instead.only_with in fields
        or set(fields) & set(given) - {"project_id"}
    ):
        return None
    return _declared(registry, tool, instead)


def meant_tool(registry: Registry, name: str, given: Mapping[str, Any]) -> MeantCall | Tool | None:
    """The call, or at least the tool, that an unknown tool name means."""
    words = [word for word in snake(name).split("_") if word != "gitlab"]
    action = str(given.get("action", ""))
    action = snake(action) if is_short_name(action) else ""
    if words and SAME_VERB.get(words[0]) == "search" and "search" in registry:
        calls = list(_within(registry, registry.tool("search"), "_".join(words[1:]), given))
        if calls:
            return calls[0]
    tool: Tool | None = None
    for verb, subject, rest in _readings(registry, words):
        tools = [registry.tool(each) for each in _tools_about(registry, subject)]
        if verb in ("browse", "manage"):
            siblings = [each for tool in tools if (each := sibling_of(registry, tool)) is not None]
            tools = [each for each in (*tools, *siblings) if each.name.startswith(verb)] or tools
            phrases = ["_".join(rest)] if rest else [action] if action else []
        else:
            phrases = _phrases(verb, subject, rest)
        exact = [MeantCall(each, phrase) for phrase in phrases for each in tools if phrase in each.actions]
        calls = exact or [
            call for phrase in phrases for each in tools for call in _within(registry, each, phrase, given)
        ]
        if calls:
            return calls[0]
        if not rest and verb in ("browse", "manage", ""):
            tool = tool or next(iter(tools), None)
    typo = misspelt("_".join(words), registry.names())
    return tool or (registry.tool(typo) if typo else None)


def _phrases(verb: str, subject: tuple[str, ...], rest: list[str]) -> list[str]:
    """The names an action could have that does this."""
    if not rest:
        return [f"{verb}_{'_'.join(subject)}", verb] if verb else ["list"]
    behind = "_".join(rest)
    # Without its verb it would be read or made: `update_issue_note` makes none.
    reads_or_makes = SAME_VERB.get(verb, "") in ("get", "list", "create", "")
    return [f"{verb}_{behind}".strip("_"), *([behind] if reads_or_makes else [])]


def sibling_of(registry: Registry, tool: Tool) -> Tool | None:
    """browse_issues of manage_issue, and the other way round."""
    if tool.name.startswith("manage_"):
        names = [browse_tool(tool.name)]
    else:
        names = [
            name for name in registry.names() if name.startswith("manage_") and browse_tool(name) == tool.name
        ]
    return next((registry.tool(name) for name in names if name in registry), None)


def _within(registry: Registry, tool: Tool, name: str, given: Mapping[str, Any]) -> Iterator[MeantCall]:
    """The calls of this tool, or declared by it, that a name stands for."""
    if name in tool.actions:
        yield MeantCall(tool, name)
        return
    if moved := _moved(registry, tool, name):
        yield moved
        return
    if name in tool.instead:
        yield _declared(registry, tool, tool.instead[name])
        return
    if found := same_words(name, tool.actions):
        yield from (MeantCall(tool, each, is_certain=len(found) == 1) for each in found)
        return
    if found := same_words(name, registry.moved_actions(tool.name)):
        yield from (
            replace(call, is_certain=len(found) == 1, has_moved=False)
            for call in filter(None, (_moved(registry, tool, each) for each in found))
        )
        return
    short = _without_subject(tool, name)
    if short and short != name:
        yield from _within(registry, tool, short, given)
        return
    yield from _by_verb(registry, tool, name, given)


def _by_verb(registry: Registry, tool: Tool, name: str, given: Mapping[str, Any]) -> Iterator[MeantCall]:
    first, _, rest = name.partition("_")
    verb = SAME_VERB.get(first, first)
    if rest and first in (*VERBS["list"], *VERBS["get"], "list", "get"):
        # `list_jobs` where the action is `jobs`.
        if found := same_words(rest, tool.actions):
            yield from (MeantCall(tool, each, is_certain=len(found) == 1) for each in found)
            return
        if found := same_words(rest, registry.moved_actions(tool.name)):
            yield from (
                replace(call, is_certain=len(found) == 1, has_moved=False)
                for call in filter(None, (_moved(registry, tool, each) for each in found))
            )
            return
        if rest in tool.instead and not tool.instead[rest].only_with:
            yield _declared(registry, tool, tool.instead[rest])
            return
    if rest and verb != first and (found := same_words(f"{verb}_{rest}", tool.actions)):
        yield MeantCall(tool, found[0], is_certain=len(found) == 1)
        return
    if rest and (call := _a_field_of_update(tool, name, first, rest)):
        yield call
        return
    if rest:
        return
    if verb == "search" and "list" in tool.actions and "search" in shapes(tool.actions["list"]):
        yield MeantCall(tool, "list", needs=("search",))
    elif verb in tool.actions:
        # With actions such as delete_note beside it, `remove` need not mean `delete`.
        others = [
            each for each in tool.actions if SAME_VERB.get(each.partition("_")[0]) == verb and each != verb
        ]
        yield MeantCall(tool, verb, is_certain=not others)
    elif found := [each for each in tool.actions if SAME_VERB.get(each.partition("_")[0]) == verb]:
        yield from (MeantCall(tool, each, is_certain=False) for each in found[:3])


def _a_field_of_update(tool: Tool, name: str, first: str, rest: str) -> MeantCall | None:
    """`set_weight` is update with weight, `add_label` is update with add_labels."""
    if "update" not in tool.actions:
        return None
    fields = shapes(tool.actions["update"])
    if found := same_words(name, fields):
        [what] = [word for word in stems(name) if word not in ("add", "remove")][:1] or [""]
        plain = dict.fromkeys((what, f"{what}s", "name"), found[0])
        return MeantCall(tool, "update", needs=(found[0],), renames=plain)
    if first not in _FIELD_VERBS:
        return None
    found = [rest] if rest in fields else candidates(rest, fields)
    if len(found) != 1 or found[0] in tool.actions["update"].spec.placeholders:
        return None
    return MeantCall(tool, "update", needs=(found[0],), renames={"value": found[0]})


def _moved(registry: Registry, tool: Tool, name: str) -> MeantCall | None:
    now = registry.moved_to(tool.name, name)
    return None if now is None else MeantCall(registry.tool(now[0]), now[1], has_moved=True)


def _declared(registry: Registry, tool: Tool, instead: Instead) -> MeantCall:
    other, _, action = instead.call.rpartition(" ")
    return MeantCall(
        registry.tool(other) if other else tool,
        action,
        instead.arguments,
        instead.needs,
        instead.renames,
        instead.advice,
    )


def _about_another(registry: Registry, tool: Tool, name: str) -> list[MeantCall]:
    """`branches` asked of browse_projects is browse_branches list; `create_branch` is manage_branch create."""
    for verb, subject, rest in _readings(registry, name.split("_")):
        for each in sorted(_tools_about(registry, subject)):
            other = registry.tool(each)
            if other is tool:
                continue
            phrase = "_".join([verb, *rest]).strip("_") or "list"
            found = list(_within(registry, other, phrase, {}))
            if found:
                return [replace(found[0], is_certain=found[0].is_certain and found[0].danger is Danger.READ)]
    return []


def _without_subject(tool: Tool, name: str) -> str:
    """`create` of create_issue, asked of a tool about issues."""
    words = name.split("_")
    for noun in _nouns(tool.name, tool.also):
        for start in range(len(words) - len(noun) + 1):
            if stems("_".join(words[start : start + len(noun)])) == noun and len(words) > len(noun):
                return "_".join(words[:start] + words[start + len(noun) :])
    return name


def _readings(registry: Registry, words: list[str]) -> Iterator[tuple[str, tuple[str, ...], list[str]]]:
    """A name as verb, subject and the rest: the longest subject first. Of `list_project_issues`, first what the
    project has of issues, then issues."""
    known = {noun for name in registry.names() for noun in _nouns(name, registry.also(name))}
    for length in range(len(words), 0, -1):
        for start in range(len(words) - length + 1):
            subject = stems("_".join(words[start : start + length]))
            if subject not in known:
                continue
            before, behind = words[:start], words[start + length :]
            verb, between = (before[0], before[1:]) if before else ("", [])
            around = all(stems(word) in known or word in ("group", "my", "all", "the") for word in between)
            yield verb, subject, behind if around else [*between, *behind]


def _tools_about(registry: Registry, subject: tuple[str, ...]) -> list[str]:
    own = [name for name in registry.names() if subject == stems(name)[1:]]
    return own or [name for name in registry.names() if subject in _nouns(name, registry.also(name))]


def _nouns(name: str, also: Any) -> list[tuple[str, ...]]:
    own = stems(name)[1:]
    return [*([own] if own else []), *(stems(each) for each in also)]

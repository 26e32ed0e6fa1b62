"""The calls that a failure or a notice names as next steps, as they can be made here.

What this server would refuse is not offered. What is not listed is to be called with `run_action`, or `browse_action`;
what is in a toolset that is not switched on says so, and how to switch it on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from gitlab_mcp.actions.arguments.wrapped_calls import ANY_CALL, READING_CALL, wrapped
from gitlab_mcp.policy.offered_tools import OfferedTools

_NAMES_CALLS: Final = ("suggested_fix", "did_you_mean", "send", "check_with", "blockers")
"""The facts, all of them our own words, that can name a tool."""
_READY_TO_SEND: Final = ("send", "example")
_TOOL: Final = re.compile(r"\b(?:browse|manage|run)_[a-z_]+|^search(?= |$)")


def callable_here(facts: Mapping[str, Any], tools: OfferedTools) -> Mapping[str, Any]:
    """The facts of a failure or a notice, with the calls in them as they can be made here."""
    if "alternatives" in facts:
        offered = list(_offered(facts["alternatives"], tools))
        others = {name: value for name, value in facts.items() if name != "alternatives"}
        facts = {**others, "alternatives": offered} if offered else others
    named = dict.fromkeys(_tools_in([facts.get(name) for name in _NAMES_CALLS]))
    unlisted = [tool for tool in named if tool in tools.registry and not tools.is_listed(tool)]
    if not unlisted:
        return facts
    if not all(map(tools.may_be_called, unlisted)):
        facts = {name: value for name, value in facts.items() if name not in _READY_TO_SEND}
    elif facts.get("send", {}).get("tool") in unlisted:
        facts = {**facts, "send": _sent_with(facts["send"], tools)}
    said = [facts.get("suggested_fix"), *(_how_to_call(tool, tools) for tool in unlisted)]
    return {**facts, "suggested_fix": " ".join(filter(None, said))}


def ready_to_send(call: Mapping[str, Any], tools: OfferedTools) -> Mapping[str, Any]:
    """The call of something that is allowed here, as it can be made: by another tool where its own is not listed."""
    return call if tools.is_listed(call["tool"]) else _sent_with(call, tools)


def _sent_with(send: Mapping[str, Any], tools: OfferedTools) -> Mapping[str, Any]:
    """The call by a tool that is listed, in the form of that tool's schema."""
    arguments = dict(send.get("arguments", {}))
    name = f"{send['tool']} {arguments.pop('action', '')}".strip()
    return wrapped(name, arguments, writes=not tools.registry.tool(send["tool"]).reads)


def _maker_of(tool: str, tools: OfferedTools) -> str:
    return READING_CALL if tools.registry.tool(tool).reads else ANY_CALL


def _offered(alternatives: Sequence[Mapping[str, Any]], tools: OfferedTools) -> Iterator[Mapping[str, Any]]:
    for each in alternatives:
        if "action" not in each:
            yield each
            continue
        tool, _, name = each["action"].partition(" ")
        action = tools.registry.tool(tool).actions[name]
        if not tools.is_complete(action, each.get("arguments", {})):
            continue
        if tools.refusal(action) is None:
            yield each if tools.is_listed(tool) else {**each, "call_with": _maker_of(tool, tools)}
        elif not tools.may_be_called(tool) and tools.switched_on(tool).refusal(action) is None:
            others = {name: value for name, value in each.items() if name not in ("action", "arguments")}
            yield {
                "toolset": tools.registry.toolset_of(tool),
                "switch_on_with": tools.switch_on_with(tool),
                "for": each["action"],
                **others,
            }


def _tools_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield from _TOOL.findall(value)
    elif isinstance(value, Mapping):
        for member in value.values():
            yield from _tools_in(member)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _tools_in(item)


def _how_to_call(tool: str, tools: OfferedTools) -> str:
    if tools.may_be_called(tool):
        return f"{tool} is not listed: call it with {_maker_of(tool, tools)}."
    toolset, how = tools.registry.toolset_of(tool), tools.switch_on_with(tool)
    return f"{tool} cannot be called before its toolset, {toolset}, is switched on: {how}."

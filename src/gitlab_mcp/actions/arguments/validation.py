"""From what a model sent to a validated call, or to one failure that names every problem."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from gitlab_mcp.actions.action import Action
from gitlab_mcp.actions.arguments.action_names import MeantCall, meant_action, meant_in_place_of, meant_tool
from gitlab_mcp.actions.arguments.defaults import InstanceDefaults, fill_in
from gitlab_mcp.actions.arguments.field_names import what_is_meant
from gitlab_mcp.actions.arguments.filled_in import leave_out_empty
from gitlab_mcp.actions.arguments.limits import check_transportable
from gitlab_mcp.actions.arguments.problems import Problems, collect_problems, example_of, safe_to_repeat
from gitlab_mcp.actions.arguments.words import is_short_name, snake
from gitlab_mcp.actions.call import Call, Options
from gitlab_mcp.actions.quick_actions import WANTED
from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.actions.schema import required_fields
from gitlab_mcp.actions.secret_fields import is_secret
from gitlab_mcp.actions.shape import required, shapes
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed, Failure

_LONGEST_SAID_BACK = 80


def validate(registry: Registry, name: str, arguments: Mapping[str, Any], defaults: InstanceDefaults) -> Call:
    check_transportable(arguments)
    given = {key: value for key, value in arguments.items() if value is not None}
    tool = _tool(registry, name, given)
    tool, action, changed = _which_call(registry, tool, given)
    problems = Problems(action)
    _options_by_our_names(action, given)
    left_out = leave_out_empty(registry.listed_fields(name), action, arguments, given)
    options = _options(given, problems)
    changed.update(_by_our_names(action, given, problems))
    problems.taken_as = _taken_as(name, arguments.get("action"), action, changed) | left_out
    fill_in(action, given, options.url, defaults, problems)
    _place(action, given, problems)
    _one_of(action, given, problems)
    _no_dots(action, given, problems)
    validated = _model(action, given, options, problems)
    if problems or validated is None:
        raise CallFailed(problems.failure())
    return Call(tool, validated, options, problems.taken_as)


def _tool(registry: Registry, name: str, given: Mapping[str, Any]) -> Tool:
    if name in registry or registry.has_row(name, given.get("action")):
        return registry.tool(name)
    failure = Failure(Code.UNKNOWN_TOOL, "There is no such tool.")
    meant = meant_tool(registry, name, given) if is_short_name(name) else None
    if isinstance(meant, MeantCall):
        failure = _suggesting(failure, [meant], given, called=None)
    elif meant is not None and not (meant.reads and name.startswith("manage_")):
        failure = failure.knowing(
            did_you_mean=meant.name, suggested_fix=f"Call {meant.name}.", send={"tool": meant.name}
        )
    elif registry.is_noun(name):
        return registry.tool(name)
    else:
        failure = failure.knowing(suggested_fix="Call one of the tools that tools/list names.")
    raise CallFailed(_or_found(failure, name, given.get("action")))


def _which_call(
    registry: Registry, tool: Tool, given: dict[str, Any]
) -> tuple[Tool, type[Action], dict[str, Any]]:
    """The action that is meant, with the arguments its other name stood for, which are put into `given`."""
    if tool.is_single:
        single = next(iter(tool.actions.values()))
        if "action" in shapes(single):
            return tool, single, {}
        if given.get("action") in (None, single.spec.name):
            given.pop("action", None)
            return tool, single, {}
    name = given.pop("action", None)
    if isinstance(name, str) and name in tool.actions:
        meant = meant_in_place_of(registry, tool, name, given)
        if meant is None:
            return tool, tool.actions[name], {}
        calls, typo = [meant], None
    elif isinstance(name, str) and name and is_short_name(name):
        calls, typo = meant_action(registry, tool, name, given)
    else:
        calls, typo = [], None
    if len(calls) == 1 and calls[0].may_be_made_by(tool):
        changes = _changes(calls[0], given)
        if changes is not None:
            for old in [old for old in calls[0].renames if old in given]:
                del given[old]
            given.update(changes)
            return calls[0].tool, calls[0].tool.actions[calls[0].action], changes
    failure = _no_action(registry, tool, name, calls, typo, given)
    about = tool.name.partition("_")[2] or tool.name
    raise CallFailed(failure if name is None else _or_found(failure, name, about))


def _changes(meant: MeantCall, given: Mapping[str, Any]) -> dict[str, Any] | None:
    """The arguments that change with the name of the action; None where it lacks what it is about."""
    action = meant.tool.actions[meant.action]
    changes = {new: given[old] for old, new in meant.renames.items() if old in given} | dict(meant.arguments)
    kept = {name: value for name, value in given.items() if name not in meant.renames}
    renamed = _by_our_names(action, {**kept, **changes}, Problems(action))
    return changes if set(meant.needs) <= {*kept, *changes, *renamed} else None


def _no_action(
    registry: Registry,
    tool: Tool,
    name: Any,
    calls: list[MeantCall],
    typo: str | None,
    given: Mapping[str, Any],
) -> Failure:
    actions = list(tool.actions)
    facts: dict[str, Any] = {
        "valid_actions": actions,
        "action_required_fields": {each: required_fields(action) for each, action in tool.actions.items()},
    }
    if name is None:
        failure = Failure(Code.MISSING_REQUIRED_FIELD, f"{tool.name} needs an action.")
        fix = f"Add action: one of {', '.join(actions)}."
        return failure.knowing(**facts, missing_fields=["action"], suggested_fix=fix)
    failure = Failure(Code.INVALID_ACTION, f"{tool.name} has no such action.").knowing(**facts)
    if calls:
        return _suggesting(failure, calls, given, called=tool)
    if typo:
        return _suggesting(failure, [MeantCall(tool, typo)], given, called=tool)
    return failure.knowing(suggested_fix=f"Use one of {', '.join(actions)}.")


def _or_found(failure: Failure, *names: Any) -> Failure:
    """The failure with the way to what may be meant instead: a search for the words of these names."""
    words = [safe_to_repeat(snake(name)) for name in names if isinstance(name, str) and is_short_name(name)]
    query = " ".join(dict.fromkeys("_".join(words).replace("?", "_").split("_"))).strip()
    if not query:
        return failure.knowing(suggested_fix=f"{failure.facts['suggested_fix']} find_actions finds others.")
    search = {"tool": "find_actions", "arguments": {"query": query}}
    if "send" in failure.facts:
        fix = f'{failure.facts["suggested_fix"]} If another call is meant: find_actions query="{query}".'
        return failure.knowing(suggested_fix=fix)
    fix = f"{failure.facts['suggested_fix']} find_actions finds all others."
    return failure.knowing(suggested_fix=fix, send=search)


def _suggesting(
    failure: Failure, calls: list[MeantCall], given: Mapping[str, Any], *, called: Tool | None
) -> Failure:
    """The failure with the calls that can be meant; one alone is ready to send."""
    first = calls[0]
    advice = f"{first.tool.name}: {first.advice}" if first.advice and called is None else first.advice
    if not first.action:
        return failure.knowing(suggested_fix=advice)
    steps = [_step_to(call, called) for call in calls]
    names = [f"{call.tool.name} {call.action}" if call.tool is not called else call.action for call in calls]
    fix = advice or f"{' or '.join(steps)}."
    if len(calls) > 1:
        return failure.knowing(did_you_mean=names, suggested_fix=fix)
    changed = _changes(first, given) or dict(first.arguments)
    send = {"tool": first.tool.name, "arguments": {"action": first.action, **_said_back(changed)}}
    return failure.knowing(
        did_you_mean=names[0],
        suggested_fix=fix,
        send=None if first.advice else send,
        example=example_of(first.tool.actions[first.action]),
    )


def _step_to(call: MeantCall, called: Tool | None) -> str:
    there = "Use" if call.tool is called else f"Call {call.tool.name} with"
    needed = f"{' with' if call.tool is called else ' and'} {' and '.join(call.needs)}" if call.needs else ""
    return f"{there} action {call.action}{needed}"


def _options_by_our_names(action: type[Action], given: dict[str, Any]) -> None:
    for name in [name for name in given if name not in shapes(action)]:
        if is_short_name(name) and (ours := snake(name)) in shapes(Options) and ours not in given:
            given[ours] = given.pop(name)


def _by_our_names(action: type[Action], given: dict[str, Any], problems: Problems) -> dict[str, Any]:
    """Put fields under our names in place; what changed. What is not certain goes to the problems."""
    changed: dict[str, Any] = {}
    known = ChainMap(changed, given)
    for name in [name for name in given if name not in shapes(action) and name not in shapes(Options)]:
        if problems.is_full:
            # The model counts those that are left.
            break
        meant = what_is_meant(action, name, given[name], known)
        if meant.taken is not None:
            del given[name]
            changed.update(meant.taken)
            continue
        shown = safe_to_repeat(name)
        problems.unknown[shown] = meant.fields
        if meant.advice:
            problems.advice[shown] = meant.advice
    given.update(changed)
    return changed


def _taken_as(tool: str, name: Any, action: type[Action], changed: Mapping[str, Any]) -> dict[str, Any]:
    """What the answer says of a call under other names; nothing where the names are ours."""
    spec = action.spec
    is_ours = tool == spec.tool.name and (name == spec.name or spec.tool.is_single)
    call = {} if is_ours else {"action": _full_name(action)}
    return {**call, **({"arguments": _said_back(changed)} if changed else {})}


def _full_name(action: type[Action]) -> str:
    return f"{action.spec.tool.name} {action.spec.name}"


def _said_back(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: "(as given)" if is_secret(name) or len(str(value)) > _LONGEST_SAID_BACK else value
        for name, value in arguments.items()
    }


def _options(given: dict[str, Any], problems: Problems) -> Options:
    """The fields every action takes, out of the arguments."""
    mine = {
        name: given.pop(name) for name in shapes(Options) if name in given and not _is_own(name, problems)
    }
    try:
        return Options.model_validate(mine)
    except ValidationError as error:
        collect_problems(error, shapes(Options), problems)
        return Options()


def _is_own(name: str, problems: Problems) -> bool:
    """An action may have a field of its own under the name of an option (the url of a webhook)."""
    return name in shapes(problems.action)


def _one_of(action: type[Action], given: Mapping[str, Any], problems: Problems) -> None:
    if action.needs_one_of and not given.keys() & set(action.needs_one_of):
        problems.missing.append("|".join(action.needs_one_of))


def _place(action: type[Action], given: Mapping[str, Any], problems: Problems) -> None:
    """Of several endpoints exactly one must be meant. What all of them need is the model's to miss."""
    places = [place - set(required(action)) for place in action.alternatives()]
    if len(places) < 2:
        return
    chosen = set().union(*places) & set(given)
    fitting = [place for place in places if place <= set(given)]
    if not fitting:
        problems.missing.append(required_fields(action)[0])
    elif not any(chosen <= place for place in fitting):
        clash = sorted(name for name in chosen if not all(name in place for place in places))
        problems.wrong(clash[-1], f"only one of {', '.join(clash)}", "more than one")


def _no_dots(action: type[Action], given: Mapping[str, Any], problems: Problems) -> None:
    """A segment of one or two dots is resolved away on its way, however it is encoded: `labels/..` is the project."""
    for name in action.spec.placeholders:
        if str(given.get(name)).strip() in (".", ".."):
            problems.wrong(name, "a name or number, not dots alone", "dots")


def _model(
    action: type[Action], given: Mapping[str, Any], options: Options, problems: Problems
) -> Action | None:
    try:
        return action.model_validate(given, context={WANTED: options.quick_actions})
    except ValidationError as error:
        collect_problems(error, shapes(action), problems)
        return None

"""From what a model sent to a validated call, or to one failure that names every problem."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from gitlab_mcp.actions.action import Action
from gitlab_mcp.actions.arguments.defaults import InstanceDefaults, fill_in
from gitlab_mcp.actions.arguments.limits import check_transportable
from gitlab_mcp.actions.arguments.problems import Problems, closest_name, collect_problems, example_of
from gitlab_mcp.actions.call import Call, Options
from gitlab_mcp.actions.quick_actions import WANTED
from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.actions.schema import required_fields
from gitlab_mcp.actions.shape import required, shapes
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed, Failure


def validate(registry: Registry, name: str, arguments: Mapping[str, Any], defaults: InstanceDefaults) -> Call:
    check_transportable(arguments)
    tool = _tool(registry, name)
    given = {key: value for key, value in arguments.items() if value is not None}
    action = _action(tool, given.pop("action", None))
    problems = Problems(action)
    options = _options(given, problems)
    fill_in(action, given, options.url, defaults, problems)
    _place(action, given, problems)
    _no_dots(action, given, problems)
    validated = _model(action, given, options, problems)
    if problems or validated is None:
        raise CallFailed(problems.failure())
    return Call(tool, validated, options)


def _tool(registry: Registry, name: str) -> Tool:
    if name in registry:
        return registry.tool(name)
    guess = closest_name(name, registry.names())
    failure = Failure(Code.UNKNOWN_TOOL, "There is no such tool.")
    raise CallFailed(
        failure.knowing(
            did_you_mean=guess,
            suggested_fix=f"Call {guess}." if guess else "Call one of the tools that tools/list names.",
        )
    )


def _action(tool: Tool, name: Any) -> type[Action]:
    if isinstance(name, str) and name in tool.actions:
        return tool.actions[name]
    actions = list(tool.actions)
    facts: dict[str, Any] = {
        "valid_actions": actions,
        "action_required_fields": {each: required_fields(action) for each, action in tool.actions.items()},
    }
    if name is None:
        failure = Failure(Code.MISSING_REQUIRED_FIELD, f"{tool.name} needs an action.")
        facts["missing_fields"] = ["action"]
        fix = f"Add action: one of {', '.join(actions)}."
    else:
        failure = Failure(Code.INVALID_ACTION, f"{tool.name} has no such action.")
        guess = closest_name(name, actions) if isinstance(name, str) else None
        facts["did_you_mean"] = guess
        fix = f"Use action {guess}." if guess else f"Use one of {', '.join(actions)}."
    example = next(iter(tool.actions.values()))
    raise CallFailed(failure.knowing(**facts, suggested_fix=fix, example=example_of(example)))


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


def _place(action: type[Action], given: Mapping[str, Any], problems: Problems) -> None:
    """Of several endpoints exactly one must be meant. What all of them need is the model's to miss."""
    places = [set(endpoint.placeholders) - set(required(action)) for endpoint in action.spec.endpoints]
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

"""`run_action` and `browse_action`: a call that names another one. It is unwrapped before anything looks at it, so that
what is validated, guarded, confirmed, counted and written down is the call that is meant, as if it had come alone."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final

from pydantic import Field

from gitlab_mcp.actions.action import Action
from gitlab_mcp.actions.arguments.limits import check_transportable
from gitlab_mcp.actions.fields import Expects, FromJson, NonEmpty, ReachesNothing
from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed, Failure

ANY_CALL: Final = "run_action"
READING_CALL: Final = "browse_action"

ActionName = Annotated[NonEmpty, Field(description="browse_labels list"), Expects("the tool and the action")]
ActionArguments = Annotated[dict[str, Any], FromJson, ReachesNothing(), Expects("an object")]

_CALLED_ARGUMENTS: Final = ("arguments", "args", "params", "parameters", "input")
_BETWEEN: Final = re.compile(r"[\s.:/]+")
_LONGEST_NAME: Final = 100


@dataclass(frozen=True, slots=True)
class UnwrappedCall:
    tool: str
    arguments: Mapping[str, Any]
    only_reads: bool = False
    """It came through the tool that a client may let do its work unasked."""

    def check(self, action: type[Action]) -> None:
        """Raise CallFailed where a call that writes came through the tool that only reads."""
        if not self.only_reads or not action.spec.writes:
            return
        name = f"{action.spec.tool.name} {action.spec.name}"
        raise CallFailed(
            Failure(
                Code.INVALID_ACTION, f"{READING_CALL} makes calls that read; {name} would change something."
            ).knowing(
                did_you_mean=ANY_CALL,
                suggested_fix=f"Send the same arguments to {ANY_CALL}.",
                send={"tool": ANY_CALL},
            )
        )


def unwrapped(registry: Registry, tool: str, arguments: Mapping[str, Any]) -> UnwrappedCall:
    """The call that is meant: the given one, or the one inside of it. Raises CallFailed where that cannot be told."""
    if tool not in (ANY_CALL, READING_CALL):
        return UnwrappedCall(tool, arguments)
    check_transportable(arguments)
    if not isinstance(arguments.get("action"), str) and not isinstance(arguments.get("tool"), str):
        raise CallFailed(_names_nothing(tool, arguments))
    beside = {name: value for name, value in arguments.items() if name not in ("tool", "action")}
    inside = _inside(beside)
    meant, action = _tool_and_action(registry, arguments, inside)
    if meant in registry and registry.is_single(meant):
        raise CallFailed(_nested(tool, meant))
    if "arguments" in beside:
        raise CallFailed(_no_object(tool))
    if twice := sorted(name for name, value in beside.items() if inside.get(name, value) != value):
        raise CallFailed(_said_twice(tool, twice))
    named = {"action": action} if action else {}
    return UnwrappedCall(meant, {**beside, **inside, **named}, only_reads=tool == READING_CALL)


def names_another_call(tool: str, field: str) -> bool:
    """Whether the field says which call is meant, or holds all of it."""
    return tool in (ANY_CALL, READING_CALL) and field in ("tool", "action", *_CALLED_ARGUMENTS)


def looks_like(tool: str, arguments: Mapping[str, Any], registry: Registry) -> tuple[str, Mapping[str, Any]]:
    """The tool and the arguments that are meant, as far as that can be told. For what is only about the answer."""
    try:
        call = unwrapped(registry, tool, arguments)
    except CallFailed:
        return tool, arguments
    return call.tool, call.arguments


def wrapped(name: str, arguments: Mapping[str, Any], *, writes: bool) -> dict[str, Any]:
    """The call `manage_label create` as one that every client can make, because its tool is in every listing."""
    inside = {"arguments": dict(arguments)} if arguments else {}
    return {
        "tool": ANY_CALL if writes else READING_CALL,
        "arguments": {"action": name, **inside},
    }


def _inside(beside: dict[str, Any]) -> dict[str, Any]:
    """The arguments of the call inside, taken out of those around it."""
    if beside.get("arguments") is None:
        beside.pop("arguments", None)
    # An action can have a field of the other names.
    for name in _CALLED_ARGUMENTS if len(beside) == 1 else _CALLED_ARGUMENTS[:1]:
        value = beside.get(name)
        if isinstance(value, str):
            value = _from_json(value)
        if isinstance(value, Mapping):
            del beside[name]
            return dict(value)
    return {}


def _from_json(text: str) -> Any:
    if not text.lstrip().startswith("{"):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _tool_and_action(
    registry: Registry, around: Mapping[str, Any], inside: dict[str, Any]
) -> tuple[str, str | None]:
    """`browse_labels list`, `browse_labels.list`; both apart; or the action among the arguments."""
    names = [around[key].strip() for key in ("tool", "action") if isinstance(around.get(key), str)]
    words = [word for name in names for word in _BETWEEN.split(name[:_LONGEST_NAME]) if word]
    if not words:
        return "", None
    tool, action = words[0], "_".join(words[1:])
    if tool not in registry and len(words) > 2 and "_".join(words[:2]) in registry:
        tool, action = "_".join(words[:2]), "_".join(words[2:])
    if not action and isinstance(inside.get("action"), str):
        action = inside.pop("action")
    return tool, action or None


def _names_nothing(tool: str, arguments: Mapping[str, Any]) -> Failure:
    example = {"action": "browse_labels list", "arguments": {"project_id": "acme/website"}}
    given = "action" in arguments and arguments["action"] is not None
    failure = (
        Failure(Code.TYPE_MISMATCH, f"{tool} cannot use the value of action.").knowing(
            invalid_fields=[
                {"field": "action", "expected": "a tool and an action of it", "received": "no text"}
            ]
        )
        if given
        else Failure(Code.MISSING_REQUIRED_FIELD, f"{tool} needs action.").knowing(missing_fields=["action"])
    )
    return failure.knowing(
        suggested_fix="Name the tool and its action as text, such as browse_labels list; find_actions finds it.",
        example=example,
    )


def _no_object(tool: str) -> Failure:
    return Failure(Code.TYPE_MISMATCH, f"{tool} cannot use the value of arguments.").knowing(
        invalid_fields=[{"field": "arguments", "expected": "an object", "received": "none"}],
        suggested_fix="Give arguments as an object: the fields of the action by name.",
    )


def _nested(tool: str, meant: str) -> Failure:
    return Failure(Code.INVALID_VALUE, f"{tool} does not make calls of {meant}.").knowing(
        invalid_fields=[
            {"field": "action", "expected": "an action of a tool of GitLab's", "received": meant}
        ],
        suggested_fix=f"Call {meant} itself: it is in every listing.",
        send={"tool": meant},
    )


def _said_twice(tool: str, names: list[str]) -> Failure:
    shown = [name for name in names if name.isidentifier() and len(name) <= _LONGEST_NAME]
    return Failure(Code.INVALID_VALUE, f"{tool} was given other values beside arguments than in it.").knowing(
        invalid_fields=[{"field": name, "expected": "one value", "received": "two"} for name in shown]
        or None,
        suggested_fix="Give each field once, inside of arguments.",
    )

"""Everything that is wrong with the arguments of one call, said at once and with the way out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from gitlab_mcp.actions.action import Action
from gitlab_mcp.actions.arguments.field_names import candidates
from gitlab_mcp.actions.arguments.words import is_short_name, misspelt
from gitlab_mcp.actions.fields import Expects
from gitlab_mcp.actions.schema import listed_fields, required_fields
from gitlab_mcp.actions.secret_fields import is_secret
from gitlab_mcp.actions.shape import Shape, shapes
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.counted import counted
from gitlab_mcp.failures.failure import Failure

COMBINATION = "a combination that does not work"
MOST_LISTED = 20
"""Of the problems of one call. The failure says how many more there are."""
_MOST_SAID = 5
"""Of the names in one sentence."""


@dataclass(slots=True)
class Problems:
    """Everything that is wrong with the arguments of one call."""

    action: type[Action]
    missing: list[str] = field(default_factory=list)
    invalid: list[dict[str, str]] = field(default_factory=list)
    of_type: bool = False
    unknown: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Each unknown field with the known ones that can be meant."""
    advice: dict[str, str] = field(default_factory=dict)
    """By unknown field, a sentence about what is offered."""
    taken_as: dict[str, Any] = field(default_factory=dict)
    """The call as it would be made, where other names were given."""
    allowed: dict[str, None] = field(default_factory=dict)
    """The fields that stand where the unknown ones were given: of the action, or of an object inside."""
    unlisted: int = 0
    """Problems beyond those that are listed."""

    def __bool__(self) -> bool:
        return bool(self.missing or self.invalid or self.unknown)

    @property
    def is_full(self) -> bool:
        """Whether as many problems are listed as an error may list."""
        return len(self.missing) + len(self.invalid) + len(self.unknown) >= MOST_LISTED

    def wrong(self, name: str, expected: str, received: str, *, of_type: bool = False) -> None:
        # No more than a few dozen are kept, so that looking through them is quick.
        if all(known["field"] != name for known in self.invalid):
            self.invalid.append({"field": name, "expected": expected, "received": received})
            self.of_type = self.of_type or of_type

    def failure(self) -> Failure:
        name = self.action.spec.name
        required = required_fields(self.action)
        guesses = {word: meant[0] for word, meant in self.unknown.items() if len(meant) == 1}
        return Failure(self._code(), self._message(name)).knowing(
            missing_fields=self.missing or None,
            invalid_fields=self.invalid or None,
            unknown_fields=list(self.unknown) or None,
            more_problems=self.unlisted or None,
            did_you_mean=guesses or None,
            allowed_fields=self._allowed() if self.unknown else None,
            taken_as=self.taken_as or None,
            action_required_fields={name: required},
            suggested_fix=self._fix(guesses),
            example=example_of(self.action),
        )

    def _allowed(self) -> list[str]:
        own = shapes(self.action)
        at_the_top = not self.allowed or any(name in own for name in self.allowed)
        return listed_fields(self.action) if at_the_top else list(self.allowed)

    def _code(self) -> Code:
        if self.missing:
            return Code.MISSING_REQUIRED_FIELD
        if self.invalid:
            return Code.TYPE_MISMATCH if self.of_type else Code.INVALID_VALUE
        return Code.FIELD_NOT_ALLOWED

    def _message(self, name: str) -> str:
        parts = []
        if self.missing:
            parts.append(f"needs {_few([name.replace('|', ' or ') for name in self.missing])}")
        if values := [each["field"] for each in self.invalid if each["received"] != COMBINATION]:
            parts.append(f"cannot use the value of {_few(values)}")
        if rules := [each["field"] for each in self.invalid if each["received"] == COMBINATION]:
            parts.append(f"has a rule for {_few(rules)} that is not kept")
        if self.unknown:
            parts.append(f"does not take {_few(list(self.unknown))}")
        more = f" {self.unlisted} more problems are not listed." if self.unlisted else ""
        return f"{name} {_and(parts)}.{more}"

    def _fix(self, guesses: Mapping[str, str]) -> str:
        needed = [name for name in self.missing if name not in guesses.values()]
        steps = [f"add {_and([name.replace('|', ' or ') for name in needed])}"] if needed else []
        steps += [_step(each) for each in self.invalid]
        steps += [self._about_unknown(word, meant) for word, meant in self.unknown.items()]
        sentence = "; ".join(dict.fromkeys(steps))
        return sentence[:1].upper() + sentence[1:] + "."

    def _about_unknown(self, word: str, meant: tuple[str, ...]) -> str:
        """What is offered for it. It may carry what the call is about, so never to leave it out."""
        advice = self.advice.get(word, "")
        if len(meant) == 1:
            return f"rename {word} to {meant[0]}" + (f" ({advice})" if advice else "")
        if meant:
            return f"rename {word} to the one that is meant: {' or '.join(meant)}"
        return (
            advice
            or f"nothing here does what {word} says; allowed_fields are all that {self.action.spec.name} takes"
        )


def _step(invalid: Mapping[str, str]) -> str:
    # Between fields there is a rule to follow, not a value to give.
    verb = "for {field}: {expected}" if invalid["received"] == COMBINATION else "give {field} as {expected}"
    return verb.format(**invalid)


def _few(words: list[str]) -> str:
    """The first of them, where they are many: the facts name them all."""
    others = len(words) - _MOST_SAID
    return _and([*words[:_MOST_SAID], f"{others} more"] if others > 1 else words)


def _and(words: list[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else words[0]


def collect_problems(error: ValidationError, fields: Mapping[str, Shape], problems: Problems) -> None:
    for detail in error.errors(include_url=False):
        location = detail["loc"]
        kind = detail["type"]
        name = _location(location)
        if problems.is_full:
            problems.unlisted += name not in problems.unknown
        elif kind == "missing":
            problems.missing.append(name)
        elif kind == "extra_forbidden":
            if name not in problems.unknown:
                problems.unknown[name] = _inside(location, fields, name, problems)
            known = fields if len(location) == 1 else _members_at(location[:-1], fields)
            problems.allowed.update(dict.fromkeys(known))
        elif kind == "broken_rule":
            context = detail.get("ctx", {})
            problems.wrong(context.get("field") or name, detail["msg"], COMBINATION)
        else:
            shape = _shape_at(location, fields)
            expected = _expected(shape, detail)
            of_type = kind.endswith(("_type", "_parsing")) or kind in ("int_from_float", "not_a_number")
            value = detail.get("input")
            kept_back = any(is_secret(part) for part in location if isinstance(part, str))
            problems.wrong(name, expected, _kind(value) if kept_back else received(value), of_type=of_type)


def _inside(
    location: tuple[int | str, ...], fields: Mapping[str, Shape], name: str, problems: Problems
) -> tuple[str, ...]:
    """What an unknown field of an object inside the arguments can mean."""
    around = _shape_at(location[:-1], fields) if len(location) > 1 else None
    members = dict(around.members) if around else {}
    word = str(location[-1])
    if not is_short_name(word):
        return ()
    found = candidates(word, members) or [each for each in [misspelt(word, members)] if each]
    if not found and members:
        problems.advice[name] = f"in place of {name}, each takes {', '.join(members)}"
    return tuple(found)


def _location(location: tuple[int | str, ...]) -> str:
    name = ""
    for part in location:
        name += (
            f"[{part}]"
            if isinstance(part, int)
            else f".{safe_to_repeat(part)}"
            if name
            else safe_to_repeat(part)
        )
    return name or "arguments"


def _members_at(location: tuple[int | str, ...], fields: Mapping[str, Shape]) -> list[str]:
    """The fields of the object there."""
    shape = _shape_at(location, fields)
    return [name for name, _ in shape.members] if shape else []


def _shape_at(location: tuple[int | str, ...], fields: Mapping[str, Shape]) -> Shape | None:
    shape: Shape | None = None
    for part in location:
        if isinstance(part, int):
            shape = shape.items if shape else None
        else:
            shape = fields.get(part)
            fields = dict(shape.members) if shape else {}
        if shape and shape.items and shape.items.members:
            fields = dict(shape.items.members)
    return shape


_RULES = {
    "greater_than_equal": "{what}, at least {ge}",
    "less_than_equal": "{what}, at most {le}",
    "string_too_short": "text of at least {characters}",
    "string_too_long": "text of at most {characters}",
    "too_short": "an array with at least {items}",
    "too_long": "an array with at most {items}",
}


def _expected(shape: Shape | None, detail: Mapping[str, Any]) -> str:
    what = shape.expects if shape else "another value"
    rule = _RULES.get(detail["type"])
    if rule:
        context = detail.get("ctx", {})
        if detail["type"] == "string_too_short" and context["min_length"] == 1:
            return "text that is not empty"
        length = context.get("min_length", context.get("max_length", 0))
        sizes = {"characters": counted(length, "character"), "items": counted(length, "item")}
        return rule.format(what=what, **sizes, **context)
    if shape and shape.values and isinstance(detail.get("input"), str):
        guess = misspelt(detail["input"].lower(), shape.values)
        return f"{guess} ({what})" if guess else what
    if detail["type"] == "string_pattern_mismatch" and shape and not shape.mark(Expects):
        return shape.description or what
    return what


def received(value: Any) -> str:
    """What was sent, in few words: a short value, or its type."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return str(value)[:24]
    if isinstance(value, str):
        return f'"{safe_to_repeat(value)}"' if len(value) <= 40 else _kind(value)
    return _kind(value)


def _kind(value: Any) -> str:
    """The JSON type of what was sent."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "number"
    if isinstance(value, str):
        return f"a string of {counted(len(value), 'character')}"
    return "array" if isinstance(value, (list, tuple)) else "object" if isinstance(value, Mapping) else "null"


def safe_to_repeat(word: object) -> str:
    """A name the caller sent, safe to say back: one line, short, plain."""
    return plain(str(word)[:64])


def plain(word: object) -> str:
    """What the caller sent, in one line of plain characters."""
    return re.sub(r"[^\w .:/@#%+*,()\[\]=-]", "?", str(word))


def example_of(action: type[Action]) -> dict[str, Any]:
    named = {} if action.spec.tool.is_single else {"action": action.spec.name}
    return {**named, **action.spec.example}

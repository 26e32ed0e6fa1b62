"""A value in a call of a batch that is taken from the result of an earlier one: `{"from": 0, "field": "iid"}`.

It stands for a whole value, never for a part of text, and what it stands for is a value of the call like any other:
validated, guarded and confirmed as if the caller had written it. Calls are counted from 0, as in the answer's `failed`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from gitlab_mcp.actions.arguments.limits import check_transportable
from gitlab_mcp.actions.arguments.problems import received, safe_to_repeat
from gitlab_mcp.actions.arguments.words import snake
from gitlab_mcp.actions.arguments.wrapped_calls import names_another_call
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.results.envelope import ABOUT_THE_CALL

_MEMBERS: Final = frozenset({"from", "field"})
_NOT_TAKEN: Final = frozenset({"action", "confirmation_token", "dry_run", "quick_actions"})
"""Which call it is decides its turn, a yes is given by a person, and the caller says how a call is made."""
_LONGEST_FIELD: Final = 200
_MOST_NAMED: Final = 20
_CUT: Final = "…"


class _NoValue(Exception):
    def __init__(self, expected: str, received: str) -> None:
        super().__init__(expected)
        self.expected = expected
        self.received = received


def refers(value: Any) -> bool:
    """Whether it holds a reference anywhere."""
    return any(True for _ in _references_in(value))


def calls_referred_to(arguments: Mapping[str, Any]) -> set[int]:
    """The numbers of the calls whose results are needed first."""
    numbers = (_number(reference["from"]) for reference in _references_in(arguments))
    return {number for number in numbers if number is not None}


def filled_in(
    tool: str, arguments: Mapping[str, Any], index: int, outcomes: Mapping[int, Mapping[str, Any]]
) -> Mapping[str, Any]:
    """The arguments of the call of this number with values in place of references. Raises CallFailed where one has
    none, and then names them all; and where they make it larger than a call may be."""
    problems: dict[str, _NoValue] = {}

    def value_of(reference: Mapping[str, Any], where: str) -> Any:
        try:
            if snake(where.rpartition(".")[2]) in _NOT_TAKEN or names_another_call(tool, where):
                raise _NoValue("given as it is, not taken from another call", "a reference")
            return _value_of(reference, index, outcomes)
        except _NoValue as problem:
            problems[where] = problem

    filled: Mapping[str, Any] = {
        name: _replaced(value, safe_to_repeat(name), value_of) for name, value in arguments.items()
    }
    if problems:
        raise CallFailed(_refusal(problems))
    # Here, not where the call is validated: whoever tells of its failure would look at all of it again.
    check_transportable(filled)
    return filled


def _is_reference(value: Any) -> bool:
    return isinstance(value, Mapping) and value.keys() == _MEMBERS


def _references_in(value: Any) -> Iterator[Mapping[str, Any]]:
    if _is_reference(value):
        yield value
    elif isinstance(value, Mapping):
        for member in value.values():
            yield from _references_in(member)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _references_in(item)


def _replaced(value: Any, where: str, value_of: Callable[[Mapping[str, Any], str], Any]) -> Any:
    """Done once: what comes out of a result is not looked through for references."""
    if _is_reference(value):
        return value_of(value, where)
    if isinstance(value, Mapping):
        return {
            name: _replaced(member, f"{where}.{safe_to_repeat(name)}", value_of)
            for name, member in value.items()
        }
    if isinstance(value, list | tuple):
        return [_replaced(item, f"{where}[{number}]", value_of) for number, item in enumerate(value)]
    return value


def _value_of(reference: Mapping[str, Any], index: int, outcomes: Mapping[int, Mapping[str, Any]]) -> Any:
    number, field = _number(reference["from"]), reference["field"]
    if number is None or not isinstance(field, str) or not 0 < len(field) <= _LONGEST_FIELD:
        shape = f"from {received(reference['from'])}, field {received(field)}"
        raise _NoValue("from as the number of an earlier call, and field as a name in its result", shape)
    if number >= index:
        earlier = (
            f"an earlier call, from 0 to {index - 1}" if index else "a value: no call comes before this one"
        )
        raise _NoValue(f"{earlier} (calls are counted from 0)", f"from {number}")
    outcome = outcomes[number]
    if "result" not in outcome:
        came = "failed" if "error" in outcome else "was not made"
        raise _NoValue(f"the result of call {number}, which {came}", "no result")
    if outcome["result"].get("dry_run") is True:
        raise _NoValue(f"a value that is known only when call {number} is made", "a dry run")
    value = _at(field, outcome["result"], number)
    if value is None:
        raise _NoValue(f"a value, which {safe_to_repeat(field)} of call {number} has not", "null")
    if "truncated" in outcome["result"] and _may_be_cut(value):
        raise _NoValue(
            f"a whole value: the result of call {number} was cut. Give that call fields or more max_bytes, or make "
            "fewer calls at once",
            "a part",
        )
    return value


def _number(value: Any) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 4:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _at(field: str, result: Any, number: int) -> Any:
    """What is at a dotted path, such as `iid`, `author.id` or `items.0.iid`."""
    found, way = result, f"the result of call {number}"
    for step in field.split("."):
        if isinstance(found, Mapping) and step in found:
            found = found[step]
        elif isinstance(found, list) and (place := _number(step)) is not None and place < len(found):
            found = found[place]
        else:
            raise _NoValue(f"a field that is there: {way} has {_what_is_in(found)}", safe_to_repeat(field))
        way = safe_to_repeat(step)
    return found


def _what_is_in(value: Any) -> str:
    if isinstance(value, Mapping):
        names = [safe_to_repeat(name) for name in value if name not in ABOUT_THE_CALL][:_MOST_NAMED]
        return ", ".join(names) or "nothing"
    if isinstance(value, list):
        return f"0 to {len(value) - 1}" if value else "no items"
    return "nothing inside"


def _may_be_cut(value: Any) -> bool:
    return isinstance(value, Mapping | list) or (isinstance(value, str) and value.endswith(_CUT))


def _refusal(problems: Mapping[str, _NoValue]) -> Failure:
    listed = list(problems.items())[:_MOST_NAMED]
    named = ", ".join(where for where, _ in listed)
    return Failure(
        Code.INVALID_VALUE, f"There is no value for {named} in the calls before. This call was not made."
    ).knowing(
        invalid_fields=[
            {"field": where, "expected": problem.expected, "received": problem.received}
            for where, problem in listed
        ],
        more_problems=len(problems) - len(listed) or None,
        confidence="certain",
        suggested_fix="; ".join(f"for {where}: {problem.expected}" for where, problem in listed[:5]) + ".",
    )

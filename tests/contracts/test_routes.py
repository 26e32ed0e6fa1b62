"""Every action is held to what real GitLabs, of each version that was read, say its endpoints take; each difference
has its reason."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gitlab_mcp.actions.action import Action, Endpoint
from gitlab_mcp.actions.fields import Csv, Names, Only, SentAsNumber
from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.actions.shape import Shape, sent_name, shapes
from gitlab_mcp.api.endpoints import EndpointFacts, Parameter, find
from gitlab_mcp.api.versions import READ
from gitlab_mcp.workflows.counts import Countable
from tests.contracts.differences import DIFFERENCES
from tests.contracts.left_out import LEFT_OUT
from tests.support.for_each import for_each

JSON_TYPES = {
    "string": {"string", "datetime", "date", "any", "string|integer", "integer|string", "file"},
    "integer": {"integer", "any", "string|integer", "integer|string"},
    "number": {"float", "any", "integer"},
    "boolean": {"boolean", "any"},
    "object": {"object", "any", "JSON"},
}


def known_in(endpoint: Endpoint) -> dict[str, EndpointFacts]:
    """The endpoint in each version that has it and says its parameters."""
    found = {version: find(str(endpoint), version) for version in READ}
    return {version: known for version, known in found.items() if known and known.parameters is not None}


def differences(action: type[Action]) -> set[str]:
    """What the declaration says otherwise than GitLab, in words that are the keys of DIFFERENCES."""
    where = f"{action.spec.tool.name} {action.spec.name}"
    found = {f"{where}: {problem}" for problem in marks_that_are_wrong(action)}
    if any(
        {"run", "run_with"} & vars(base).keys()
        for base in action.__mro__
        if base not in (Action, Countable) and issubclass(base, Action)
    ):
        return found
    if not action.spec.endpoints:
        # It makes other calls, and each of them is held to this.
        return found
    fields = dict(shapes(action))
    known_anywhere: set[str] = set()
    unread = False
    for endpoint in action.spec.endpoints:
        versions = known_in(endpoint)
        if not versions:
            found.add(f"{where}: no route {endpoint}")
            unread = True
        for known in versions.values():
            params = known.parameters or {}
            required = [name for name, param in params.items() if param.required and "[" not in name]
            assert len(known.in_path) == len(endpoint.placeholders)
            sent = {
                sent_name(action, name): (name, shape)
                for name, shape in fields.items()
                if name not in endpoint.placeholders
            }
            for name in required:
                if name not in known.in_path and not (name in sent and sent[name][1].required):
                    found.add(f"{where}: {name} is required by GitLab")
            for key, (name, shape) in sent.items():
                if key in params:
                    known_anywhere.add(name)
                    values = {value for each in versions.values() for value in values_of(each, key)}
                    problems = mismatch(shape, params[key], values)
                    found.update(f"{where}: {name} {problem}" for problem in problems)
    placeholders = {name for endpoint in action.spec.endpoints for name in endpoint.placeholders}
    # What an endpoint takes that is not in the list cannot be known from the list.
    unknown = set() if unread else set(fields) - known_anywhere - placeholders
    return found | {f"{where}: {name} is not known to GitLab" for name in unknown}


def marks_that_are_wrong(action: type[Action]) -> Iterator[str]:
    """Where a field's `Only` does not say which versions have it."""
    endpoints = [known_in(endpoint) for endpoint in action.spec.endpoints]
    having_route = [version for version in READ if any(version in each for each in endpoints)]
    for name, shape in shapes(action).items():
        key = sent_name(action, name)
        having = [
            version
            for version in having_route
            if any(key in (each[version].parameters or {}) for each in endpoints if version in each)
        ]
        if not having:
            continue
        is_new, is_gone = having[0] != having_route[0], having[-1] != having_route[-1]
        right = Only(having[0] if is_new else None, having[-1] if is_gone else None)
        if (shape.mark(Only) or Only()) != right:
            yield f"{name} is since {right.since} until {right.until}"


def values_of(known: EndpointFacts, key: str) -> tuple[str, ...]:
    """A value that one version lacks it refuses by itself, with the list: no field needs a mark for it."""
    param = (known.parameters or {}).get(key)
    return param.values if param else ()


def mismatch(shape: Shape, param: Parameter, values: set[str]) -> list[str]:
    problems = []
    kind = param.type
    if numbers := shape.mark(SentAsNumber):
        shape = replace(shape, type="integer", values=tuple(map(str, numbers.numbers.values())))
    if shape.type == "array":
        if not (kind.startswith("array") or shape.mark(Csv) or kind == "any"):
            problems.append(f"is an array, GitLab takes {kind}")
    elif kind not in JSON_TYPES["integer" if shape.mark(Names) and kind == "integer" else shape.type]:
        problems.append(f"is {shape.type}, GitLab takes {kind}")
    if shape.values and param.values and (extra := set(shape.values) - values):
        problems.append(f"allows {sorted(extra)}")
    return problems


@for_each(Registry().names())
def test_a_tool_says_what_gitlab_says(tool: str) -> None:
    found = set()
    for action in Registry().tool(tool).actions.values():
        found |= differences(action)
    assert found - set(DIFFERENCES) == set(), (
        "mend the declaration, or write the line into tests/contracts/differences.py with the reason"
    )


def test_every_difference_is_still_one() -> None:
    found = {each for action in Registry().actions() for each in differences(action)}
    assert set(DIFFERENCES) - found == set(), "take these off tests/contracts/differences.py"


def left_out(action: type[Action]) -> set[str]:
    """The free parameters of a reading action's endpoints that it does not take, as the keys of LEFT_OUT."""
    taken = {sent_name(action, name) for name in shapes(action)}
    found: set[str] = set()
    for endpoint in action.spec.endpoints if not action.spec.writes else ():
        for known in known_in(endpoint).values():
            for name, param in (known.parameters or {}).items():
                if name not in known.in_path and name not in taken and not param.ee_only:
                    found.add(f"{action.spec.tool.name} {action.spec.name}: {name}")
    return found


@for_each(Registry().names())
def test_what_an_endpoint_can_filter_by_is_taken_or_left_out_on_purpose(tool: str) -> None:
    found = {each for action in Registry().tool(tool).actions.values() for each in left_out(action)}
    assert found - set(LEFT_OUT) == set(), (
        "take it into the action, or write it into tests/contracts/left_out.py with the reason"
    )


def test_everything_left_out_is_still_not_taken() -> None:
    found = {each for action in Registry().actions() for each in left_out(action)}
    assert set(LEFT_OUT) - found == set(), "take these off tests/contracts/left_out.py"

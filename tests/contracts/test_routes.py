"""Every action is held to what a real GitLab says its endpoints take; each difference has its reason."""

from __future__ import annotations

from gitlab_mcp.actions.action import Action
from gitlab_mcp.actions.fields import Csv, Names, SentAs
from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.actions.shape import Shape, sent_name, shapes
from gitlab_mcp.api.endpoints import Parameter, find
from tests.contracts.differences import DIFFERENCES
from tests.contracts.left_out import LEFT_OUT
from tests.support.for_each import for_each

VERSION = "17.2"
VERSIONS = ("17.2", "19.3")

JSON_TYPES = {
    "string": {"string", "datetime", "date", "any", "string|integer", "integer|string", "file"},
    "integer": {"integer", "any", "string|integer", "integer|string"},
    "number": {"float", "any", "integer"},
    "boolean": {"boolean", "any"},
    "object": {"object", "any", "JSON"},
}


def differences(action: type[Action]) -> set[str]:
    """What the declaration says otherwise than GitLab, in words that are the keys of DIFFERENCES."""
    found: set[str] = set()
    where = f"{action.spec.tool.name} {action.spec.name}"
    if not any(
        "run" in vars(base) for base in action.__mro__ if base is not Action and issubclass(base, Action)
    ):
        fields = dict(shapes(action))
        known_anywhere: set[str] = set()
        newer = False
        for endpoint in action.spec.endpoints:
            known = find(str(endpoint), VERSION)
            if known is None or known.parameters is None:
                found.add(f"{where}: no route {endpoint}")
                newer = True
                continue
            params = known.parameters
            required = [name for name, param in params.items() if param.required and "[" not in name]
            assert len(known.in_path) == len(endpoint.placeholders)
            sent = {
                (shape.mark(SentAs).name if shape.mark(SentAs) else name): (name, shape)
                for name, shape in fields.items()
                if name not in endpoint.placeholders
            }
            for name in required:
                if name not in known.in_path and not (name in sent and sent[name][1].required):
                    found.add(f"{where}: {name} is required by GitLab")
            for key, (name, shape) in sent.items():
                if key in params:
                    known_anywhere.add(name)
                    values = values_of(str(endpoint), key)
                    problems = mismatch(shape, params[key], values)
                    found.update(f"{where}: {name} {problem}" for problem in problems)
        placeholders = {name for endpoint in action.spec.endpoints for name in endpoint.placeholders}
        # What an endpoint takes that is not in the list cannot be known from the list.
        unknown = set() if newer else set(fields) - known_anywhere - placeholders
        for name in unknown:
            found.add(f"{where}: {name} is not known to GitLab")
    return found


def values_of(endpoint: str, key: str) -> set[str]:
    """What any version lists. A value that another version lacks it refuses by itself, with the list."""
    params = [(known.parameters or {}).get(key) for each in VERSIONS if (known := find(endpoint, each))]
    return {value for param in params if param for value in param.values}


def mismatch(shape: Shape, param: Parameter, values: set[str]) -> list[str]:
    problems = []
    kind = param.type
    if shape.type == "array":
        if not (kind.startswith("array") or shape.mark(Csv) or kind == "any"):
            problems.append(f"is an array, GitLab takes {kind}")
    elif kind not in JSON_TYPES["integer" if shape.mark(Names) and kind == "integer" else shape.type]:
        problems.append(f"is {shape.type}, GitLab takes {kind}")
    if shape.values and param.values:
        extra = set(shape.values) - values
        if extra:
            problems.append(f"allows {sorted(extra)}")
    return problems


@for_each(Registry().names())
def test_a_tool_says_what_gitlab_says(tool: str) -> None:
    found = set()
    for action in Registry().tool(tool).actions.values():
        found |= differences(action)
    assert found - set(DIFFERENCES) == set(), (
        "mend the declaration, or write the line into tests/contracts/differences.py with the reason. "
        f"An endpoint newer than GitLab {VERSION}, whose list this is, needs its `no route` line alone"
    )


def test_every_difference_is_still_one() -> None:
    found = {each for action in Registry().actions() for each in differences(action)}
    assert set(DIFFERENCES) - found == set(), "take these off tests/contracts/differences.py"


def left_out(action: type[Action]) -> set[str]:
    """The free parameters of a reading action's endpoints that it does not take, as the keys of LEFT_OUT."""
    taken = {sent_name(action, name) for name in shapes(action)}
    found: set[str] = set()
    for endpoint in action.spec.endpoints if not action.spec.writes else ():
        known = find(str(endpoint), VERSION)
        if known is None or known.parameters is None:
            continue
        for name, param in known.parameters.items():
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

"""The flat schema a client sees, from the actions' declarations.

Clients differ in what they can read: one `anyOf` at the root makes some of them drop the tool. So every field
appears once, with one plain type; which action takes it is said in words; the validator knows the rest.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Protocol

from gitlab_mcp.actions.action import Action, Danger
from gitlab_mcp.actions.call import Options
from gitlab_mcp.actions.danger import Risk
from gitlab_mcp.actions.fields import Only
from gitlab_mcp.actions.shape import Shape, required, shapes
from gitlab_mcp.actions.signatures import required_sentence, shared_by_all
from gitlab_mcp.actions.tool import Tool

_FULL_DETAIL = "detail=full"
"""Told by tools that read; what a write answers is short. It and the rest are taken everywhere, but told where needed
(a cut answer names max_bytes): a listing is paid for with every request."""

NEEDS_CONFIRMATION = (Danger.DESTRUCTIVE, Danger.DANGEROUS)
"""Such a call can be answered with a token that confirms it, so its tool lists the field."""

_SHOWN_VERBS = {"browse": "Read", "manage": "Change"}

ENOUGH_TO_SAY_ONCE = 4
"""Fields; fewer are cheaper to mark one by one."""

MOST_VALUES = 12
"""Of a field, that the listing names. Longer lists are states and kinds under GitLab's own words; whoever misses one is
told all."""

MOST_RISKS = 3
"""Fields of an action, that the listing names because a person is asked about some of their values."""

PAGE = "page"
"""Whatever lists takes it, and the number of items on one."""
_ITEMS_ON_A_PAGE = "per_page"

_ORDERS = ("order_by", "sort")
_NEGATES = "not_"
_BOUNDS = ("_after", "_before", "since", "until")


class Marks(Protocol):
    """What is said of tiers where the tool itself is free."""

    def of_actions(self, tool: Tool) -> list[str]:
        """Sentences for the description."""
        ...

    def of_field(self, tool: Tool, field: str, actions: list[str]) -> str:
        """For the description of a field that these actions take; empty where there is nothing to say."""
        ...


def catalogue_entry(tool: Tool, marks: Marks) -> dict[str, Any]:
    """One entry of catalogue.json."""
    also = {"also": list(tool.also)} if tool.also else {}
    single = {"action": next(iter(tool.actions))} if tool.is_single else {}
    moved = {
        name: [{"tool": old, "action": former} for old, former in action.spec.moved_from]
        for name, action in tool.actions.items()
        if action.spec.moved_from
    }
    return {
        "toolset": tool.toolset,
        **single,
        **also,
        **({"moved": moved} if moved else {}),
        "tool": listing(tool, marks),
    }


def listing(tool: Tool, marks: Marks) -> dict[str, Any]:
    return {
        "name": tool.name,
        "title": title(tool),
        "description": " ".join(filter(None, [description(tool, marks), *marks.of_actions(tool)])),
        "inputSchema": input_schema(tool, marks),
        "annotations": hints(tool),
    }


def title(tool: Tool) -> str:
    """For people: `Read merge requests`."""
    verb, _, noun = tool.name.partition("_")
    return " ".join(filter(None, (_SHOWN_VERBS.get(verb, verb.capitalize()), noun.replace("_", " "))))


def hints(tool: Tool) -> dict[str, Any]:
    """What may be done again, and which world is reached, is said where it is not what MCP assumes: not again, and a
    world outside."""
    if tool.makes_calls == "of any kind":
        # Clients that ask before a write must ask before it.
        return {"readOnlyHint": False, "destructiveHint": True}
    if tool.reads:
        reaches_gitlab = tool.makes_calls != "none" or any(
            action.spec.endpoints for action in tool.actions.values()
        )
        return {"readOnlyHint": True, **({} if reaches_gitlab else {"openWorldHint": False})}
    destroys = any(map(_may_need_confirmation, tool.actions.values()))
    again = all(action.spec.repeatable for action in tool.actions.values())
    return {
        "readOnlyHint": False,
        "destructiveHint": destroys,
        **({"idempotentHint": True} if again else {}),
    }


def description(tool: Tool, marks: Marks) -> str:
    """What the tool is for, what those actions do whose names do not say it, what each requires beyond what all do,
    whose the unmarked fields are, and which fields more there are."""
    needs = {name: required_fields(action) for name, action in tool.actions.items()}
    shared = shared_by_all(list(needs.values()))
    needed = required_sentence(
        {name: [field for field in fields if field not in shared] for name, fields in needs.items()}
    )
    places = [f"Give {field.replace('|', ' or ')}." for field in shared if "|" in field]
    unmarked = _unmarked(tool)
    notes = [f"Unmarked fields are for {unmarked}."] if unmarked else []
    said = [tool.about, *_lines(tool), needed, *places, *notes, _more(tool, marks), _options(tool)]
    return " ".join(filter(None, said))


def _lines(tool: Tool) -> list[str]:
    return [f"{name}: {line(action)}" for name, action in tool.actions.items() if action.spec.has_line]


def line(action: type[Action]) -> str:
    """What an action does: the first sentence of its docstring."""
    sentence, end, _ = " ".join((action.__doc__ or "").split()).partition(".")
    return sentence[:1].lower() + sentence[1:] + end


def _more(tool: Tool, marks: Marks) -> str:
    """The optional fields that are only named: whose type the name says, or that are seldom given."""
    by_takers: dict[str, list[str]] = {}
    for name, users in _fields(tool).items():
        if not is_named_only(name, users, tool) or name == _ITEMS_ON_A_PAGE:
            continue
        takers = ", ".join(users) if len(users) < len(tool.actions) or len(users) == 1 else "all"
        text = next((shape.description for shape in users.values() if shape.description), "")
        said = "; ".join(filter(None, (text, marks.of_field(tool, name, list(users)))))
        by_takers.setdefault(takers, []).append(f"{name} ({said})" if said else name)
    more = "; ".join(f"{takers}({', '.join(_joined(names))})" for takers, names in by_takers.items())
    return f"More: {more}." if more else ""


def _joined(names: list[str]) -> list[str]:
    """Names that begin or end alike as one: `{created,updated}_{after,before}`, `not_{labels,milestone}`."""
    starts = [name.removesuffix("_after") for name in names if name.endswith("_after")]
    both = [start for start in starts if f"{start}_before" in names]
    negated = [name.removeprefix(_NEGATES) for name in names if name.startswith(_NEGATES)]
    rest = [
        name
        for name in names
        if name.removesuffix("_after").removesuffix("_before") not in both
        and name.removeprefix(_NEGATES) not in negated
    ]
    times = [f"{_one_of(both)}_{{after,before}}"] if both else []
    return [*rest, *times, *([f"{_NEGATES}{_one_of(negated)}"] if negated else [])]


def _one_of(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{{{','.join(parts)}}}"


def _options(tool: Tool) -> str:
    pages = [_ITEMS_ON_A_PAGE] if _ITEMS_ON_A_PAGE in _fields(tool) else []
    options = [*pages, *([_FULL_DETAIL] if tool.reads and not tool.is_single else [])]
    return f"Options: {', '.join(options)}." if options else ""


def is_named_only(name: str, users: Mapping[str, Shape], tool: Tool) -> bool:
    """What sorts, negates or bounds a time, what only some versions of GitLab take, and what an action declares to be
    seldom given: the listing has its name and no schema."""
    if any(_is_in_signature(name, tool.actions[each]) for each in users):
        return False
    if name == _ITEMS_ON_A_PAGE:
        return True
    by_name = name in _ORDERS or name.startswith(_NEGATES) or name.endswith(_BOUNDS)
    return all(
        by_name or shape.mark(Only) or name in tool.actions[each].spec.seldom_given
        for each, shape in users.items()
    )


def required_fields(action: type[Action]) -> list[str]:
    """What a call must hold; alternatives are joined by a bar: `project_id|group_id`."""
    fields = required(action)
    named_by = [name.split("+") for name in action.named_by]
    ways = named_by or [list(endpoint.placeholders) for endpoint in action.spec.endpoints]
    places = [[name for name in way if name not in fields] for way in ways]
    if places and all(places):
        # What another alternative needs and more is no alternative of its own.
        least = [place for place in places if not any(set(other) < set(place) for other in places)]
        fields.insert(0, "|".join(dict.fromkeys("+".join(place) for place in least)))
    if action.needs_one_of:
        fields.append("|".join(action.needs_one_of))
    return fields


def listed_fields(action: type[Action]) -> list[str]:
    """The fields of an action as its tool's schema shows them."""
    options = [name for name in listed_options(action.spec.tool) if name not in shapes(action)]
    return [*shapes(action), *options]


def listed_options(tool: Tool) -> list[str]:
    destroys = any(map(_may_need_confirmation, tool.actions.values()))
    return [
        *(["detail"] if tool.reads and not tool.is_single else []),
        *(["confirmation_token"] if destroys else []),
    ]


def _may_need_confirmation(action: type[Action]) -> bool:
    return action.spec.writes and (action.spec.danger in NEEDS_CONFIRMATION or bool(_risky_fields(action)))


def _risky_fields(action: type[Action]) -> list[str]:
    """The fields of which a person is asked about some values."""
    return [
        name
        for name, shape in shapes(action).items()
        if any(isinstance(mark, Risk) and mark.danger in NEEDS_CONFIRMATION for mark in shape.marks)
    ]


def _asks_for_a_yes(tool: Tool) -> Iterator[str]:
    """The actions that a person is asked about, some only with some values: `submit_review(verdict)`."""
    for name, action in tool.actions.items():
        if not _may_need_confirmation(action):
            continue
        fields = [] if action.spec.danger in NEEDS_CONFIRMATION else _risky_fields(action)
        yield f"{name}({', '.join(fields)})" if 0 < len(fields) <= MOST_RISKS else name


def always_required(tool: Tool) -> list[str]:
    """The fields that every action of the tool requires."""
    return shared_by_all([required(action) for action in tool.actions.values()])


def input_schema(tool: Tool, marks: Marks) -> dict[str, Any]:
    named = {} if tool.is_single else {"action": {"type": "string", "enum": list(tool.actions)}}
    properties: dict[str, Any] = {**named}
    for name, users in _fields(tool).items():
        if is_named_only(name, users, tool):
            continue
        properties[name] = _property(name, users, tool)
        if mark := marks.of_field(tool, name, list(users)):
            said = properties[name].get("description")
            properties[name]["description"] = f"{said} ({mark})" if said else mark
    for name in listed_options(tool):
        if name == "detail":
            continue
        asks = f"After a yes to {', '.join(_asks_for_a_yes(tool))}"
        properties.setdefault(name, {**_plain(shapes(Options)[name]), "description": asks})
    return {"type": "object", "properties": properties, "required": [*named, *always_required(tool)]}


def _fields(tool: Tool) -> dict[str, dict[str, Shape]]:
    """Each field of the tool with the actions that take it."""
    fields: dict[str, dict[str, Shape]] = {}
    for action_name, action in tool.actions.items():
        for name, shape in shapes(action).items():
            fields.setdefault(name, {})[action_name] = shape
    return fields


def _property(name: str, users: dict[str, Shape], tool: Tool) -> dict[str, Any]:
    types = {shape.type for shape in users.values()}
    if len(types) > 1:
        raise TypeError(f"{tool.name}: one field has the types {sorted(types)} in {sorted(users)}")
    first = next(iter(users.values()))
    schema = _plain(first)
    if all(shape.values for shape in users.values()):
        schema["enum"] = list(
            dict.fromkeys(value for shape in users.values() for value in _plain(shape)["enum"])
        )
    else:
        schema.pop("enum", None)
    if len(schema.get("enum", ())) > MOST_VALUES:
        schema.pop("enum")
    text = next((shape.description for shape in users.values() if shape.description), "")
    if said := ". ".join(filter(None, (text, _note(name, users, tool)))):
        schema["description"] = said
    return schema


def _note(name: str, users: Collection[str], tool: Tool) -> str:
    """Whose the field is, where neither the signatures nor the sentence about fields without a note say it."""
    takers = _takers(name, users, tool)
    if not takers or name == PAGE:
        return ""
    others = [each for each in tool.actions if each not in users]
    is_in_some = any(_is_in_signature(name, tool.actions[each]) for each in users)
    if not others:
        return "For all" if is_in_some or _unmarked(tool) else ""
    if is_in_some:
        return f"Also for {takers}"
    if takers == _unmarked(tool):
        return ""
    return min(f"For {takers}", f"Not for {', '.join(others)}", key=len)


def _takers(name: str, users: Iterable[str], tool: Tool) -> str:
    """The actions that take the field and whose signature in the description does not name it."""
    return ", ".join(each for each in users if not _is_in_signature(name, tool.actions[each]))


def _is_in_signature(name: str, action: type[Action]) -> bool:
    return any(name in re.split(r"[|+]", field) for field in required_fields(action))


def _unmarked(tool: Tool) -> str:
    """The actions that most of the optional fields are for. Said once, in the tool's description, where there are
    enough of them; those of list where it has some."""
    counts = Counter(
        _takers(name, users, tool)
        for name, users in _fields(tool).items()
        if name != PAGE and len(users) < len(tool.actions) and not is_named_only(name, users, tool)
    )
    del counts[""]
    said_once = [note for note, count in counts.items() if note == "list" or count >= ENOUGH_TO_SAY_ONCE]
    of_list = [note for note in said_once if note.partition(",")[0] == "list"]
    return max(of_list or said_once, key=lambda note: counts[note], default="")


def _plain(shape: Shape) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": shape.type}
    if shape.values:
        schema["enum"] = [int(value) if shape.type == "integer" else value for value in shape.values]
    if shape.items is not None:
        schema["items"] = _plain(shape.items)
    if shape.members:
        schema["properties"] = {name: _plain(member) for name, member in shape.members}
        schema["required"] = list(shape.required_members)
    if shape.description:
        schema["description"] = shape.description
    return schema

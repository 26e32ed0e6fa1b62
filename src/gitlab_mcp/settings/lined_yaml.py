"""YAML in which every value knows its line, and every value is a text, a list or a mapping.

Nothing is guessed: `no` and `0042` are what was written. Anchors, aliases and tags are refused, so that what is read is
as large as the file; so is a key that is there twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

_DEEPEST: Final = 8


@dataclass(frozen=True, slots=True)
class Node:
    line: int
    value: str | list[Node] | dict[str, Node]


class NotReadable(ValueError):
    def __init__(self, line: int, what: str) -> None:
        super().__init__(what)
        self.line = line
        self.what = what


def read(text: str) -> Node:
    """The one document. Raises NotReadable."""
    # Here, not above: few servers have a file of this kind.
    import yaml

    try:
        # Event by event: what is refused is not read to its end.
        return _document(yaml.parse(text, Loader=yaml.CSafeLoader))
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise NotReadable(line, f"it is no YAML: {error.problem}") from None
    except yaml.YAMLError:
        raise NotReadable(1, "it is no YAML: it holds a character that is not allowed") from None


def _document(events: Iterator[Any]) -> Node:
    import yaml

    found: Node | None = None
    for event in events:
        if isinstance(event, yaml.DocumentStartEvent):
            if found is not None:
                raise NotReadable(_line(event), "there is a second document")
            found = _node(next(events), events, 0)
    if found is None:
        raise NotReadable(1, "it is empty")
    return found


def _line(event: Any) -> int:
    return int(event.start_mark.line) + 1


def _node(event: Any, events: Iterator[Any], depth: int) -> Node:
    import yaml

    line = _line(event)
    if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
        raise NotReadable(line, "anchors and aliases (& and *) are not taken: write it out, or in quotes")
    if event.tag is not None:
        raise NotReadable(line, "tags (!) are not taken: write it without, or in quotes")
    if isinstance(event, yaml.ScalarEvent):
        return Node(line, event.value)
    if depth == _DEEPEST:
        raise NotReadable(line, "it is nested too deeply")
    if isinstance(event, yaml.SequenceStartEvent):
        entries = []
        while not isinstance(inner := next(events), yaml.SequenceEndEvent):
            entries.append(_node(inner, events, depth + 1))
        return Node(line, entries)
    members: dict[str, Node] = {}
    while not isinstance(inner := next(events), yaml.MappingEndEvent):
        key = _node(inner, events, depth + 1)
        if not isinstance(key.value, str):
            raise NotReadable(key.line, "a key is no text")
        if key.value in members:
            raise NotReadable(key.line, f"{key.value!r} is there twice")
        members[key.value] = _node(next(events), events, depth + 1)
    return Node(line, members)

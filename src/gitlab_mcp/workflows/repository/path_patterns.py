"""Path patterns as CODEOWNERS has them, matched without going back: the work grows with both lengths and no faster.

`*` stands for any part of a name, `?` for one character, `[a-z]` for one of those, `**/` for any directories.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Final

LONGEST_PATTERN: Final = 4096
"""As long as the longest path that git takes on most systems."""
_LETTERS_LIKE_A_NAME: Final = 100
"""So many letters compared are as much work as one name."""
_LISTED: Final = re.compile(r"\[([!^]?)((?:\\.|[^\]\\])+)\]")
_STAR: Final = object()
_ANY_DIRECTORIES: Final = None


class TooMuchWork(Exception):
    """More names were compared than is allowed."""


class Work:
    """How many names may still be compared, for all paths and patterns of one call."""

    def __init__(self, most: int) -> None:
        self.left = most

    def spend(self, comparisons: int) -> None:
        self.left -= comparisons
        if self.left < 0:
            raise TooMuchWork


class _Name:
    """The pattern of one name between slashes."""

    def __init__(self, parts: Sequence[object]) -> None:
        self._parts = parts
        self._literal = (
            None
            if any(isinstance(part, re.Pattern) or part is _STAR for part in parts)
            else "".join(map(str, parts))
        )

    def matches(self, name: str, work: Work) -> bool:
        if self._literal is not None:
            work.spend(1)
            return name == self._literal
        work.spend(1 + len(self._parts) * len(name) // _LETTERS_LIKE_A_NAME)
        return self._regex.fullmatch(name) is not None

    @cached_property
    def _regex(self) -> re.Pattern[str]:
        """Between two stars there are as many characters as places. So the first fit is as good as any other, and an
        atomic group keeps the engine from trying others."""
        groups = [
            list(group) for is_star, group in groupby(self._parts, lambda part: part is _STAR) if not is_star
        ]
        pieces = ["".join(_as_regex(part) for part in group) for group in groups]
        starts, ends = self._parts[0] is not _STAR, self._parts[-1] is not _STAR
        if len(self._parts) == len(groups[0] if groups else ()):
            return re.compile(pieces[0], re.DOTALL)
        first = pieces.pop(0) if starts else ""
        last = pieces.pop() if ends else ""
        middle = "".join(f"(?>.*?{piece})" for piece in pieces)
        return re.compile(f"{first}{middle}.*{last}", re.DOTALL)


def _as_regex(part: object) -> str:
    return part.pattern if isinstance(part, re.Pattern) else re.escape(str(part))


@dataclass(frozen=True)
class PathPattern:
    blocks: tuple[tuple[_Name, ...], ...]
    """The names between `**/`. The first block is at the beginning of the path, the last at its end."""

    def matches(self, path: Sequence[str], work: Work) -> bool:
        """`path` is split at its slashes."""
        first, *others = self.blocks
        if not others:
            return len(path) == len(first) and _fits(first, path, 0, work)
        *middle, last = others
        if not _fits(first, path, 0, work):
            return False
        position, end = len(first), len(path) - len(last)
        for block in middle:
            while position + len(block) <= end and not _fits(block, path, position, work):
                if not path[position]:
                    return False
                position += 1
            position += len(block)
        return position <= end and all(path[position:end]) and _fits(last, path, end, work)


def _fits(block: Sequence[_Name], path: Sequence[str], position: int, work: Work) -> bool:
    if position < 0 or position + len(block) > len(path):
        return False
    return all(name.matches(path[position + offset], work) for offset, name in enumerate(block))


def path_pattern(pattern: str) -> PathPattern:
    """Of a pattern that begins with a slash. Raises TooMuchWork for one that is longer than any path."""
    if len(pattern) > LONGEST_PATTERN:
        raise TooMuchWork
    blocks: list[tuple[_Name, ...]] = []
    block: list[_Name] = []
    for parts in _names(pattern.removeprefix("/")):
        if parts is _ANY_DIRECTORIES:
            blocks.append(tuple(block))
            block = []
        else:
            block.append(_Name(parts))
    return PathPattern((*blocks, tuple(block)))


def _names(pattern: str) -> Iterator[list[object] | None]:
    """The parts of each name: characters, stars, and regular expressions of one character."""
    position, parts = 0, list[object]()
    while position < len(pattern):
        character = pattern[position]
        if (
            not parts
            and pattern.startswith("**/", position)
            and pattern[position - 1 : position] in ("", "/")
        ):
            yield _ANY_DIRECTORIES
            position += 3
        elif pattern.startswith(("/", "\\/"), position):
            yield parts
            parts = []
            position += 1 + (character == "\\")
        elif character == "*":
            if not parts or parts[-1] is not _STAR:
                parts.append(_STAR)
            position += 1
        elif character == "?":
            parts.append(_ONE_CHARACTER)
            position += 1
        elif character == "[" and (listed := _LISTED.match(pattern, position)):
            parts.append(re.compile(f"[{'^' if listed[1] else ''}{_characters(listed[2])}]", re.DOTALL))
            position = listed.end()
        elif character == "\\" and position + 1 < len(pattern):
            parts.append(pattern[position + 1])
            position += 2
        else:
            parts.append(character)
            position += 1
    yield parts


_ONE_CHARACTER: Final = re.compile(".", re.DOTALL)


def _characters(listed: str) -> str:
    """What is between brackets, escaped for Python; a dash still means a range."""
    escaped = re.sub(r"[\[\]\\^&~|]", lambda found: "\\" + found[0], re.sub(r"\\(.)", r"\1", listed))
    # A range that ends before it begins matches nothing in GitLab, and is an error in Python.
    return re.sub(
        r"([^\\])-(.)",
        lambda found: found[0] if found[1] <= found[2] else found[0].replace("-", r"\-"),
        escaped,
    )

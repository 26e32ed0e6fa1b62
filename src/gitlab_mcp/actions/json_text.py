"""Reads JSON of strangers. Its values are counted before any of them is made: many small values take Python some thirty
times the bytes of the text, and what is nested without end breaks whatever walks through it."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from threading import Lock
from typing import Any, Final

DEEPEST: Final = 64
"""GitLab's own answers have some ten levels."""

_COPIES_OF_TEXT: Final = 5
"""While it is cleaned, searched for secrets, cut and written out. Measured with `benchmarks/memory.py`."""
_BYTES_PER_CONTAINER: Final = 200
_BYTES_PER_VALUE: Final = 90
_STRUCTURE: Final = b'[]{},"'
_PIECE_BYTES: Final = 64 * 1024
_LARGE: Final = 512 * 1024
_ONE_LARGE: Final = Lock()
_OTHERS: Final = bytes(byte for byte in range(256) if byte not in _STRUCTURE)
_STRING: Final = re.compile(rb'"[^"]*"')
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


class TooDeep(ValueError):
    """It is nested more than `DEEPEST` levels deep."""


@dataclass(frozen=True, slots=True)
class JsonSize:
    """What a text would become. Made without reading it, and in time that grows with its length alone."""

    bytes: int
    values: int
    """In all arrays and objects."""
    containers: int
    deep: bool
    """Nested too deeply, or no JSON at all."""

    @property
    def memory(self) -> int:
        """How many bytes the values take at most, strings and their copies included."""
        values = self.containers * _BYTES_PER_CONTAINER + (self.values + 1) * _BYTES_PER_VALUE
        return self.bytes * _COPIES_OF_TEXT + values


def measure(content: bytes | bytearray) -> JsonSize:
    """Of large ones one at a time: for a text of brackets alone it takes some copies."""
    if len(content) < _LARGE:
        return _measure(content)
    with _ONE_LARGE:
        return _measure(content)


def _measure(content: bytes | bytearray) -> JsonSize:
    structure = _without_strings(_without_letters(content))
    containers = structure.count(b"[") + structure.count(b"{")
    values = structure.count(b",") + containers
    brackets = structure.translate(None, b",")
    for _ in range(DEEPEST):
        if not brackets:
            break
        # Takes away the innermost of each, so that as many rounds are needed as there are levels.
        brackets = brackets.replace(b"[]", b"").replace(b"{}", b"")
    return JsonSize(len(content), values, containers, deep=bool(brackets))


def _without_letters(content: bytes | bytearray) -> bytearray:
    """Brackets, commas and quotes, those of escapes left out. Piece by piece, so that there is no second copy."""
    rest, start = bytearray(), 0
    while start < len(content):
        end = start + _PIECE_BYTES
        while content[end - 1 : end] == b"\\":
            end += 1
        piece = content[start:end]
        if b"\\" in piece:
            piece = piece.replace(b"\\\\", b"").replace(b'\\"', b"")
        rest += piece.translate(None, _OTHERS)
        start = end
    return rest


def _without_strings(structure: bytes | bytearray) -> bytearray:
    """Piece by piece: a list of all strings would take more memory than is saved."""
    rest, start = bytearray(), 0
    while start < len(structure):
        end = start + _PIECE_BYTES
        if structure.count(b'"', start, end) % 2:
            closing = structure.find(b'"', end)
            end = len(structure) if closing < 0 else closing + 1
        rest += _STRING.sub(b"", structure[start:end])
        start = end
    return rest


def parse(text: str | bytes | bytearray, *, deep: bool = False) -> Any:
    """The value. Raises TooDeep, and ValueError for what is no JSON: NaN and infinite numbers are none.

    `deep` is what `measure` said of it.
    """
    try:
        value = json.loads(text, parse_constant=_refuse, parse_float=_finite)
    except RecursionError:
        raise TooDeep from None
    if deep:
        raise TooDeep
    return value


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("a number beyond all bounds")
    return number


def without_lone_surrogates(value: Any) -> Any:
    """`"\\ud800"` is valid JSON, but the string cannot be encoded as UTF-8 when it is written out."""
    if isinstance(value, str):
        return _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", value)
    if isinstance(value, list):
        return [without_lone_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {without_lone_surrogates(key): without_lone_surrogates(item) for key, item in value.items()}
    return value

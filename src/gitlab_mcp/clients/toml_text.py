"""TOML in which one table is set or taken out, with comments and the order of everything else."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

import tomlkit
from tomlkit.items import InlineTable, Table


def parsed(text: str) -> Any:
    return tomllib.loads(text)


def with_value(text: str, path: Sequence[str], value: Mapping[str, Any]) -> str:
    document = tomlkit.parse(text)
    *parents, name = path
    place: Any = document
    for key in parents:
        if key not in place:
            place[key] = tomlkit.table(is_super_table=True)
        place = place[key]
    if name in place:
        # In its place and in its form, whichever of TOML's that is.
        for gone in [key for key in place[name] if key not in value]:
            del place[name][gone]
        for key, each in value.items():
            if key not in place[name] or place[name][key] != each:
                place[name][key] = _item(each)
    else:
        place[name] = _item(value) if isinstance(place, InlineTable) else _table(value)
    return tomlkit.dumps(document)


def without(text: str, path: Sequence[str]) -> str:
    document = tomlkit.parse(text)
    *parents, name = path
    place: Any = document
    for key in parents:
        place = place[key]
    del place[name]
    return tomlkit.dumps(document)


def _table(value: Mapping[str, Any]) -> Table:
    table = tomlkit.table()
    for key, each in value.items():
        table[key] = _item(each)
    return table


def _item(value: Any) -> Any:
    if isinstance(value, Mapping):
        inline = tomlkit.inline_table()
        inline.update({key: _item(each) for key, each in value.items()})
        return inline
    return tomlkit.item(value)

"""Values that every row of a list has alike, once on top under `every_item` in place of once a row.

Only the JSON that a model reads has it: what the command line prints, and what people read, keeps whole rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

EVERY_ITEM: Final = "every_item"
_FEWEST_ROWS: Final = 3
_DEEPEST: Final = 4
"""How far down a list is looked for: in the results of a batch, inside of an envelope."""
_STAYS_IN_THE_ROW: Final = frozenset(
    ("iid", "id", "title", "name", "username", "tag_name", "path", "path_with_namespace", "full_path", "slug")
)
"""What a row is known by, also where all rows happen to have the same."""


def with_common_values(data: Any, depth: int = 0) -> Any:
    """The same facts with `every_item` before the rows of each list that has some."""
    if depth > _DEEPEST or data is None or isinstance(data, (str, int, float)):
        return data
    if isinstance(data, list):
        return [with_common_values(item, depth + 1) for item in data]
    if not isinstance(data, (dict, Mapping)):
        return data
    shorter: dict[str, Any] = {}
    for name, value in data.items():
        if value is None or isinstance(value, (str, int, float)):
            shorter[name] = value
            continue
        rows = with_common_values(value, depth + 1)
        if name == "items" and (common := _common(rows)):
            shorter[EVERY_ITEM] = common
            rows = [{key: row[key] for key in row if key not in common} for row in rows]
        shorter[name] = rows
    return shorter


def _common(rows: Any) -> dict[str, Any]:
    """The members with one value in all rows. Nothing where rows would have nothing of their own left."""
    if (
        not isinstance(rows, list)
        or len(rows) < _FEWEST_ROWS
        or not all(isinstance(row, (dict, Mapping)) for row in rows)
    ):
        return {}
    first = rows[0]
    common = {
        name: value
        for name, value in first.items()
        if name not in _STAYS_IN_THE_ROW
        and all(name in row and _is_same(row[name], value) for row in rows[1:])
    }
    return common if all(len(row) > len(common) for row in rows) else {}


def _is_same(one: Any, other: Any) -> bool:
    # Python takes True for 1.
    return type(one) is type(other) and bool(one == other)

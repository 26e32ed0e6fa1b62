"""The rows: every operation that no tool has an action for, each a line of `rows.jsonl`. Read when one is called.

scripts/generate.py writes the lines from `endpoints.jsonl`, by the rules of `row_names.py`, `row_sentences.py`,
`row_dangers.py` and `row_toolsets.py`. A line says what follows from rules:

name        `project_badge.create`
endpoint    in `endpoints.jsonl`, which knows the parameters
does        one sentence
danger      read, reversible, destructive or dangerous
toolset     whose tools it would be beside
feature     the key in tier_features.yaml, where the whole endpoint is paid; else
tier        what the page of the documentation says, where that is paid
since       the first version of GitLab that is known to have it, where not all do; until: the last
look        where to look whether it happened, when its answer was lost: an action, and its fields
once        the members of the answer that are secrets which GitLab shows this once
raw         true where the answer is a file, or plain text, and no JSON
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

DATA: Final = "rows.jsonl"


@dataclass(frozen=True, slots=True)
class Row:
    name: str
    endpoint: str
    does: str
    danger: str
    toolset: str
    feature: str | None = None
    tier: str | None = None
    """Premium or Ultimate according to the documentation, of what the feature map does not know."""
    since: str | None = None
    until: str | None = None
    look: str | None = None
    """`browse_project_details badges project_id`: the tool and action that shows it, and its fields."""
    once: str = ""
    raw: bool = False

    @property
    def noun(self) -> str:
        return self.name.partition(".")[0]

    @property
    def verb(self) -> str:
        return self.name.partition(".")[2]

    def line(self) -> dict[str, Any]:
        """As it is written down."""
        told = {name: getattr(self, name) for name in Row.__dataclass_fields__}
        return {name: value for name, value in told.items() if value}


@cache
def all_rows() -> Mapping[str, Row]:
    """By name, in the order of names."""
    text = Path(__file__).with_name(DATA).read_text("utf-8")
    return {row.name: row for row in (Row(**json.loads(line)) for line in text.splitlines())}


@cache
def rows_by_noun() -> Mapping[str, Mapping[str, Row]]:
    """By noun and verb."""
    nouns: dict[str, dict[str, Row]] = {}
    for row in all_rows().values():
        nouns.setdefault(row.noun, {})[row.verb] = row
    return nouns

"""Tables about GitLab's REST API that the catalogue is checked against.

`routes`: every route of 17.2 with its parameters. `endpoints`: every documented endpoint of 18.9 with its
tier. `roles_switches`: the least role and the project switch of endpoints, measured. `parameter_tiers`: the
documented parameters above Free; `parameter_tiers_measured`: what sending them to an EE without a licence and to
a CE did. `graphql`: types, fields and arguments of 17.2's GraphQL, and which of them only EE has.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

_HERE = Path(__file__).parent


def facts(name: str) -> Any:
    (path,) = _HERE.glob(f"{name}.json*.gz")
    text = gzip.decompress(path.read_bytes()).decode()
    return [json.loads(line) for line in text.splitlines()] if ".jsonl" in path.name else json.loads(text)

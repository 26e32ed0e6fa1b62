"""Exchanges with a real GitLab 17.2 and 19.3, with the true cause of each mistake where it is known.

`errors` are mistakes made on purpose, `tiers_*` paid features, `params_*` paid parameters, `graphql_*` what
agents ask there, `detect_*` probes for edition, tier and token, `context_*` what each caller of `errors` and
`tiers_*` can read of the projects and groups they touch. `*_ee` (and `errors`) is an Enterprise Edition
without a licence, `*_ce` the Community Edition. 19.3 has no `graphql_*`, but `refused_writes`: refusals met
in the life cycles of everyday nouns. Its Gitaly and Workhorse were stand-ins: bodies that begin with a number
and a colon are theirs. `scripts/make_cassettes.py` writes the files.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

_HERE = Path(__file__).parent
_END = ".jsonl.gz"


def recorded_names(version: str) -> list[str]:
    return sorted(file.name.removesuffix(_END) for file in (_HERE / version).glob(f"*{_END}"))


def rows(name: str, version: str = "17.2") -> list[dict[str, Any]]:
    """Each `{label, actor, method, path, status, headers, body}`, and where there is one `route`, `request`,
    `request_headers`, `truth`, `unfair`, `note`."""
    text = gzip.decompress((_HERE / version / f"{name}{_END}").read_bytes()).decode()
    return [json.loads(line) for line in text.splitlines()]

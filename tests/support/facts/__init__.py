"""Evidence about GitLab that the tests hold this server against.

`parameter_tiers`: the documented parameters above Free, of 18.9. `parameter_tiers_measured`: what sending them to an EE
without a licence and to a CE did. `measured_switches`: by endpoint, the project switches whose turning off changed the
owner's answer, with the status of that answer. `licensed_plans`: by name, the plan that GitLab 19.3's code sells each
licensed feature in, of those that GraphQL tells of. `gitlab_com_free`: by feature, what the code of 18.9 answers a Free
namespace of GitLab.com. `graphql_*`: types, fields and arguments of a version's GraphQL, and which of them only EE has
(scripts/make_graphql.py). What the server itself needs to know of endpoints is in `gitlab_mcp.api`.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

_HERE = Path(__file__).parent


def facts(name: str) -> Any:
    (path,) = _HERE.glob(f"{name}.json*")
    return json.loads(gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes())

"""GitLab's full reference of a thing: `acme/website#7` is an issue, `acme/website!3` a merge request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def project_of(thing: Mapping[str, Any]) -> str:
    """The path of its project; nothing where GitLab does not tell."""
    references = thing.get("references")
    full = references.get("full") if isinstance(references, Mapping) else None
    return full.rpartition("!" if "!" in full else "#")[0] if isinstance(full, str) else ""

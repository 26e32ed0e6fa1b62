"""Refs as people write them: GitLab keeps the `main` of a schedule as `refs/heads/main`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def with_short_ref(body: Mapping[str, Any]) -> dict[str, Any]:
    ref = body.get("ref")
    short = ref.removeprefix("refs/heads/").removeprefix("refs/tags/") if isinstance(ref, str) else ref
    return {**body, "ref": short}

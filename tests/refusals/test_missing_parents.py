"""Which thing is missing: what may be asked to find out."""

from __future__ import annotations

from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.api.endpoints import find
from gitlab_mcp.refusals.missing import NOT_READABLE_ALONE


def test_only_what_gitlab_can_read_alone_is_asked_for() -> None:
    asked = set()
    for action in Registry().actions():
        for endpoint in action.spec.endpoints:
            first, *more = [
                name for name in endpoint.placeholders if name not in ("project_id", "group_id")
            ] or [""]
            before, _, behind = endpoint.path.partition("{" + first + "}")
            if more and behind.startswith("/") and first not in NOT_READABLE_ALONE:
                asked.add(f"GET {before}{{{first}}}")
    assert len(asked) > 10
    assert [endpoint for endpoint in sorted(asked) if find(endpoint) is None] == []

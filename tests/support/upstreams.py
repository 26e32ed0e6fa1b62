from __future__ import annotations

from typing import Any

from gitlab_mcp.gitlab.client import Timeouts, Upstream


def upstream_at(
    url: str, *, connect: float = 5.0, read: float = 30.0, deadline: float = 50.0, **options: Any
) -> Upstream:
    """A GitLab with timeouts that no test reaches unless it is about them."""
    return Upstream(url, Timeouts(connect, read, deadline), **options)


async def everywhere(project_id: int) -> bool:
    """Of a server that is not limited to some places: a call may reach every project."""
    return True

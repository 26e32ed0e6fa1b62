"""A question about the caller's own access. It is answered from what this server knows, not by one request."""

from __future__ import annotations

from typing import Literal

from gitlab_mcp.actions.action import Action
from gitlab_mcp.actions.fields import GroupId, ProjectId

Toolset = Literal[
    "core", "planning", "ci", "delivery", "knowledge", "access", "security", "insight", "admin", "all"
]


class AboutAccess(Action):
    """What dispatch hands to `errors.access` in the place of running it."""

    project_id: ProjectId | None = None
    group_id: GroupId | None = None
    toolset: Toolset | None = None

"""The scopes that a token of GitLab can have."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from gitlab_mcp.actions.fields import Expects, Listed

TokenScope = Literal[
    "api",
    "read_api",
    "read_user",
    "create_runner",
    "manage_runner",
    "k8s_proxy",
    "self_rotate",
    "mcp",
    "read_repository",
    "write_repository",
    "read_virtual_registry",
    "write_virtual_registry",
    "read_observability",
    "write_observability",
    "ai_features",
    "sudo",
    "admin_mode",
    "read_service_ping",
    "granular",
    "mcp_orbit",
]
Scopes = Annotated[list[TokenScope], Field(min_length=1), Listed, Expects("an array of scopes")]

"""Deploy tokens and deploy keys."""

from __future__ import annotations

from gitlab_mcp.actions.action import GET
from gitlab_mcp.actions.fields import Flag, Id
from gitlab_mcp.actions.scopes import InProject, InProjectOrGroup, Paged
from gitlab_mcp.actions.tool import Tool

browse = Tool(
    "browse_deploy_access",
    "Read deploy tokens and deploy keys; never their secret values.",
    toolset="access",
    also=("deploy token", "deploy key", "deployment key"),
    instead={"list": "list_tokens", "get": "get_token"},
)

TOKEN = "id name username scopes expires_at revoked:mark expired:mark"
KEY = (
    "id title can_push expires_at fingerprint_sha256 last_used_at:date"
    " | key created_at projects_with_write_access=projects_with_write_access.path_with_namespace"
)


@browse.action(
    "list_tokens",
    GET("/deploy_tokens", "/projects/{project_id}/deploy_tokens", "/groups/{group_id}/deploy_tokens"),
    example={"project_id": "acme/website"},
    shows=TOKEN,
)
class ListDeployTokens(InProjectOrGroup, Paged):
    """List deploy tokens; those of the whole instance as administrator."""

    active: Flag | None = None


@browse.action(
    "get_token",
    GET("/projects/{project_id}/deploy_tokens/{token_id}", "/groups/{group_id}/deploy_tokens/{token_id}"),
    example={"project_id": "acme/website", "token_id": 1},
    shows=TOKEN,
)
class GetDeployToken(InProjectOrGroup):
    """Read one deploy token."""

    token_id: Id


@browse.action(
    "list_keys",
    GET("/projects/{project_id}/deploy_keys"),
    example={"project_id": "acme/website"},
    shows=KEY,
)
class ListDeployKeys(InProject, Paged):
    """List deploy keys, and which of them can push."""


@browse.action(
    "get_key",
    GET("/projects/{project_id}/deploy_keys/{key_id}"),
    example={"project_id": "acme/website", "key_id": 1},
    shows=KEY,
)
class GetDeployKey(InProject):
    """Read one deploy key."""

    key_id: Id

"""SSH and GPG keys of people."""

from __future__ import annotations

from typing import Annotated

from gitlab_mcp.actions.action import GET, Action
from gitlab_mcp.actions.fields import Id, ReachesNothing, UserId
from gitlab_mcp.actions.scopes import Paged
from gitlab_mcp.actions.tool import Tool

browse = Tool(
    "browse_keys",
    "Read SSH and GPG keys: your own, or with user_id somebody's.",
    toolset="access",
    also=("ssh key", "gpg key", "public key", "signing key"),
    instead={"list": "list_ssh", "get": "get_ssh"},
)

SSH = "id title usage_type expires_at last_used_at:date created_at:date | key"
GPG = "id created_at:date | key"


class OfUserOrOwn(Action):
    user_id: UserId | None = None


@browse.action("list_ssh", GET("/user/keys", "/users/{user_id}/keys"), example={"user_id": 2}, shows=SSH)
class ListSshKeys(OfUserOrOwn, Paged):
    """List SSH keys."""


@browse.action(
    "get_ssh",
    GET("/user/keys/{key_id}", "/users/{user_id}/keys/{key_id}"),
    example={"key_id": 1},
    shows=SSH,
)
class GetSshKey(OfUserOrOwn):
    """Read one SSH key."""

    key_id: Annotated[Id, ReachesNothing()]


@browse.action(
    "list_gpg", GET("/user/gpg_keys", "/users/{user_id}/gpg_keys"), example={"user_id": 2}, shows=GPG
)
class ListGpgKeys(OfUserOrOwn, Paged):
    """List GPG keys."""


@browse.action(
    "get_gpg",
    GET("/user/gpg_keys/{key_id}", "/users/{user_id}/gpg_keys/{key_id}"),
    example={"key_id": 1},
    shows=GPG,
)
class GetGpgKey(OfUserOrOwn):
    """Read one GPG key."""

    key_id: Annotated[Id, ReachesNothing()]

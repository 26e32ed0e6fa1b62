"""Write SSH and GPG keys of people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from gitlab_mcp.actions.action import DELETE, POST, Action, Danger
from gitlab_mcp.actions.fields import FutureDate, Id, ReachesNothing, Title, UserId
from gitlab_mcp.actions.public_keys import PublicGpgKey, PublicSshKey
from gitlab_mcp.actions.recovery_lookup import LostWrite, RecoveryLookup
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.actions.undo import Undo

manage = Tool(
    "manage_key",
    "Add and remove SSH and GPG keys: your own, or with user_id as administrator somebody's.",
    toolset="access",
    also=("ssh key", "gpg key", "public key", "signing key"),
    instead={"add create": "add_ssh", "delete remove": "remove_ssh"},
)

FIND_GPG = RecoveryLookup("browse_keys get_gpg", "user_id key_id")


def _same_ssh_key(write: LostWrite, found: Mapping[str, Any]) -> bool:
    """GitLab keeps type and key and writes a comment of its own; titles are not unique."""
    return str(found["key"]).split()[:2] == str(write.sent["key"]).split()[:2]


def _same_gpg_key(write: LostWrite, found: Mapping[str, Any]) -> bool:
    return str(found["key"]).strip() == str(write.sent["key"]).strip()


class OfUserOrOwn(Action):
    user_id: UserId | None = None


@manage.action(
    "add_ssh",
    POST("/user/keys", "/users/{user_id}/keys"),
    # Whoever has the private half is that person for Git.
    danger=Danger.DANGEROUS,
    example={
        "title": "laptop",
        "key": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFiaJ2yWOBE1OFU0wAeM8P0aFbDu7X5O",
    },
    shows="id title usage_type expires_at",
    recover_with=RecoveryLookup("browse_keys list_ssh", "user_id", proof=_same_ssh_key),
    undo=Undo("remove_ssh", "user_id", "key_id=id"),
)
class AddSshKey(OfUserOrOwn):
    """Add an SSH key."""

    title: Title
    key: PublicSshKey
    usage_type: Literal["auth_and_signing", "auth", "signing"] | None = None
    expires_at: FutureDate | None = None


@manage.action(
    "remove_ssh",
    DELETE("/user/keys/{key_id}", "/users/{user_id}/keys/{key_id}"),
    danger=Danger.DESTRUCTIVE,
    example={"key_id": 1},
    recover_with=RecoveryLookup("browse_keys get_ssh", "user_id key_id"),
)
class RemoveSshKey(OfUserOrOwn):
    """Remove an SSH key."""

    key_id: Annotated[Id, ReachesNothing()]


@manage.action(
    "add_gpg",
    POST("/user/gpg_keys", "/users/{user_id}/gpg_keys"),
    danger=Danger.DANGEROUS,
    example={"key": "-----BEGIN PGP PUBLIC KEY BLOCK-----\n…\n-----END PGP PUBLIC KEY BLOCK-----"},
    shows="id created_at",
    recover_with=RecoveryLookup("browse_keys list_gpg", "user_id", proof=_same_gpg_key),
    undo=Undo("remove_gpg", "user_id", "key_id=id"),
)
class AddGpgKey(OfUserOrOwn):
    """Add a GPG key; commits signed with it count as verified."""

    key: PublicGpgKey


@manage.action(
    "remove_gpg",
    DELETE("/user/gpg_keys/{key_id}", "/users/{user_id}/gpg_keys/{key_id}"),
    danger=Danger.DESTRUCTIVE,
    example={"key_id": 1},
    recover_with=FIND_GPG,
)
class RemoveGpgKey(OfUserOrOwn):
    """Remove a GPG key; what it signed stays verified."""

    key_id: Annotated[Id, ReachesNothing()]


@manage.action(
    "revoke_gpg",
    POST("/user/gpg_keys/{key_id}/revoke", "/users/{user_id}/gpg_keys/{key_id}/revoke"),
    danger=Danger.DESTRUCTIVE,
    docs="api/user_keys/",
    example={"key_id": 1},
    repeatable=True,
    recover_with=FIND_GPG,
)
class RevokeGpgKey(OfUserOrOwn):
    """Revoke a GPG key: what it signed is no longer verified."""

    key_id: Annotated[Id, ReachesNothing()]

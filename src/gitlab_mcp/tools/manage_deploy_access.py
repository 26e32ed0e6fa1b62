"""Write deploy tokens and deploy keys. A new token is shown once."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal

from pydantic import Field

from gitlab_mcp.actions.action import DELETE, POST, PUT, Danger, fill, something_to_change
from gitlab_mcp.actions.danger import Risk, equals
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.fields import Anywhere, Expects, Flag, FutureDate, Id, Listed, NonEmpty, Title
from gitlab_mcp.actions.other_names import Instead
from gitlab_mcp.actions.public_keys import PublicSshKey
from gitlab_mcp.actions.recovery_lookup import RecoveryLookup, has, lost_token
from gitlab_mcp.actions.result import Notice
from gitlab_mcp.actions.scopes import InProject, InProjectOrGroup
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.actions.undo import Undo
from gitlab_mcp.failures.codes import NoticeCode
from gitlab_mcp.gitlab.paging import every_page
from gitlab_mcp.results.secret_redaction import keep_visible

manage = Tool(
    "manage_deploy_access",
    "Create and remove deploy tokens and deploy keys. A new token is shown once.",
    toolset="access",
    also=("deploy token", "deploy key", "deployment key"),
    instead={
        "create": "create_token",
        "create_key": "add_key",
        "delete_token remove_token": "revoke_token",
        "delete_key disable_key": "remove_key",
        "rotate rotate_token renew": Instead(
            "",
            advice="GitLab does not rotate deploy tokens: create_token another, then revoke_token the old one.",
        ),
    },
)

FIND_KEY = RecoveryLookup("browse_deploy_access get_key", "project_id key_id")
KEY = "id title can_push expires_at fingerprint_sha256"

DeployScope = Literal[
    "read_repository",
    "read_registry",
    "write_registry",
    "read_package_registry",
    "write_package_registry",
    "read_virtual_registry",
    "write_virtual_registry",
]
CanPush = Annotated[Flag, Risk(Danger.DANGEROUS, "true", "whoever has the key can then push", equals(True))]


@manage.action(
    "create_token",
    POST("/projects/{project_id}/deploy_tokens", "/groups/{group_id}/deploy_tokens"),
    danger=Danger.DANGEROUS,
    example={"project_id": "acme/website", "name": "deploy", "scopes": ["read_repository"]},
    shows="id name username token shown_once scopes expires_at",
    recover_with=lost_token("browse_deploy_access list_tokens", "project_id group_id"),
    undo=Undo("revoke_token", "project_id group_id", "token_id=id"),
)
class CreateDeployToken(InProjectOrGroup):
    """Create a deploy token; without expires_at it never expires."""

    name: NonEmpty
    scopes: Annotated[list[DeployScope], Field(min_length=1), Listed, Expects("an array of scopes")]
    username: NonEmpty | None = None
    expires_at: FutureDate | None = None

    async def run(self, gitlab: GitLab) -> Answer:
        answer = await gitlab.send(self.request())
        return replace(answer, body={**keep_visible(answer.body, "token"), "shown_once": True})


@manage.action(
    "revoke_token",
    DELETE("/projects/{project_id}/deploy_tokens/{token_id}", "/groups/{group_id}/deploy_tokens/{token_id}"),
    danger=Danger.DESTRUCTIVE,
    example={"project_id": "writes/app", "token_id": 7},
    recover_with=RecoveryLookup("browse_deploy_access get_token", "project_id group_id token_id"),
)
class RevokeDeployToken(InProjectOrGroup):
    """Delete a deploy token."""

    token_id: Id


@manage.action(
    "add_key",
    POST("/projects/{project_id}/deploy_keys"),
    danger=Danger.DANGEROUS,
    example={
        "project_id": "acme/website",
        "title": "deploy",
        "key": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDkriULd6jGF4i3ldEZkUfB2/nbgwt22k0d13G5g1n0d deploy@acme",
        "can_push": False,
    },
    shows=KEY,
    recover_with=RecoveryLookup("browse_deploy_access list_keys", "project_id", proof=has("key")),
)
class AddDeployKey(InProject):
    """Let whoever has the private half of a key read the repository, or push to it."""

    title: Title
    key: PublicSshKey
    can_push: CanPush | None = None
    expires_at: FutureDate | None = None

    async def run(self, gitlab: GitLab) -> Answer:
        # GitLab answers 201 with the old one where the project has the key, and changes nothing.
        path = fill("/projects/{project_id}/deploy_keys", project_id=self.project_id)
        before = {each["id"] for each in (await every_page(gitlab, path)).body}
        answer = await gitlab.send(self.request())
        if answer.recovered or answer.body.get("id") not in before:
            return answer
        message = (
            "The project has this key already; it was left as it is. update_key changes title and can_push."
        )
        return replace(answer, warnings=(Notice(NoticeCode.NOT_APPLIED, message, {"field": "key"}),))


@manage.action(
    "update_key",
    PUT("/projects/{project_id}/deploy_keys/{key_id}"),
    danger=Danger.REVERSIBLE,
    example={"project_id": "writes/app", "key_id": 3, "title": "deploy edited", "can_push": True},
    shows=KEY,
    recover_with=FIND_KEY,
)
class UpdateDeployKey(InProject):
    """Change the title of a deploy key, or whether it can push."""

    key_id: Id
    title: Title | None = None
    can_push: CanPush | None = None

    _changes_something = something_to_change("title")


@manage.action(
    "enable_key",
    POST("/projects/{project_id}/deploy_keys/{key_id}/enable"),
    danger=Danger.DANGEROUS,
    example={"project_id": 24, "key_id": 3},
    shows=KEY,
    repeatable=True,
    recover_with=FIND_KEY,
)
class EnableDeployKey(InProject):
    """Let a deploy key of another project work here too."""

    key_id: Annotated[Id, Anywhere("deploy key")]


@manage.action(
    "remove_key",
    DELETE("/projects/{project_id}/deploy_keys/{key_id}"),
    danger=Danger.DESTRUCTIVE,
    example={"project_id": "writes/app", "key_id": 3},
    recover_with=FIND_KEY,
)
class RemoveDeployKey(InProject):
    """Take a deploy key from the project; it stays where other projects use it."""

    key_id: Id

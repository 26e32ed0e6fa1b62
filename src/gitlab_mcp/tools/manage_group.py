"""Write groups, from their creation to their deletion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal

from gitlab_mcp.actions.action import (
    DELETE,
    POST,
    PUT,
    Action,
    Danger,
    Role,
    fill,
    something_to_change,
)
from gitlab_mcp.actions.ask import Ask
from gitlab_mcp.actions.danger import Risk, equals
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.fields import (
    AccessLevel,
    AlsoCalled,
    ChangedVisibility,
    Flag,
    FutureDate,
    GroupId,
    Needs,
    NewVisibility,
    NonEmpty,
    OtherGroup,
    SentAs,
    Visibility,
)
from gitlab_mcp.actions.other_names import Instead
from gitlab_mcp.actions.recovery_lookup import LostWrite, RecoveryLookup, has
from gitlab_mcp.actions.result import Result
from gitlab_mcp.actions.scopes import InGroup
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.actions.undo import Undo
from gitlab_mcp.workflows import delayed_deletion
from gitlab_mcp.workflows.delayed_deletion import how_deleted, read_marked, refuse_deletion

manage = Tool(
    "manage_group",
    "Create, change, move, share, archive and delete groups.",
    toolset="access",
    also=("organization", "organisation", "subgroup", "team"),
    instead={
        "create_subgroup": Instead("create", needs=("parent_group_id",)),
        "rename": Instead(
            "update", advice="Use action update with name for the title, and with path for the address."
        ),
        "move": "transfer",
        "invite_group": "share",
        "add_member": "manage_member add",
        "remove_member": "manage_member remove",
    },
)

GROUP = "id full_path name visibility archived marked_for_deletion_on web_url"
SHARED = "id full_path shared_with_groups(group_id group_full_path group_access_level expires_at)"
SharedWith = Annotated[OtherGroup, SentAs("group_id"), AlsoCalled("shared_group_id", "target_group_id")]
Guarded = Annotated[
    Flag,
    Risk(
        Danger.DESTRUCTIVE, "false", "a protection of everything in the group is switched off", equals(False)
    ),
]


class GroupSettings(Action):
    """The fields of both create and update."""

    description: str | None = None
    visibility: Visibility | None = None
    default_branch: NonEmpty | None = None
    request_access_enabled: Flag | None = None
    project_creation_level: Literal["noone", "owner", "maintainer", "developer", "administrator"] | None = (
        None
    )
    subgroup_creation_level: Literal["owner", "maintainer"] | None = None
    share_with_group_lock: Flag | None = None
    require_two_factor_authentication: Flag | None = None
    emails_enabled: Flag | None = None
    mentions_disabled: Flag | None = None
    lfs_enabled: Flag | None = None
    auto_devops_enabled: Flag | None = None


def _created(write: LostWrite, found: Mapping[str, Any]) -> bool:
    is_there = found.get("parent_id") == write.sent.get("parent_id")
    return is_there and write.is_new(found) and has("name", "path")(write, found)


@manage.action(
    "create",
    POST("/groups"),
    danger=Danger.REVERSIBLE,
    example={"name": "Sub one", "path": "sub-one", "parent_group_id": 59, "visibility": "private"},
    shows=GROUP,
    recover_with=RecoveryLookup("browse_groups list", "search=path", where={"owned": True}, proof=_created),
)
class CreateGroup(GroupSettings):
    """Create a group, or a subgroup where parent_group_id is given."""

    name: NonEmpty
    path: NonEmpty
    parent_group_id: Annotated[OtherGroup, SentAs("parent_id"), AlsoCalled("parent", "group_id")] | None = (
        None
    )
    visibility: NewVisibility | None = None

    async def completed(self, gitlab: GitLab, answer: Answer) -> Answer:
        return await delayed_deletion.with_doomed_parent(gitlab, answer)


@manage.action(
    "update",
    PUT("/groups/{group_id}"),
    danger=Danger.REVERSIBLE,
    example={
        "group_id": "59",
        "name": "Writes renamed",
        "description": "Edited.",
        "request_access_enabled": True,
        "project_creation_level": "developer",
        "subgroup_creation_level": "maintainer",
        "emails_enabled": False,
        "default_branch": "main",
        "mentions_disabled": False,
        "lfs_enabled": True,
        "share_with_group_lock": False,
        "require_two_factor_authentication": False,
    },
    shows=GROUP,
    recover_with=RecoveryLookup("browse_groups get", "group_id"),
)
class UpdateGroup(GroupSettings):
    """Change settings; a new path changes the address of all it holds."""

    group_id: GroupId
    name: NonEmpty | None = None
    path: (
        Annotated[
            NonEmpty,
            Risk(
                Danger.DESTRUCTIVE,
                "another",
                "the address of everything in the group changes",
                lambda path: True,
            ),
        ]
        | None
    ) = None
    visibility: ChangedVisibility | None = None
    share_with_group_lock: Guarded | None = None
    require_two_factor_authentication: Guarded | None = None

    _changes_something = something_to_change("name")


@manage.action(
    "transfer",
    POST("/groups/{group_id}/transfer"),
    danger=Danger.DANGEROUS,
    example={"group_id": "158", "parent_group_id": 157},
    shows=f"{GROUP} parent_id",
    role=Role.OWNER,
    recover_with=RecoveryLookup(
        "browse_groups get",
        "group_id",
        proof=lambda write, found: found["parent_id"] == write.sent.get("group_id"),
    ),
)
class TransferGroup(InGroup):
    """Move a group below another one: its path and who inherits a role change."""

    parent_group_id: Annotated[
        OtherGroup, SentAs("group_id"), AlsoCalled("parent_id", "to_group_id", "target_group_id")
    ]


@manage.action(
    "make_top_level",
    POST("/groups/{group_id}/transfer"),
    danger=Danger.DANGEROUS,
    example={"group_id": "158"},
    shows=f"{GROUP} parent_id",
    role=Role.OWNER,
    recover_with=RecoveryLookup(
        "browse_groups get", "group_id", proof=lambda _, found: found["parent_id"] is None
    ),
)
class MakeTopLevel(InGroup):
    """Move a subgroup out of its group, to the top."""


def _is_shared(write: LostWrite, found: Mapping[str, Any]) -> bool:
    wanted = (write.sent["group_id"], write.sent["group_access"])
    return wanted in [(each["group_id"], each["group_access_level"]) for each in found["shared_with_groups"]]


@manage.action(
    "share",
    POST("/groups/{group_id}/share"),
    danger=Danger.DANGEROUS,
    example={"group_id": "59", "with_group_id": 157, "group_access": 20, "expires_at": "2027-01-31"},
    shows=SHARED,
    role=Role.OWNER,
    recover_with=RecoveryLookup("browse_groups get", "group_id", proof=_is_shared),
    undo=Undo("unshare", "group_id with_group_id"),
)
class ShareGroup(InGroup):
    """Give the members of another group access to this one."""

    with_group_id: SharedWith
    group_access: AccessLevel
    expires_at: FutureDate | None = None


@manage.action(
    "unshare",
    DELETE("/groups/{group_id}/share/{with_group_id}"),
    danger=Danger.DANGEROUS,
    example={"group_id": "59", "with_group_id": 157},
    role=Role.OWNER,
    recover_with=RecoveryLookup("browse_groups get", "group_id"),
)
class UnshareGroup(InGroup):
    """Take another group's access to this one away."""

    with_group_id: SharedWith


@manage.action(
    "archive",
    POST("/groups/{group_id}/archive"),
    danger=Danger.DESTRUCTIVE,
    example={"group_id": "227"},
    shows=GROUP,
    role=Role.OWNER,
    recover_with=RecoveryLookup(
        "browse_groups get", "group_id", proof=lambda _, found: found.get("archived") is True
    ),
)
class ArchiveGroup(InGroup):
    """Make a group read-only with everything below it."""


@manage.action(
    "unarchive",
    POST("/groups/{group_id}/unarchive"),
    danger=Danger.REVERSIBLE,
    example={"group_id": "227"},
    shows=GROUP,
    role=Role.OWNER,
    recover_with=RecoveryLookup(
        "browse_groups get", "group_id", proof=lambda _, found: found.get("archived") is False
    ),
)
class UnarchiveGroup(InGroup):
    """Make an archived group writable again."""


@manage.action(
    "delete",
    DELETE("/groups/{group_id}"),
    danger=Danger.DANGEROUS,
    example={"group_id": "157"},
    role=Role.OWNER,
    repeatable=False,
    recover_with=RecoveryLookup(
        "browse_groups get",
        "group_id",
        proof=lambda _, found: bool(found.get("marked_for_deletion_on")),
        gone=True,
    ),
    undo=Undo("restore", "", "group_id=id"),
)
class DeleteGroup(InGroup):
    """Delete a group with all its projects; where that is delayed it is marked, and permanently_remove ends it."""

    permanently_remove: (
        Annotated[
            Flag,
            AlsoCalled("permanently", "permanent"),
            Needs("delayed_deletion_restore"),
            Risk(Danger.DANGEROUS, "true", "it is gone at once and cannot be restored", equals(True)),
        ]
        | None
    ) = None

    async def refuse_before_asking(self, ask: Ask) -> None:
        group = await ask.look(fill("/groups/{group_id}", group_id=self.group_id), with_projects="false")
        refuse_deletion(delayed_deletion.GROUP, group, permanently=bool(self.permanently_remove))

    async def run(self, gitlab: GitLab) -> Result:
        request = self.request()
        if not self.permanently_remove:
            await gitlab.send(request)
            return await how_deleted(gitlab, delayed_deletion.GROUP, request.path)
        group = await read_marked(gitlab, delayed_deletion.GROUP, request.path)
        refuse_deletion(delayed_deletion.GROUP, group, permanently=True)
        # GitLab wants to be told the path that it gave the group when it was marked.
        full_path = group["full_path"]
        await gitlab.send(
            replace(request, query={"permanently_remove": True, "full_path": full_path}, repeatable=False)
        )
        return Result(data={"started": True, "permanently": True, "full_path": full_path})


@manage.action(
    "restore",
    POST("/groups/{group_id}/restore"),
    danger=Danger.REVERSIBLE,
    example={"group_id": "52"},
    shows=GROUP,
    role=Role.OWNER,
    recover_with=RecoveryLookup(
        "browse_groups get",
        "group_id",
        proof=lambda _, found: found.get("marked_for_deletion_on", True) is None,
    ),
)
class RestoreGroup(InGroup):
    """Take back a deletion that has not happened yet."""

"""Write releases, their links and changelogs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import Field

from gitlab_mcp.actions.action import DELETE, POST, PUT, Danger, Role, something_to_change
from gitlab_mcp.actions.entry import Entry
from gitlab_mcp.actions.exchange import Answer, GitLab, Request
from gitlab_mcp.actions.fields import (
    AlsoCalled,
    Branch,
    Expects,
    Flag,
    FromJson,
    Id,
    Needs,
    NonEmpty,
    NotSent,
    Ref,
    SemanticVersion,
    SentAs,
    Strings,
    Time,
)
from gitlab_mcp.actions.recovery_lookup import LostWrite, RecoveryLookup, made
from gitlab_mcp.actions.result import Result
from gitlab_mcp.actions.scopes import InProject, OfRelease
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.actions.undo import Undo
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.gitlab.faults import FAULTS, Refused
from gitlab_mcp.workflows.release_plan import plan_release
from gitlab_mcp.workflows.unchanged_since import IfSame, checksum_of_release

manage = Tool(
    "manage_release",
    "Create, change and delete releases and their links.",
    toolset="delivery",
    instead={
        "publish": "create",
        "add_asset create_asset add_link": "create_link",
        "remove_asset": "delete_link",
        "generate_changelog": "add_changelog",
    },
)

RELEASE = (
    "tag_name name released_at upcoming_release milestones=milestones.title assets=assets.links(name url link_type)"
    " url=_links.self"
)
LinkUrl = Annotated[str, Field(pattern=r"^(https?|ftp)://\S+$"), Expects("an http, https or ftp URL")]
LinkType = Literal["other", "runbook", "image", "package"]
Titles = Annotated[Strings, Needs("group_milestones_in_releases"), Field(description="Titles")]
AssetPath = Annotated[str, Field(pattern=r"^/\S+$"), Expects("a path that begins with /")]


class Link(Entry):
    """A link given with the release."""

    name: NonEmpty
    url: LinkUrl
    link_type: LinkType | None = None


class Assets(Entry):
    links: Annotated[list[Link], FromJson, Field(min_length=1), Expects("an array of objects")]


@manage.action(
    "create",
    POST("/projects/{project_id}/releases"),
    danger=Danger.REVERSIBLE,
    example={
        "project_id": "acme/website",
        "tag_name": "v1.0.0",
        "name": "One",
        "description": "The **first** release.",
        "assets": {
            "links": [{"name": "binary", "url": "https://example.com/one.bin", "link_type": "package"}]
        },
    },
    shows=RELEASE,
    recover_with=RecoveryLookup("browse_releases get", "project_id tag_name", proof=made("name", "tag_name")),
)
class CreateRelease(OfRelease):
    """Release a tag; where the tag does not exist yet, ref says where to put it. prepared fills in what is not given as
    browse_releases prepare drafts it: notes, ref, name."""

    prepared: Annotated[Flag, NotSent(), AlsoCalled("prepare", "draft_notes", "generate_notes")] | None = None
    name: NonEmpty | None = None
    description: str | None = None
    ref: Ref | None = None
    tag_message: NonEmpty | None = None
    milestones: Titles | None = None
    released_at: Time | None = None
    assets: Annotated[Assets, FromJson] | None = None

    async def run(self, gitlab: GitLab) -> Answer:
        if not self.prepared:
            return await gitlab.send(self.request())
        plan = await plan_release(gitlab, self.project_id, None, self.ref, self.tag_name)
        if "release" not in plan.data:
            raise CallFailed(_nothing_to_release(str(plan.data["why_empty"])))
        drafted = {**plan.data["release"], "tag_name": self.tag_name, "name": self.tag_name}
        filled = self.model_copy(update={**drafted, **self.given()})
        answer = await gitlab.send(filled.request())
        return replace(answer, warnings=(*answer.warnings, *plan.warnings))


def _nothing_to_release(why: str) -> Failure:
    return Failure(Code.CONFLICT, f"{why} Nothing was released.").knowing(
        state="nothing changed",
        confidence="certain",
        evidence=["GitLab lists no commit between the last version and the ref"],
        suggested_fix="Give another ref; or leave prepared out to release it all the same.",
    )


@manage.action(
    "update",
    PUT("/projects/{project_id}/releases/{tag_name}"),
    danger=Danger.REVERSIBLE,
    example={
        "project_id": "writes/app",
        "tag_name": "v1.1.0",
        "name": "One point one",
        "description": "Edited",
        "released_at": "2026-11-02T10:00:00Z",
    },
    shows=RELEASE,
    role=Role.DEVELOPER,
    seldom_given="expected_checksum",
)
class UpdateRelease(IfSame, OfRelease):
    """Change a release; milestones replaces those it has. expected_checksum refuses it if somebody changed it since."""

    name: NonEmpty | None = None
    description: str | None = None
    milestones: Titles | None = None
    released_at: Time | None = None

    _changes_something = something_to_change("description")

    async def present_checksum(self, gitlab: GitLab) -> str:
        return checksum_of_release((await gitlab.get(self.request().path)).body)

    async def run(self, gitlab: GitLab) -> Answer:
        request = self.request()
        had = await self._milestones(gitlab, request.path) if self.milestones else []
        try:
            return await gitlab.send(request)
        except Refused:
            # Without a licence GitLab refuses group milestones, but has already removed those there were.
            if had and not await self._milestones(gitlab, request.path):
                await gitlab.send(Request("PUT", request.path, body={"milestones": had}))
            raise

    async def _milestones(self, gitlab: GitLab, path: str) -> list[str]:
        try:
            release = (await gitlab.get(path)).body
        except FAULTS:
            return []
        return [milestone["title"] for milestone in release.get("milestones") or ()]


@manage.action(
    "delete",
    DELETE("/projects/{project_id}/releases/{tag_name}"),
    danger=Danger.DESTRUCTIVE,
    example={"project_id": "writes/app", "tag_name": "v1.1.0"},
    shows="name",
    role=Role.DEVELOPER,
)
class DeleteRelease(OfRelease):
    """Delete a release; its tag stays."""


@manage.action(
    "create_link",
    POST("/projects/{project_id}/releases/{tag_name}/assets/links"),
    danger=Danger.REVERSIBLE,
    example={
        "project_id": "writes/app",
        "tag_name": "v1.1.0",
        "name": "handbook",
        "url": "https://example.com/handbook.pdf",
        "link_type": "runbook",
    },
    shows="id name url direct_asset_url",
    role=Role.DEVELOPER,
    recover_with=RecoveryLookup(
        "browse_releases links",
        "project_id tag_name",
        proof=lambda write, found: write.has(found, "name", "url"),
    ),
    undo=Undo("delete_link", "project_id tag_name", "link_id=id"),
)
class CreateLink(OfRelease):
    """Add a link to a release."""

    name: NonEmpty
    url: LinkUrl
    link_type: LinkType | None = None
    direct_asset_path: AssetPath | None = None


@manage.action(
    "update_link",
    PUT("/projects/{project_id}/releases/{tag_name}/assets/links/{link_id}"),
    danger=Danger.REVERSIBLE,
    example={
        "project_id": "writes/app",
        "tag_name": "v1.1.0",
        "link_id": 3,
        "name": "manual",
        "url": "https://example.com/manual.pdf",
        "link_type": "other",
    },
    shows="id name url direct_asset_url",
    role=Role.DEVELOPER,
    recover_with=RecoveryLookup("browse_releases link", "project_id tag_name link_id"),
)
class UpdateLink(OfRelease):
    """Change a link of a release."""

    link_id: Id
    name: NonEmpty | None = None
    url: LinkUrl | None = None
    link_type: LinkType | None = None
    direct_asset_path: AssetPath | None = None

    async def run(self, gitlab: GitLab) -> Answer:
        request = self.request()
        if self.link_type is not None:
            return await gitlab.send(request)
        # What is not sent falls back to `other`.
        link = (await gitlab.get(request.path)).body
        return await gitlab.send(self.request(link_type=link.get("link_type")))


@manage.action(
    "delete_link",
    DELETE("/projects/{project_id}/releases/{tag_name}/assets/links/{link_id}"),
    danger=Danger.DESTRUCTIVE,
    example={"project_id": "writes/app", "tag_name": "v1.1.0", "link_id": 3},
    shows="name",
    role=Role.DEVELOPER,
    recover_with=RecoveryLookup("browse_releases link", "project_id tag_name link_id"),
)
class DeleteLink(OfRelease):
    """Remove a link from a release."""

    link_id: Id


@manage.action(
    "collect_evidence",
    POST("/projects/{project_id}/releases/{tag_name}/evidence"),
    danger=Danger.REVERSIBLE,
    example={"project_id": "10", "tag_name": "v1"},
    role=Role.DEVELOPER,
    recover_with=RecoveryLookup(
        "browse_releases get", "project_id tag_name", because="GitLab collects it in its own time"
    ),
)
class CollectEvidence(OfRelease):
    """Take, in the background, a snapshot of what a release consists of."""

    async def run(self, gitlab: GitLab) -> Result:
        # The whole answer is the number 202.
        await gitlab.send(self.request())
        return Result(data={"started": True})


def _changelog_commit(write: LostWrite, found: Mapping[str, Any]) -> bool:
    message = write.action.message or f"Add changelog for version {write.action.version}"
    return write.is_new(found) and found["message"].startswith(message)


@manage.action(
    "add_changelog",
    POST("/projects/{project_id}/repository/changelog"),
    danger=Danger.REVERSIBLE,
    example={
        "project_id": "writes/app",
        "version": "1.1.0",
        "from_ref": "4432a39d7773ebe315e5190947ee81875b06d6c9",
        "branch": "main",
        "message": "Add changelog for 1.1.0",
    },
    recover_with=RecoveryLookup("browse_commits list", "project_id ref_name=branch", proof=_changelog_commit),
)
class AddChangelog(InProject):
    """Commit the notes for a version to the changelog file."""

    version: SemanticVersion
    from_ref: Annotated[NonEmpty, SentAs("from")] | None = None
    to_ref: Annotated[NonEmpty, SentAs("to")] | None = None
    branch: Branch | None = None
    file: Annotated[NonEmpty, Field(description="CHANGELOG.md if not given")] | None = None
    message: Annotated[NonEmpty, Field(description="Of the commit")] | None = None

    async def run(self, gitlab: GitLab) -> Result:
        # The whole answer is the number 200.
        await gitlab.send(self.request())
        return Result(data={"file": self.file or "CHANGELOG.md", "committed": True})

"""Releases, read, with their links and changelogs."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal

from pydantic import Field

from gitlab_mcp.actions.action import GET, Action, Role
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.fields import (
    Expects,
    GroupId,
    Id,
    Line,
    Page,
    PerPage,
    ProjectId,
    Sent,
    Sort,
)
from gitlab_mcp.actions.result import Result, Text
from gitlab_mcp.actions.tool import Tool

browse = Tool("browse_releases", "Read releases and changelogs.", toolset="delivery", switch="releases")

RELEASE = (
    "tag_name name released_at upcoming_release author=author.username url=_links.self"
    " | description commit=commit.short_id milestones=milestones.title links=assets.links"
    " evidences=evidences.filepath created_at"
)
LINK = "id name url link_type direct_asset_url"

TagName = Annotated[Line, Field(max_length=255)]
Version = Annotated[
    str,
    Field(pattern=r"^v?\d+\.\d+\.\d+([-+.]?[0-9A-Za-z.+-]+)?$"),
    Expects("semantic version like 1.2.0"),
]


class OfRelease(Action):
    project_id: ProjectId
    tag_name: TagName


@browse.action(
    "list",
    GET("/projects/{project_id}/releases", "/groups/{group_id}/releases"),
    docs="api/releases/#list-releases",
    example={"project_id": "acme/website"},
    shows=RELEASE,
    role=Role.GUEST,
)
class ListReleases(Action):
    """List releases of a project or a group, the latest first."""

    project_id: ProjectId | None = None
    group_id: GroupId | None = None
    order_by: Literal["released_at", "created_at"] | None = None
    sort: Sort | None = None
    page: Page | None = None
    per_page: PerPage | None = None


@browse.action(
    "get",
    GET("/projects/{project_id}/releases/{tag_name}"),
    docs="api/releases/#get-a-release-by-a-tag-name",
    example={"project_id": "acme/website", "tag_name": "v1.0.0"},
    shows=RELEASE,
    role=Role.REPORTER,
)
class GetRelease(OfRelease):
    """Read one release."""


@browse.action(
    "latest",
    GET("/projects/{project_id}/releases"),
    docs="api/releases/#get-the-latest-release",
    example={"project_id": "acme/website"},
    shows=RELEASE,
    role=Role.REPORTER,
)
class LatestRelease(Action):
    """The newest release that is out already."""

    project_id: ProjectId

    async def run(self, gitlab: GitLab) -> Answer | Result:
        # GitLab's own permalink redirects, and may lead to a release that is only announced.
        answer = await gitlab.send(self.request())
        released = [release for release in answer.body if not release.get("upcoming_release")]
        if not released:
            return Result(data={"empty": True, "why_empty": "Nothing is released yet."})
        return replace(answer, body=released[0])


@browse.action(
    "links",
    GET("/projects/{project_id}/releases/{tag_name}/assets/links"),
    docs="api/releases/links/#list-all-release-links",
    example={"project_id": "acme/website", "tag_name": "v1.0.0"},
    shows=LINK,
    role=Role.GUEST,
)
class ListLinks(OfRelease):
    """Links to files and pages that belong to a release."""

    page: Page | None = None
    per_page: PerPage | None = None


@browse.action(
    "link",
    GET("/projects/{project_id}/releases/{tag_name}/assets/links/{link_id}"),
    docs="api/releases/links/#retrieve-a-release-link",
    example={"project_id": "acme/website", "tag_name": "v1.0.0", "link_id": 1},
    shows=LINK,
    role=Role.GUEST,
)
class GetLink(OfRelease):
    """One link of a release."""

    link_id: Id


@browse.action(
    "changelog",
    GET("/projects/{project_id}/repository/changelog"),
    docs="api/repositories/#generate-changelog-data",
    example={"project_id": "acme/website", "version": "1.1.0", "from_ref": "v1.0.0"},
    role=Role.REPORTER,
    switch="repository",
)
class Changelog(Action):
    """Notes for a version, from the commits whose message has a Changelog trailer."""

    project_id: ProjectId
    version: Version
    from_ref: Annotated[Line, Sent("from")] | None = None
    to_ref: Annotated[Line, Sent("to")] | None = None

    async def run(self, gitlab: GitLab) -> Result:
        notes = (await gitlab.send(self.request())).body["notes"]
        return Result(data={"version": self.version}, text=Text(notes, f"changelog of {self.version}"))

"""Releases with their links, and changelogs."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal

from gitlab_mcp.actions.action import GET, Role
from gitlab_mcp.actions.action_facts import Differs
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.fields import (
    Id,
    NonEmpty,
    SemanticVersion,
    SentAs,
    Sort,
    Time,
)
from gitlab_mcp.actions.result import Result, Text
from gitlab_mcp.actions.scopes import InProject, InProjectOrGroup, OfRelease, Paged
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.workflows.release_plan import plan_release
from gitlab_mcp.workflows.unchanged_since import checksum_of_release

browse = Tool(
    "browse_releases",
    "Read releases and changelogs.",
    toolset="delivery",
    instead={
        "compare diff": "browse_commits compare",
        "assets": "links",
        "notes": "changelog",
        "last current": "latest",
        "draft plan next suggest propose what_changed release_notes": "prepare",
    },
)

RELEASE = (
    "tag_name name released_at upcoming_release author=author.username url=_links.self"
    " | description commit=commit.short_id milestones=milestones.title links=assets.links"
    " evidences=evidences.filepath created_at checksum"
)
LINK = "id name url link_type direct_asset_url"


@browse.action(
    "list",
    GET("/projects/{project_id}/releases", "/groups/{group_id}/releases"),
    example={"project_id": "acme/website"},
    shows=RELEASE,
)
class ListReleases(InProjectOrGroup, Paged):
    """List releases of a project or a group, the latest first."""

    updated_after: Time | None = None
    updated_before: Time | None = None
    order_by: Literal["released_at", "created_at"] | None = None
    sort: Sort | None = None


@browse.action(
    "get",
    GET("/projects/{project_id}/releases/{tag_name}"),
    example={"project_id": "acme/website", "tag_name": "v1.0.0"},
    shows=RELEASE,
)
class GetRelease(OfRelease):
    """Read one release."""

    async def completed(self, gitlab: GitLab, answer: Answer) -> Answer:
        return replace(answer, body={**answer.body, "checksum": checksum_of_release(answer.body)})


@browse.action(
    "latest",
    GET("/projects/{project_id}/releases"),
    docs=Differs("api/releases/#get-the-latest-release", "the latest is looked for in the list"),
    example={"project_id": "acme/website"},
    shows=RELEASE,
    role=Differs(Role.REPORTER, "17.2 was measured to let a guest list them: not settled"),
)
class LatestRelease(InProject):
    """The newest release that is out already."""

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
    example={"project_id": "acme/website", "tag_name": "v1.0.0"},
    shows=LINK,
)
class ListLinks(OfRelease, Paged):
    """Links to files and pages that belong to a release."""


@browse.action(
    "link",
    GET("/projects/{project_id}/releases/{tag_name}/assets/links/{link_id}"),
    example={"project_id": "acme/website", "tag_name": "v1.0.0", "link_id": 1},
    shows=LINK,
)
class GetLink(OfRelease):
    """One link of a release."""

    link_id: Id


@browse.action(
    "changelog",
    GET("/projects/{project_id}/repository/changelog"),
    example={"project_id": "acme/website", "version": "1.1.0", "from_ref": "v1.0.0"},
)
class Changelog(InProject):
    """Notes for a version, from the commits whose message has a Changelog trailer."""

    version: SemanticVersion
    from_ref: Annotated[NonEmpty, SentAs("from")] | None = None
    to_ref: Annotated[NonEmpty, SentAs("to")] | None = None

    async def run(self, gitlab: GitLab) -> Result:
        notes = (await gitlab.send(self.request())).body["notes"]
        return Result(data={"version": self.version}, text=Text(notes, f"changelog of {self.version}"))


@browse.action(
    "prepare",
    GET("/projects/{project_id}/repository/tags"),
    docs=Differs("user/project/releases/", "the page about releases, not about its first request"),
    example={"project_id": "acme/shop", "to_ref": "main"},
    lists=False,
    has_line=True,
)
class PrepareRelease(InProject):
    """Draft the next release: what changed since the last version tag, a version and why, notes in Markdown.

    Its `release` is what `manage_release create` takes."""

    from_ref: NonEmpty | None = None
    to_ref: NonEmpty | None = None

    async def run(self, gitlab: GitLab) -> Result:
        return await plan_release(gitlab, self.project_id, self.from_ref, self.to_ref)

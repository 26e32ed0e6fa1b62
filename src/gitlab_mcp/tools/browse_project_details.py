"""What is seldom asked about a project: forks, stars, activity, mirrors, exports, templates."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from gitlab_mcp.actions.action import GET, Role, fill
from gitlab_mcp.actions.action_facts import Differs
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.fields import (
    Date,
    EventAction,
    EventTarget,
    Flag,
    NonEmpty,
    Search,
    Sort,
)
from gitlab_mcp.actions.scopes import InProject, Paged
from gitlab_mcp.actions.tool import Tool

browse = Tool(
    "browse_project_details",
    "Read what is seldom asked about a project.",
    toolset="insight",
    also=("fork", "contributor", "badge", "mirror"),
)


PROJECT = (
    "id path_with_namespace description visibility archived marked_for_deletion_on last_activity_at"
    " | name web_url default_branch topics star_count forks_count open_issues_count created_at"
    " http_url_to_repo ssh_url_to_repo readme_url empty_repo forked_from=forked_from_project.path_with_namespace"
    " project_role=permissions.project_access.access_level group_role=permissions.group_access.access_level"
    " merge_method squash_option ci_config_path issues_access_level merge_requests_access_level"
    " builds_access_level repository_access_level import_status statistics"
)


EVENT = (
    "created_at action_name author=author_username target_type target_iid target_title"
    " ref=push_data.ref commit_title=push_data.commit_title commits=push_data.commit_count note=note.body"
)


GROUP = "id full_path name web_url"


OrderBy = Literal[
    "id", "name", "path", "created_at", "updated_at", "last_activity_at", "similarity", "star_count"
]


TemplateType = Literal["issues", "merge_requests"]


class ListOfProject(InProject, Paged):
    search: Search | None = None


@browse.action(
    "groups",
    GET("/projects/{project_id}/groups"),
    example={"project_id": "acme/website"},
    shows=GROUP,
    moved_from="browse_projects",
)
class Groups(ListOfProject):
    """The groups above the project."""


@browse.action(
    "forks",
    GET("/projects/{project_id}/forks"),
    example={"project_id": "acme/website"},
    shows=PROJECT,
    moved_from="browse_projects",
)
class Forks(ListOfProject):
    """Forks that the token may see."""

    owned: Flag | None = None
    order_by: OrderBy | None = None
    sort: Sort | None = None


@browse.action(
    "starrers",
    GET("/projects/{project_id}/starrers"),
    example={"project_id": "acme/website"},
    shows="starred_since username=user.username",
    moved_from="browse_projects",
)
class Starrers(ListOfProject):
    """Who starred the project."""


@browse.action(
    "events",
    GET("/projects/{project_id}/events"),
    example={"project_id": "acme/website"},
    shows=EVENT,
    moved_from="browse_projects",
)
class Events(InProject, Paged):
    """What happened lately: pushes, comments, merges."""

    event_action: EventAction | None = None
    target_type: EventTarget | None = None
    before: Date | None = None
    after: Date | None = None
    sort: Sort | None = None


@browse.action(
    "contributors",
    GET("/projects/{project_id}/repository/contributors"),
    example={"project_id": "acme/website"},
    shows="name email commits additions deletions",
    moved_from="browse_projects",
)
class Contributors(InProject, Paged):
    """Who committed how often to the default branch."""

    order_by: Literal["name", "email", "commits"] | None = None
    sort: Sort | None = None


@browse.action(
    "statistics",
    GET("/projects/{project_id}/statistics"),
    example={"project_id": "acme/website"},
    moved_from="browse_projects",
)
class Statistics(InProject):
    """Clones and fetches of the last 30 days."""


@browse.action(
    "transfer_locations",
    GET("/projects/{project_id}/transfer_locations"),
    example={"project_id": "acme/website"},
    shows=GROUP,
    moved_from="browse_projects",
)
class TransferLocations(ListOfProject):
    """Groups the project could be moved to."""


@browse.action(
    "share_locations",
    GET("/projects/{project_id}/share_locations"),
    example={"project_id": "1"},
    shows=GROUP,
    lists=True,
    moved_from="browse_projects",
)
class ShareLocations(InProject):
    """Groups the project could be shared with."""

    search: Search | None = None

    async def run(self, gitlab: GitLab) -> Answer:
        if self.project_id.isdecimal():
            return await gitlab.send(self.request())
        # GitLab 19.3 takes only the number here.
        project = await gitlab.get(fill("/projects/{project_id}", project_id=self.project_id))
        return await gitlab.send(self.model_copy(update={"project_id": str(project.body["id"])}).request())


@browse.action(
    "badges",
    GET("/projects/{project_id}/badges"),
    example={"project_id": "acme/website"},
    shows="id name kind link=rendered_link_url image=rendered_image_url",
    moved_from="browse_projects",
)
class Badges(InProject, Paged):
    """Badges of the project and of the groups above it."""


@browse.action(
    "remote_mirrors",
    GET("/projects/{project_id}/remote_mirrors"),
    example={"project_id": "acme/website"},
    shows="id url enabled update_status last_successful_update_at last_error only_protected_branches",
    moved_from="browse_projects",
)
class RemoteMirrors(InProject, Paged):
    """Where GitLab pushes the repository to, and whether that works."""


@browse.action(
    "import_status",
    GET("/projects/{project_id}/import"),
    example={"project_id": "acme/website"},
    shows="path_with_namespace import_status import_type import_error failed_relations stats",
    role=Differs(Role.REPORTER, "17.2 was measured to let a guest: not settled"),
    moved_from="browse_projects",
)
class ImportStatus(InProject):
    """How far a fork or an import is, and what failed."""


@browse.action(
    "export_status",
    GET("/projects/{project_id}/export"),
    example={"project_id": "acme/website"},
    shows="path_with_namespace export_status links=_links",
    moved_from="browse_projects",
)
class ExportStatus(InProject):
    """How far an export is; the download link is in it when it is done."""


@browse.action(
    "templates",
    GET("/projects/{project_id}/templates/{type}"),
    example={"project_id": "acme/website", "type": "issues"},
    shows="key name",
    moved_from="browse_projects",
)
class Templates(InProject, Paged):
    """Templates the project offers for issues and merge requests."""

    type: TemplateType


@browse.action(
    "template",
    GET("/projects/{project_id}/templates/{type}/{name}"),
    example={"project_id": "acme/website", "type": "issues", "name": "bug"},
    shows="name content",
    moved_from="browse_projects",
)
class Template(InProject):
    """One template with its text."""

    type: TemplateType
    name: Annotated[NonEmpty, Field(description="Its key")]


@browse.action(
    "namespaces",
    GET("/namespaces"),
    example={"search": "writes"},
    shows="id full_path kind web_url",
    moved_from="browse_projects",
)
class Namespaces(Paged):
    """Groups and users under which projects can be."""

    search: Search | None = None

"""Projects: what they are, who uses them, and their life from creation to deletion."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from gitlab_mcp.core.action import DELETE, GET, POST, PUT, Action, Danger, Role, fill
from gitlab_mcp.core.exchange import Answer, GitLab, Request
from gitlab_mcp.core.fields import (
    AccessLevel,
    Date,
    Flag,
    FutureDate,
    GroupId,
    Integer,
    Line,
    Needs,
    Page,
    PathOrId,
    PerPage,
    ProjectId,
    Search,
    Sent,
    Sort,
    Time,
    UserId,
    Words,
    broken_rule,
)
from gitlab_mcp.core.result import Result
from gitlab_mcp.core.tool import Tool

browse = Tool("browse_projects", "Read projects: all visible ones, those of a group or of a user.")
manage = Tool("manage_project", "Create, change, fork, move, archive and delete projects.")

PROJECT = (
    "id path_with_namespace description default_branch visibility archived last_activity_at web_url"
    " | name topics star_count forks_count open_issues_count created_at http_url_to_repo ssh_url_to_repo"
    " readme_url empty_repo forked_from=forked_from_project.path_with_namespace"
    " project_role=permissions.project_access.access_level group_role=permissions.group_access.access_level"
    " merge_method squash_option ci_config_path issues_access_level merge_requests_access_level"
    " builds_access_level repository_access_level marked_for_deletion_on import_status statistics"
    " license=license.name"
)
CHANGED = (
    "id path_with_namespace visibility archived default_branch import_status marked_for_deletion_on web_url"
)
EVENT = (
    "created_at action_name author=author_username target_type target_iid target_title project_id"
    " ref=push_data.ref commit_title=push_data.commit_title commits=push_data.commit_count note=note.body"
)
GROUP = "id full_path name web_url"

Visibility = Literal["private", "internal", "public"]
Switch = Literal["disabled", "private", "enabled"]
NamespaceId = Annotated[PathOrId, Field(description="Path or number of a group or user")]
OrderBy = Literal["id", "name", "path", "created_at", "updated_at", "last_activity_at", "similarity"]
TemplateType = Literal["dockerfiles", "gitignores", "gitlab_ci_ymls", "licenses", "issues", "merge_requests"]

_ONLY_OF_A_GROUP = ("include_subgroups", "with_shared")
_NOT_OF_A_GROUP = (
    "membership",
    "topic",
    "with_programming_language",
    "last_activity_after",
    "last_activity_before",
)


@browse.action(
    "list",
    GET("/projects", "/groups/{group_id}/projects", "/users/{user_id}/projects"),
    docs="api/projects/#list-all-projects",
    example={"group_id": "acme"},
    shows=PROJECT,
)
class ListProjects(Action):
    """List projects, the newest first; without a filter these are all that the token may see."""

    group_id: GroupId | None = None
    user_id: UserId | None = None
    search: Search | None = None
    membership: Annotated[Flag, Field(description="Only where I am a member")] | None = None
    owned: Flag | None = None
    starred: Flag | None = None
    archived: Flag | None = None
    visibility: Visibility | None = None
    min_access_level: AccessLevel | None = None
    topic: Words | None = None
    with_programming_language: Line | None = None
    last_activity_after: Time | None = None
    last_activity_before: Time | None = None
    include_subgroups: Flag | None = None
    with_shared: Flag | None = None
    order_by: OrderBy | None = None
    sort: Sort | None = None
    page: Page | None = None
    per_page: PerPage | None = None

    @model_validator(mode="after")
    def _filters_that_count(self) -> Self:
        # GitLab ignores a filter that a route does not know, and so lists everything.
        unknown = _NOT_OF_A_GROUP if self.group_id is not None else _ONLY_OF_A_GROUP
        for name in unknown:
            if getattr(self, name) is not None:
                where = "without group_id" if self.group_id is not None else "with group_id"
                raise broken_rule(f"a filter that works {where}", field=name)
        return self


@browse.action(
    "get",
    GET("/projects/{project_id}"),
    docs="api/projects/#retrieve-a-project",
    example={"project_id": "acme/website"},
    shows=PROJECT,
    role=Role.GUEST,
)
class GetProject(Action):
    """Read one project: settings, switches, and the caller's role in it."""

    project_id: ProjectId
    statistics: Flag | None = None
    license: Flag | None = None


class OfProject(Action):
    project_id: ProjectId


class ListOfProject(OfProject):
    search: Search | None = None
    page: Page | None = None
    per_page: PerPage | None = None


@browse.action(
    "languages",
    GET("/projects/{project_id}/languages"),
    docs="api/projects/#list-programming-languages-used",
    example={"project_id": "acme/website"},
    role=Role.GUEST,
)
class Languages(OfProject):
    """Programming languages with their share in percent."""


@browse.action(
    "users",
    GET("/projects/{project_id}/users"),
    docs="api/projects/#list-users",
    example={"project_id": "acme/website"},
    shows="id username name state",
    role=Role.GUEST,
)
class Users(ListOfProject):
    """People who can be mentioned and assigned in the project."""


@browse.action(
    "groups",
    GET("/projects/{project_id}/groups"),
    docs="api/projects/#list-groups",
    example={"project_id": "acme/website"},
    shows=GROUP,
    role=Role.GUEST,
)
class Groups(ListOfProject):
    """The groups above the project, and with with_shared those it is shared with."""

    with_shared: Flag | None = None


@browse.action(
    "forks",
    GET("/projects/{project_id}/forks"),
    docs="api/project_forks/#list-forks-of-a-project",
    example={"project_id": "acme/website"},
    shows=PROJECT,
    role=Role.GUEST,
)
class Forks(ListOfProject):
    """Forks that the token may see."""

    owned: Flag | None = None


@browse.action(
    "starrers",
    GET("/projects/{project_id}/starrers"),
    docs="api/project_starring/#list-users-who-starred-a-project",
    example={"project_id": "acme/website"},
    shows="starred_since username=user.username",
    role=Role.GUEST,
)
class Starrers(ListOfProject):
    """Who starred the project."""


@browse.action(
    "events",
    GET("/projects/{project_id}/events"),
    docs="api/events/#list-all-visible-events-for-a-project",
    example={"project_id": "acme/website"},
    shows=EVENT,
    role=Role.GUEST,
)
class Events(OfProject):
    """What happened lately: pushes, comments, merges."""

    event_action: Annotated[Line, Sent("action"), Field(description="pushed, commented, merged…")] | None = (
        None
    )
    target_type: (
        Literal["issue", "milestone", "merge_request", "note", "project", "snippet", "user"] | None
    ) = None
    before: Date | None = None
    after: Date | None = None
    sort: Sort | None = None
    page: Page | None = None
    per_page: PerPage | None = None


@browse.action(
    "contributors",
    GET("/projects/{project_id}/repository/contributors"),
    docs="api/repositories/#get-contributor-list",
    example={"project_id": "acme/website"},
    shows="name email commits additions deletions",
    role=Role.REPORTER,
    switch="repository",
)
class Contributors(OfProject):
    """Who committed how often to the default branch."""

    order_by: Literal["name", "email", "commits"] | None = None
    sort: Sort | None = None
    page: Page | None = None
    per_page: PerPage | None = None


@browse.action(
    "statistics",
    GET("/projects/{project_id}/statistics"),
    docs="api/project_statistics/#get-the-statistics-of-the-last-30-days",
    example={"project_id": "acme/website"},
    role=Role.REPORTER,
)
class Statistics(OfProject):
    """Clones and fetches of the last 30 days."""


@browse.action(
    "transfer_locations",
    GET("/projects/{project_id}/transfer_locations"),
    docs="api/projects/#list-groups-available-for-project-transfer",
    example={"project_id": "acme/website"},
    shows=GROUP,
    role=Role.OWNER,
)
class TransferLocations(ListOfProject):
    """Groups the project could be moved to."""


@browse.action(
    "templates",
    GET("/projects/{project_id}/templates/{type}"),
    docs="api/project_templates/#get-all-templates-of-a-particular-type",
    example={"project_id": "acme/website", "type": "licenses"},
    shows="key name",
    role=Role.GUEST,
)
class Templates(OfProject):
    """Templates the project offers for issues, merge requests and files."""

    type: TemplateType
    page: Page | None = None
    per_page: PerPage | None = None


@browse.action(
    "template",
    GET("/projects/{project_id}/templates/{type}/{name}"),
    docs="api/project_templates/#get-one-template-of-a-particular-type",
    example={"project_id": "acme/website", "type": "licenses", "name": "mit"},
    shows="name content",
    role=Role.GUEST,
)
class Template(OfProject):
    """One template with its text."""

    type: TemplateType
    name: Annotated[Line, Field(description="Key of the template")]


@browse.action(
    "namespaces",
    GET("/namespaces"),
    docs="api/namespaces/#list-all-namespaces",
    example={"search": "writes"},
    shows="id full_path kind web_url",
)
class Namespaces(Action):
    """Groups and users under which projects can be."""

    search: Search | None = None
    page: Page | None = None
    per_page: PerPage | None = None


class Settings(Action):
    """What create and update both take."""

    name: Line | None = None
    path: Line | None = None
    description: str | None = None
    visibility: Visibility | None = None
    default_branch: Line | None = None
    topics: Words | None = None


@manage.action(
    "create",
    POST("/projects"),
    danger=Danger.REVERSIBLE,
    docs="api/projects/#create-a-project",
    example={
        "name": "API",
        "path": "api",
        "namespace_id": 7,
        "visibility": "private",
        "initialize_with_readme": True,
        "default_branch": "main",
    },
    shows=CHANGED,
)
class CreateProject(Settings):
    """Create a project, in the caller's own namespace unless another is named."""

    namespace_id: NamespaceId | None = None
    initialize_with_readme: Flag | None = None
    import_url: Line | None = None
    template_name: Line | None = None

    @model_validator(mode="after")
    def _sources(self) -> Self:
        if self.name is None and self.path is None:
            raise broken_rule("a name, or path instead", field="name")
        if self.default_branch is not None and not self.initialize_with_readme:
            # GitLab takes the name only for the first commit it makes itself, and ignores it otherwise.
            raise broken_rule("true where default_branch is given", field="initialize_with_readme")
        return self

    async def run(self, gitlab: GitLab) -> Answer:
        return await gitlab.send(self.request(namespace_id=await _number_of(gitlab, self.namespace_id)))


@manage.action(
    "update",
    PUT("/projects/{project_id}"),
    danger=Danger.REVERSIBLE,
    docs="api/projects/#update-a-project",
    example={
        "project_id": "24",
        "name": "Second renamed",
        "path": "second-renamed",
        "visibility": "private",
        "issues_access_level": "private",
        "default_branch": "main",
    },
    shows=CHANGED,
    role=Role.MAINTAINER,
)
class UpdateProject(Settings):
    """Change settings and switches; a new path moves the project."""

    project_id: ProjectId
    merge_method: Literal["merge", "rebase_merge", "ff"] | None = None
    squash_option: Literal["never", "always", "default_on", "default_off"] | None = None
    only_allow_merge_if_pipeline_succeeds: Flag | None = None
    only_allow_merge_if_all_discussions_are_resolved: Flag | None = None
    remove_source_branch_after_merge: Flag | None = None
    issues_access_level: Switch | None = None
    merge_requests_access_level: Switch | None = None
    builds_access_level: Switch | None = None
    repository_access_level: Switch | None = None
    wiki_access_level: Switch | None = None
    snippets_access_level: Switch | None = None
    releases_access_level: Switch | None = None
    environments_access_level: Switch | None = None
    forking_access_level: Switch | None = None
    container_registry_access_level: Switch | None = None
    ci_config_path: str | None = None
    build_timeout: Annotated[Integer, Field(ge=600, le=2_678_400, description="Seconds")] | None = None
    shared_runners_enabled: Flag | None = None
    auto_devops_enabled: Flag | None = None
    request_access_enabled: Flag | None = None
    merge_pipelines_enabled: Annotated[Flag, Needs("merged_results_pipelines")] | None = None
    merge_trains_enabled: Annotated[Flag, Needs("merge_trains")] | None = None

    @model_validator(mode="after")
    def _something(self) -> Self:
        if self.model_fields_set <= {"project_id"}:
            raise broken_rule("at least one setting beside it", field="project_id")
        return self


@manage.action(
    "delete",
    DELETE("/projects/{project_id}"),
    danger=Danger.DANGEROUS,
    docs="api/projects/#delete-a-project",
    example={"project_id": "27"},
    role=Role.OWNER,
    repeatable=False,
)
class DeleteProject(OfProject):
    """Delete a project with all it holds; where deletion is delayed, it is marked for it."""


@manage.action(
    "restore",
    POST("/projects/{project_id}/restore"),
    danger=Danger.REVERSIBLE,
    docs="api/projects/#restore-a-project-marked-for-deletion",
    example={"project_id": "20"},
    shows=CHANGED,
    feature="delayed_deletion_restore",
    role=Role.OWNER,
)
class RestoreProject(OfProject):
    """Take back a deletion that has not happened yet."""


@manage.action(
    "archive",
    POST("/projects/{project_id}/archive"),
    danger=Danger.REVERSIBLE,
    docs="api/projects/#archive-a-project",
    example={"project_id": "25"},
    shows=CHANGED,
    role=Role.OWNER,
)
class ArchiveProject(OfProject):
    """Make a project read-only."""


@manage.action(
    "unarchive",
    POST("/projects/{project_id}/unarchive"),
    danger=Danger.REVERSIBLE,
    docs="api/projects/#unarchive-a-project",
    example={"project_id": "25"},
    shows=CHANGED,
    role=Role.OWNER,
)
class UnarchiveProject(OfProject):
    """Make an archived project writable again."""


@manage.action(
    "star",
    POST("/projects/{project_id}/star"),
    danger=Danger.REVERSIBLE,
    docs="api/project_starring/#star-a-project",
    example={"project_id": "writes/app"},
    shows="path_with_namespace star_count",
    role=Role.GUEST,
)
class StarProject(OfProject):
    """Star a project."""


@manage.action(
    "unstar",
    POST("/projects/{project_id}/unstar"),
    danger=Danger.REVERSIBLE,
    docs="api/project_starring/#unstar-a-project",
    example={"project_id": "writes/app"},
    shows="path_with_namespace star_count",
    role=Role.GUEST,
)
class UnstarProject(OfProject):
    """Take a star back."""


@manage.action(
    "fork",
    POST("/projects/{project_id}/fork"),
    danger=Danger.REVERSIBLE,
    docs="api/project_forks/#fork-a-project",
    example={"project_id": "writes/app", "name": "App fork", "path": "app-fork", "namespace_id": 61},
    shows=CHANGED,
    role=Role.REPORTER,
    switch="forking",
)
class ForkProject(OfProject):
    """Fork a project; GitLab copies in the background, import_status says how far it is."""

    namespace_id: NamespaceId | None = None
    name: Line | None = None
    path: Line | None = None
    description: str | None = None
    visibility: Visibility | None = None
    branches: Annotated[Line, Field(description="Only this branch")] | None = None

    async def run(self, gitlab: GitLab) -> Answer:
        return await gitlab.send(self.request(namespace_id=await _number_of(gitlab, self.namespace_id)))


@manage.action(
    "unlink_fork",
    DELETE("/projects/{project_id}/fork"),
    danger=Danger.DESTRUCTIVE,
    docs="api/project_forks/#delete-a-fork-relationship-between-projects",
    example={"project_id": "27"},
    role=Role.OWNER,
)
class UnlinkFork(OfProject):
    """Make a fork a project of its own; its merge requests to the source are closed."""


@manage.action(
    "transfer",
    PUT("/projects/{project_id}/transfer"),
    danger=Danger.DANGEROUS,
    docs="api/projects/#transfer-a-project-to-a-new-namespace",
    example={"project_id": "25", "namespace": "61"},
    shows=CHANGED,
    role=Role.OWNER,
    repeatable=False,
)
class TransferProject(OfProject):
    """Move a project to another group or user: its path and its members change."""

    namespace: NamespaceId

    async def run(self, gitlab: GitLab) -> Answer:
        return await gitlab.send(self.request(namespace=_number_or_path(self.namespace)))


@manage.action(
    "share",
    POST("/projects/{project_id}/share"),
    danger=Danger.DANGEROUS,
    docs="api/projects/#share-a-project-with-a-group",
    example={"project_id": "acme/website", "group_id": 8, "group_access": 20},
    role=Role.MAINTAINER,
)
class ShareProject(OfProject):
    """Give a group access to the project."""

    group_id: GroupId
    group_access: AccessLevel
    expires_at: FutureDate | None = None

    async def run(self, gitlab: GitLab) -> Answer:
        return await gitlab.send(self.request(group_id=await _number_of(gitlab, self.group_id)))


@manage.action(
    "unshare",
    DELETE("/projects/{project_id}/share/{group_id}"),
    danger=Danger.DANGEROUS,
    docs="api/projects/#delete-a-shared-project-link-in-a-group",
    example={"project_id": "25", "group_id": 61},
    role=Role.MAINTAINER,
)
class UnshareProject(OfProject):
    """Take a group's access to the project away."""

    group_id: GroupId

    async def run(self, gitlab: GitLab) -> Answer:
        path = fill(
            self.endpoint().path,
            project_id=self.project_id,
            group_id=await _number_of(gitlab, self.group_id),
        )
        return await gitlab.send(Request("DELETE", path, repeatable=True))


@manage.action(
    "housekeeping",
    POST("/projects/{project_id}/housekeeping"),
    danger=Danger.REVERSIBLE,
    docs="api/projects/#start-the-housekeeping-task-for-a-project",
    example={"project_id": "25"},
    role=Role.OWNER,
)
class Housekeeping(OfProject):
    """Let GitLab repack the repository."""

    task: Literal["eager", "prune"] | None = None

    async def run(self, gitlab: GitLab) -> Result:
        # The answer is a bare string, the lease of the task: nothing anybody can use.
        await gitlab.send(self.request())
        return Result(data={"started": True})


def _number_or_path(namespace: str) -> int | str:
    return int(namespace) if namespace.isdigit() else namespace


async def _number_of(gitlab: GitLab, namespace: str | None) -> int | None:
    """GitLab takes numbers only where people know paths."""
    if namespace is None or namespace.isdigit():
        return int(namespace) if namespace else None
    answer = await gitlab.get(fill("/namespaces/{id}", id=namespace))
    return int(answer.body["id"])

"""Dependencies that GitLab found in a project, and exports of them."""

from __future__ import annotations

from typing import Annotated, Literal

from gitlab_mcp.actions.action import GET, Action, Role
from gitlab_mcp.actions.exchange import GitLab
from gitlab_mcp.actions.fields import Expects, ExportId, Listed, Page
from gitlab_mcp.actions.result import Result
from gitlab_mcp.actions.scopes import InProject
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.results.file_contents import export_result

browse = Tool("browse_dependencies", "Read dependencies and exports of them (Ultimate).", toolset="security")


PackageManager = Literal[
    "bundler",
    "yarn",
    "npm",
    "pnpm",
    "maven",
    "composer",
    "pip",
    "conan",
    "go",
    "nuget",
    "sbt",
    "gradle",
    "pipenv",
    "poetry",
    "setuptools",
    "apk",
    "bun",
    "cargo",
    "conda",
    "pub",
]
PackageManagers = Annotated[list[PackageManager], Listed, Expects("an array of package managers")]


@browse.action(
    "list",
    GET("/projects/{project_id}/dependencies"),
    example={"project_id": "tiers-b/one"},
    shows="name version package_manager file=dependency_file_path vulnerabilities(id name severity)"
    " licenses=licenses.name",
    role=Role.DEVELOPER,
)
class ListDependencies(InProject):
    """List dependencies with their known vulnerabilities and licences."""

    package_manager: PackageManagers | None = None
    page: Page | None = None


@browse.action(
    "get_export",
    GET("/dependency_list_exports/{export_id}"),
    example={"export_id": 1},
    shows="id has_finished",
    role=Role.DEVELOPER,
)
class GetExport(Action):
    """Read whether an export is finished."""

    export_id: ExportId


@browse.action(
    "download_export",
    GET("/dependency_list_exports/{export_id}/download"),
    example={"export_id": 1},
    role=Role.DEVELOPER,
)
class DownloadExport(Action):
    """Read a finished export: JSON, or for a pipeline an SBOM in the CycloneDX format."""

    export_id: ExportId

    async def run(self, gitlab: GitLab) -> Result:
        name = f"dependency export {self.export_id}"
        return await gitlab.stream(self.request(), lambda chunks, _: export_result(chunks, name))

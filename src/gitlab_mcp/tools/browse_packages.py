"""Packages and their files."""

from __future__ import annotations

from typing import Annotated, Literal

from gitlab_mcp.actions.action import GET
from gitlab_mcp.actions.exchange import GitLab
from gitlab_mcp.actions.fields import AlsoCalled, Id, NonEmpty, Sort
from gitlab_mcp.actions.result import Result
from gitlab_mcp.actions.scopes import InProject, InProjectOrGroup, Paged
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.results.file_contents import download_result
from gitlab_mcp.workflows.generic_packages import OfGenericFile

browse = Tool(
    "browse_packages",
    "Read packages of a project or group, and download generic ones.",
    toolset="delivery",
    also=("package_registry",),
    instead={"versions": "list", "show": "get", "package_files": "files", "get_file": "download"},
)

PACKAGE = (
    "id name version package_type project=project_path created_at:date status"
    " | last_downloaded_at tags=tags.name pipeline_id=pipeline.id url=_links.web_path"
)
PackageType = Literal[
    "maven",
    "npm",
    "conan",
    "nuget",
    "pypi",
    "composer",
    "generic",
    "golang",
    "debian",
    "rubygems",
    "helm",
    "terraform_module",
    "rpm",
    "ml_model",
    "cargo",
]


@browse.action(
    "list",
    GET("/projects/{project_id}/packages", "/groups/{group_id}/packages"),
    example={"project_id": "acme/website"},
    shows=PACKAGE,
)
class ListPackages(InProjectOrGroup, Paged):
    """List packages, each version by itself."""

    package_type: Annotated[PackageType, AlsoCalled("type")] | None = None
    package_name: Annotated[NonEmpty, AlsoCalled("name", "search")] | None = None
    package_version: Annotated[NonEmpty, AlsoCalled("version")] | None = None
    order_by: Literal["created_at", "name", "version", "type", "project_path"] | None = None
    sort: Sort | None = None


@browse.action(
    "get",
    GET("/projects/{project_id}/packages/{package_id}"),
    example={"project_id": "acme/website", "package_id": 1},
    shows=PACKAGE,
)
class GetPackage(InProject):
    """Read one package."""

    package_id: Id


@browse.action(
    "files",
    GET("/projects/{project_id}/packages/{package_id}/package_files"),
    example={"project_id": "acme/website", "package_id": 1},
    shows="id file_name size created_at:date sha256=file_sha256",
)
class ListPackageFiles(InProject, Paged):
    """List the files of a package, the newest of one name last."""

    package_id: Id


@browse.action(
    "download",
    GET("/projects/{project_id}/packages/generic/{package_name}/{package_version}/{file_name}"),
    docs="user/packages/generic_packages/#download-a-single-file",
    example={
        "project_id": "writes/app",
        "package_name": "tool",
        "package_version": "1.0.0",
        "file_name": "a.txt",
    },
)
class DownloadFile(OfGenericFile):
    """Read a file of a generic package: text as text, images as images, of other files the size."""

    async def run(self, gitlab: GitLab) -> Result:
        return await gitlab.stream(
            self.request(), lambda chunks, _: download_result(chunks, f"package file {self.file_name}")
        )

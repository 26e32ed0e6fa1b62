"""Upload and delete packages."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal

from pydantic import Field

from gitlab_mcp.actions.action import DELETE, PUT, Danger
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.fields import AlsoCalled, Id
from gitlab_mcp.actions.recovery_lookup import RecoveryLookup
from gitlab_mcp.actions.scopes import InProject
from gitlab_mcp.actions.sent_files import FileField
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.workflows.generic_packages import FileName, PackageName, PackageVersion

manage = Tool(
    "manage_package",
    "Upload generic packages, and delete packages of any type.",
    toolset="delivery",
    also=("package_registry",),
    instead={"publish create push": "upload", "remove": "delete", "remove_file": "delete_file"},
)


@manage.action(
    "upload",
    PUT("/projects/{project_id}/packages/generic/{package_name}/{package_version}/{file_name}"),
    danger=Danger.REVERSIBLE,
    docs="user/packages/generic_packages/#publish-a-single-file",
    example={
        "project_id": "writes/app",
        "package_name": "tool",
        "package_version": "1.0.0",
        "file_name": "b.txt",
        "package_file": {"filename": "b.txt", "content": "content of b.txt"},
    },
    shows="id package_id file_name size sha256=file_sha256",
    # A second file of the same name would stand beside the first.
    repeatable=False,
    recover_with=RecoveryLookup(
        "browse_packages list",
        "project_id package_name package_version",
        because="the list of packages shows no files",
    ),
)
class UploadFile(InProject):
    """Put a file into a generic package, which is made where there is none."""

    package_name: PackageName
    package_version: PackageVersion
    file_name: FileName
    package_file: Annotated[FileField, AlsoCalled("file", "content", "upload")]
    status: Annotated[Literal["default", "hidden"], Field(description="Of a new package")] | None = None

    async def run(self, gitlab: GitLab) -> Answer:
        request = self.request(package_file=None)
        query = {"select": "package_file", **(request.body or {})}
        content = self.package_file.as_sent().content
        return await gitlab.send(replace(request, query=query, body=None, content=content))


@manage.action(
    "delete",
    DELETE("/projects/{project_id}/packages/{package_id}"),
    # Whoever builds with it no longer can.
    danger=Danger.DANGEROUS,
    example={"project_id": "writes/app", "package_id": 2},
)
class DeletePackage(InProject):
    """Delete a version of a package with its files."""

    package_id: Id


@manage.action(
    "delete_file",
    DELETE("/projects/{project_id}/packages/{package_id}/package_files/{package_file_id}"),
    danger=Danger.DESTRUCTIVE,
    example={"project_id": "writes/app", "package_id": 2, "package_file_id": 2},
    recover_with=RecoveryLookup("browse_packages files", "project_id package_id"),
)
class DeletePackageFile(InProject):
    """Delete a file of a package, which may then no longer work."""

    package_id: Id
    package_file_id: Id

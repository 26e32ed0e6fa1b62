"""A file of a generic package is known by the package's name and version and its own name."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from gitlab_mcp.actions.fields import AlsoCalled, Expects
from gitlab_mcp.actions.scopes import InProject

PackageName = Annotated[
    str,
    Field(pattern=r"^[A-Za-z0-9_.+~@-]{1,255}$"),
    Expects("letters, digits and _ . - + ~ @, at most 255"),
    AlsoCalled("name"),
]
PackageVersion = Annotated[
    str,
    Field(pattern=r"^(?!\.{1,2}$)[A-Za-z0-9_.+~@-]{1,255}$"),
    Expects("letters, digits and _ . - + ~ @, at most 255"),
    AlsoCalled("version"),
]
FileName = Annotated[
    str,
    Field(pattern=r"^(?![~@])(?!\.{1,2}$)[A-Za-z0-9_.+~@-]{1,255}$"),
    Expects("letters, digits and _ . - + ~ @, no ~ or @ first, at most 255"),
    AlsoCalled("filename"),
]


class OfGenericFile(InProject):
    package_name: PackageName
    package_version: PackageVersion
    file_name: Annotated[FileName, AlsoCalled("file")]

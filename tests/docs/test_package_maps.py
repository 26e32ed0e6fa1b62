"""The first file of a package says what each of its files decides: a reader finds the file there."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from gitlab_mcp import refusals, results, success_checks, tiers, workflows
from gitlab_mcp.workflows import access, merge_requests, pipelines, planning, repository

PACKAGES = [
    refusals,
    results,
    success_checks,
    tiers,
    workflows,
    access,
    merge_requests,
    pipelines,
    planning,
    repository,
]


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.__name__)
def test_every_file_is_on_the_map_of_its_package(package: ModuleType) -> None:
    assert package.__file__
    files = {path.name for path in Path(package.__file__).parent.glob("*.py")} - {"__init__.py"}
    assert {name for name in files if name not in (package.__doc__ or "")} == set()

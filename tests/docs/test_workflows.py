"""The project's own CI and its pre-commit hooks run what the Makefile has, and nothing of their own."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from gitlab_mcp.settings import SETTINGS

ROOT = Path(__file__).parents[2]
MAKEFILE = (ROOT / "Makefile").read_text("utf-8")
PYTHONS = ["3.11", "3.12", "3.13"]


def read(path: str) -> dict[str, Any]:
    parsed: dict[str, Any] = yaml.safe_load((ROOT / path).read_text("utf-8"))
    return parsed


def steps(jobs: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for job in jobs.values():
        yield from job["steps"]


def made(commands: list[str]) -> set[str]:
    return set(re.findall(r"\bmake ([a-z]+)", "\n".join(commands)))


@pytest.fixture
def github() -> dict[str, Any]:
    jobs: dict[str, Any] = read(".github/workflows/check.yml")["jobs"]
    return jobs


@pytest.fixture
def gitlab() -> dict[str, Any]:
    return read(".gitlab-ci.yml")


def recipe(target: str) -> str:
    found = re.search(rf"^{target}:.*\n((?:\t.*\n)+)", MAKEFILE, re.MULTILINE)
    assert found, target
    return found[1]


def test_github_makes_what_the_makefile_has_on_every_python(github: dict[str, Any]) -> None:
    assert made([step.get("run", "") for step in steps(github)]) == {"check", "coverage", "manifests"}
    assert github["check"]["strategy"]["matrix"]["python"] == PYTHONS


def test_the_weekly_job_makes_what_the_makefile_has() -> None:
    jobs = read(".github/workflows/dependencies.yml")["jobs"]
    assert made([step.get("run", "") for step in steps(jobs)]) == {"audit", "lock", "check"}
    for target in ("audit", "lock", "pin"):
        assert recipe(target)


def test_gitlab_makes_what_the_makefile_has_on_every_python(gitlab: dict[str, Any]) -> None:
    assert made(gitlab["check"]["script"] + gitlab["coverage"]["script"]) == {"check", "coverage"}
    assert gitlab["check"]["parallel"]["matrix"] == [{"PYTHON_VERSION": PYTHONS}]


@pytest.mark.parametrize("target", ["check", "coverage"])
def test_what_the_workflows_make_is_in_the_makefile(target: str) -> None:
    assert recipe(target)


def test_the_demo_waits_for_nothing_that_only_developers_need() -> None:
    assert re.search(r"^demo: \$\(RUNS\) ##", MAKEFILE, re.MULTILINE)
    assert (
        "-r requirements.runtime.lock"
        in MAKEFILE.partition("$(RUNS): requirements.runtime.lock")[2].partition("\n\n")[0]
    )


def test_gitlab_reads_the_total_that_coverage_prints(gitlab: dict[str, Any]) -> None:
    pattern = gitlab["coverage"]["coverage"].strip("/")
    printed = "TOTAL                                14016   6284   2760    180    49%"
    assert re.findall(pattern, printed, re.MULTILINE) == ["49"]


def test_every_action_of_github_is_pinned(github: dict[str, Any]) -> None:
    used = [step["uses"] for step in steps(github) if "uses" in step]
    assert used
    assert [name for name in used if not re.fullmatch(r"actions/[\w-]+@(v\d+|[0-9a-f]{40})", name)] == []


@pytest.mark.parametrize("path", [".github/workflows/release.yml", ".gitlab/release.yml"])
def test_a_release_is_built_checked_and_signed_by_what_the_makefile_has(path: str) -> None:
    told = [
        line for line in (ROOT / path).read_text("utf-8").splitlines() if not line.lstrip().startswith("#")
    ]
    targets = set(re.findall(r"\bmake ((?:[a-z]+ ?)+)", "\n".join(told)))
    made = {target for several in targets for target in several.split()}
    assert {"released", "bundle", "sbom", "sign"} <= made
    assert all(map(recipe, made))


def test_what_publishes_holds_no_secret_of_its_own() -> None:
    jobs = read(".github/workflows/release.yml")
    assert jobs["permissions"] == {"contents": "read"}
    assert "secrets." not in (ROOT / ".github/workflows/release.yml").read_text("utf-8")
    assert jobs["jobs"]["package"]["permissions"] == {"id-token": "write"}


@pytest.mark.parametrize("path", [".github/workflows/check.yml", ".gitlab-ci.yml"])
def test_no_workflow_needs_a_secret(path: str) -> None:
    assert not re.search(r"secrets\.|token|password", (ROOT / path).read_text("utf-8"), re.IGNORECASE)


def test_the_hooks_run_the_tools_of_make_check_and_download_nothing() -> None:
    repositories = read(".pre-commit-config.yaml")["repos"]
    assert [repository["repo"] for repository in repositories] == ["local"]
    hooks = repositories[0]["hooks"]
    assert {hook["language"] for hook in hooks} == {"system"}
    tools = re.findall(r"\$\(BIN\)/(ruff format|ruff check|mypy|lint-imports)", recipe("check"))
    run = [re.sub(r"^\.venv/bin/| --.*", "", hook["entry"]) for hook in hooks]
    assert run == tools


def test_the_bundle_sets_variables_that_are_read_and_states_no_version() -> None:
    manifest = json.loads((ROOT / "deploy/bundle.json").read_text("utf-8"))
    read = {variable for setting in SETTINGS for variable in setting.environment}
    assert manifest["server"]["mcp_config"]["env"].keys() - read == {"PYTHONPATH"}
    assert "version" not in manifest

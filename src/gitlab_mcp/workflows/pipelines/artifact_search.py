"""Finds the newest job of a branch or tag that left a file among its artifacts, however the job ended.

GitLab itself looks in the last successful pipeline alone, and wants to know the name of the job.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, TypeVar

from gitlab_mcp.actions.action import encode_segment, fill
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.counted import counted
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.gitlab.faults import Refused
from gitlab_mcp.gitlab.paging import has_next_page, items_of

T = TypeVar("T")
Json = Mapping[str, Any]

MOST_PAGES: Final = 3
"""Of a hundred jobs of the project, the newest first."""
MOST_TRIED: Final = 10
"""Jobs that are asked for the file."""


def plain_path(path: str) -> str:
    """GitLab takes the rest of the URL as the path inside the archive, so its slashes are not encoded."""
    return "/".join(encode_segment(part) for part in path.split("/"))


async def newest_with_file(
    gitlab: GitLab,
    project_id: str,
    ref: str | None,
    artifact_path: str,
    read: Callable[[str], Awaitable[T]],
) -> tuple[Json, T]:
    """The job, and what `read` makes of the path of its file. Without a ref it is the default branch."""
    project = fill("/projects/{project_id}", project_id=project_id)
    if ref is None:
        ref = str((await gitlab.get(project)).body.get("default_branch"))
    tried: list[int] = []
    page: Answer | None = None
    for number in range(1, MOST_PAGES + 1):
        page = await gitlab.get(f"{project}/jobs", per_page=100, page=number)
        for job in items_of(page, "jobs"):
            if job.get("ref") != ref or not job.get("artifacts_file"):
                continue
            if len(tried) == MOST_TRIED:
                raise CallFailed(_not_found(tried))
            try:
                return job, await read(f"{project}/jobs/{job['id']}/artifacts/{plain_path(artifact_path)}")
            except Refused as refused:
                if refused.status != 404:
                    raise
            tried.append(job["id"])
        if not has_next_page(page):
            break
    raise CallFailed(_not_found(tried))


def _not_found(tried: list[int]) -> Failure:
    if not tried:
        failure = Failure(Code.NOT_FOUND, "None of the newest jobs of the ref left artifacts.")
        fix = "Give another ref_name, or the job_id of a job that left some: browse_jobs get says so."
        return failure.knowing(missing="artifacts", confidence="likely", suggested_fix=fix)
    asked = counted(len(tried), "job")
    return Failure(
        Code.NOT_FOUND, f"The file is not in the artifacts of the {asked} of the ref that were asked."
    ).knowing(
        missing="artifact_path",
        confidence="certain",
        evidence=[f"job {number} has no such file" for number in tried],
        suggested_fix="browse_jobs artifacts with one of these as job_id lists the files it has.",
    )

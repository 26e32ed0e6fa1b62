"""Rolls an environment back: the deploy job of an earlier successful deployment is run again."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gitlab_mcp.actions.action import fill
from gitlab_mcp.actions.result import Result
from gitlab_mcp.actions.server import Server
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.gitlab.paging import items_of
from gitlab_mcp.workflows.pipelines.waiting import UNDER_WAY
from gitlab_mcp.workflows.steps import not_done, require_steps, take

Json = Mapping[str, Any]

RETRY, PLAY = "manage_job retry", "manage_job play"
LOOKED_AT: Final = 100
"""Deployments of the environment, the newest."""
_DEPLOYING: Final = UNDER_WAY - {"created", "scheduled"}
"""Statuses of a deploy job that is on its way. One that is created or scheduled may wait for long."""
_SHA: Final = re.compile("[0-9a-f]{40,64}")
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True, slots=True)
class Rollback:
    present: Json
    """The deployment that is live."""
    earlier: Json
    """The one to go back to."""

    @property
    def job_id(self) -> int:
        return int(self.earlier["deployable"]["id"])

    def sentence(self) -> str:
        """For the person who is asked: commits, dates and numbers alone."""
        return (
            f"What is live goes back from commit {_commit(self.present)} to commit {_commit(self.earlier)}, by running"
            f" job {self.job_id} of deployment {int(self.earlier['id'])} again."
        )


def path_of_deployments(project_id: str) -> str:
    return fill("/projects/{project_id}/deployments", project_id=project_id)


def newest_of(environment: str) -> dict[str, str]:
    return {"environment": environment, "order_by": "id", "sort": "desc", "per_page": str(LOOKED_AT)}


async def roll_back(server: Server, project_id: str, environment: str, deployment_id: int | None) -> Result:
    require_steps(server, RETRY)
    path = path_of_deployments(project_id)
    deployments = items_of(await server.gitlab.get(path, **newest_of(environment)), path)
    found = rollback(deployments, deployment_id)
    job = await take(server, RETRY, {"project_id": project_id, "job_id": found.job_id})
    data = {"job": dict(job), "from": _told(found.present), "to": _told(found.earlier)}
    if job.get("status") != "manual":
        return Result(data=data)
    # The new try of a manual job waits to be started, as the first one did.
    arguments = {"project_id": project_id, "job_id": job["id"]}
    try:
        data["job"] = dict(await take(server, PLAY, arguments))
    except CallFailed as failed:
        message = (
            "The deploy job was created again and waits: it was not started, and nothing is rolled back yet."
        )
        return Result(data=data, warnings=[not_done(message, PLAY, arguments, failed.failure)])
    return Result(data=data)


def rollback(deployments: Sequence[Json], deployment_id: int | None) -> Rollback:
    """From the newest deployments of one environment. Raises CallFailed where there is nothing to go back to."""
    if not deployments:
        raise CallFailed(_no_deployments())
    done = [each for each in deployments if each.get("status") == "success"]
    if not done:
        raise CallFailed(_nothing_earlier("no successful deployment"))
    present = done[0]
    for each in deployments:
        if each["id"] > present["id"] and _is_under_way(each):
            raise CallFailed(_under_way(int(each["id"])))
    earlier = _earlier(done, present) if deployment_id is None else _chosen(done, present, deployment_id)
    job = earlier.get("deployable")
    if not isinstance(job, Mapping):
        raise CallFailed(_no_job(int(earlier["id"]), "it was made without a job, or its job is deleted"))
    if job.get("archived") is True:
        raise CallFailed(_no_job(int(earlier["id"]), "its job is archived and cannot be run again"))
    return Rollback(present, earlier)


def _earlier(done: Sequence[Json], present: Json) -> Json:
    """The last success before the present commit was deployed first. After one rollback the next thus goes further
    back, and never forward to what was rolled back."""
    first = min(each["id"] for each in done if each["sha"] == present["sha"])
    found = next((each for each in done if each["id"] < first), None)
    if found is None:
        raise CallFailed(_nothing_earlier("no successful deployment of an earlier commit"))
    return found


def _chosen(done: Sequence[Json], present: Json, deployment_id: int) -> Json:
    found = next((each for each in done if each["id"] == deployment_id), None)
    if found is None:
        raise CallFailed(_no_such_deployment())
    if found["sha"] == present["sha"]:
        raise CallFailed(_live_already())
    return found


def _is_under_way(deployment: Json) -> bool:
    job = deployment.get("deployable")
    status = job.get("status") if isinstance(job, Mapping) else None
    return deployment.get("status") == "running" or status in _DEPLOYING


def _told(deployment: Json) -> dict[str, Any]:
    return {
        "deployment_id": deployment["id"],
        "sha": deployment["sha"],
        "created_at": deployment.get("created_at"),
    }


def _commit(deployment: Json) -> str:
    sha = str(deployment["sha"])
    date = _DATE.match(str(deployment.get("created_at") or ""))
    return f"{sha[:8] if _SHA.fullmatch(sha) else 'unknown'}{f' (deployed on {date[0]})' if date else ''}"


def _no_deployments() -> Failure:
    return Failure(Code.NOT_FOUND, "Nothing was ever deployed to an environment of that name.").knowing(
        missing="environment",
        confidence="certain",
        evidence=["the list of its deployments is empty"],
        suggested_fix="Take the name from browse_environments list.",
    )


def _nothing_earlier(what: str) -> Failure:
    return Failure(Code.CONFLICT, "There is nothing to roll back to. Nothing was done.").knowing(
        state="nothing earlier",
        confidence="certain",
        evidence=[f"among the last {LOOKED_AT} deployments of the environment is {what}"],
        suggested_fix="Take the change back instead: manage_merge_request revert.",
    )


def _under_way(deployment_id: int) -> Failure:
    return Failure(Code.CONFLICT, "A deployment to the environment is under way. Nothing was done.").knowing(
        state="deploying",
        confidence="certain",
        evidence=[f"deployment {deployment_id} is newer than the last success, and its job waits or runs"],
        suggested_fix="Wait until it has ended, or cancel its job with manage_job cancel; then call again.",
    )


def _no_job(deployment_id: int, why: str) -> Failure:
    return Failure(
        Code.CONFLICT, f"Deployment {deployment_id} cannot be repeated: {why}. Nothing was done."
    ).knowing(
        state="no job",
        confidence="certain",
        evidence=[f"GitLab shows the job of deployment {deployment_id}"],
        suggested_fix="Give another deployment_id of browse_environments list_deployments with status success, or take"
        " the change back: manage_merge_request revert.",
    )


def _no_such_deployment() -> Failure:
    return Failure(Code.NOT_FOUND, "The environment has no such successful deployment.").knowing(
        missing="deployment_id",
        confidence="certain",
        evidence=[f"it is not among the successful ones of the last {LOOKED_AT}"],
        suggested_fix="Take it from browse_environments list_deployments with environment and status success.",
    )


def _live_already() -> Failure:
    return Failure(Code.CONFLICT, "That commit is live already. Nothing was done.").knowing(
        state="live",
        confidence="certain",
        evidence=["the last successful deployment is of the same commit"],
        suggested_fix="Leave deployment_id out to go back to the one before it.",
    )

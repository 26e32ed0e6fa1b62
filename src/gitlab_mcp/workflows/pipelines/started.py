"""Writes that start a job or a pipeline, and on request answer only when it has ended."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Final

from pydantic import Field

from gitlab_mcp.actions.action import Action, fill
from gitlab_mcp.actions.exchange import Answer
from gitlab_mcp.actions.fields import Flag, NotSent
from gitlab_mcp.actions.result import Notice, Result
from gitlab_mcp.actions.server import Server
from gitlab_mcp.failures.codes import NoticeCode
from gitlab_mcp.gitlab.faults import FAULTS
from gitlab_mcp.results.shown_fields import pick_fields
from gitlab_mcp.workflows.pipelines.awaited import JOB, PIPELINE, Awaited, what_was_awaited
from gitlab_mcp.workflows.pipelines.waiting import wait_until

_PATHS: Final = {
    JOB.noun: "/projects/{project}/jobs/{id}",
    PIPELINE.noun: "/projects/{project}/pipelines/{id}",
}


class Starts(Action):
    """GitLab answers with what it has started."""

    starts: ClassVar[Awaited]

    wait: Annotated[Flag, NotSent(), Field(description="Until it ends")] | None = None

    async def run_with(self, server: Server) -> Answer | Result:
        answer = await super().run_with(server)
        return await self._ended(server, answer) if self.wait and isinstance(answer, Answer) else answer

    async def _ended(self, server: Server, answer: Answer) -> Result:
        started, kind = answer.body, self.starts
        project = self.given()["project_id"]
        path = fill(_PATHS[kind.noun], project=project, id=started["id"])
        named = {"action": "wait", "project_id": project, f"{kind.noun}_id": started["id"]}
        look = {"tool": "browse_pipelines", "arguments": named}
        try:
            waited = await wait_until(server.gitlab, path, kind.is_over, None)
            return await what_was_awaited(server.gitlab, server.may_reach, kind, waited, project, look)
        except FAULTS:
            # It is started, whatever becomes of the reads after it.
            shown: dict[str, Any] = {kind.noun: pick_fields(started, kind.shows)}
            message = f"The {kind.noun} was started; what became of it could not be read."
            return Result(data=shown, warnings=[Notice(NoticeCode.PARTIAL, message, {"next": look})])

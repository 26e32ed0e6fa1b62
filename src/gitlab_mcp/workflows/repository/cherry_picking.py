"""Picks a commit onto a branch that is made for it: for a release branch of a tag, say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from gitlab_mcp.actions.action import fill
from gitlab_mcp.actions.result import Result
from gitlab_mcp.actions.server import Server
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.gitlab.faults import Refused
from gitlab_mcp.workflows.steps import not_done, require_steps, take

CREATE_BRANCH: Final = "manage_branch create"
PICK: Final = "manage_commit cherry_pick"
_SHOWN: Final = ("id", "title", "web_url")


@dataclass(frozen=True, slots=True)
class PickOnNewBranch:
    project_id: str
    branch: str
    start_ref: str
    pick: Mapping[str, Any]
    """The other arguments of the pick: `sha`, and `message` where one was given."""

    async def run(self, server: Server) -> Result:
        require_steps(server, CREATE_BRANCH, PICK)
        made = {"branch": self.branch}
        if not await self._is_there(server):
            await take(server, CREATE_BRANCH, {**made, "project_id": self.project_id, "ref": self.start_ref})
            made["branch_created_from"] = self.start_ref
        arguments = {"branch": self.branch, "project_id": self.project_id, **self.pick}
        try:
            picked = await take(server, PICK, arguments)
        except CallFailed as failed:
            warning = not_done(
                "The branch is made; the commit was not picked.", PICK, arguments, failed.failure
            )
            return Result(data=made, warnings=[warning], own_members=frozenset(made))
        shown = {name: picked[name] for name in _SHOWN if name in picked}
        return Result(data={**shown, **made}, own_members=frozenset(made))

    async def _is_there(self, server: Server) -> bool:
        """Whether a call before this one made the branch, and got no further."""
        try:
            branch = (await server.gitlab.get(self._path("branches", self.branch))).body
        except Refused as refused:
            if refused.status != 404:
                raise
            return False
        start = (await server.gitlab.get(self._path("commits", self.start_ref))).body
        if branch["commit"]["id"] != start["id"]:
            raise CallFailed(_is_taken())
        return True

    def _path(self, kind: str, name: str) -> str:
        path = f"/projects/{{project_id}}/repository/{kind}/{{name}}"
        return fill(path, project_id=self.project_id, name=name)


def _is_taken() -> Failure:
    return Failure(
        Code.CONFLICT, "The branch is there, and does not end where start_ref does. Nothing was done."
    ).knowing(
        state="exists",
        confidence="certain",
        evidence=["GitLab has the branch, at another commit than start_ref"],
        suggested_fix="Leave start_ref out to pick onto the branch as it is, or give another branch.",
    )

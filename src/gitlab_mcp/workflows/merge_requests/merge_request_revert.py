"""Reverts a merge request by a merge request: a branch of its target, the commit that takes it back, the request."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gitlab_mcp.actions.action import fill
from gitlab_mcp.actions.exchange import Answer
from gitlab_mcp.actions.result import Result
from gitlab_mcp.actions.server import Server
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.gitlab.concurrently import answered, concurrently
from gitlab_mcp.gitlab.faults import Fault, Refused
from gitlab_mcp.refusals.alternatives import call
from gitlab_mcp.workflows.merge_requests.merged_commit import commit_of
from gitlab_mcp.workflows.repository.branch_existence import that_are_there
from gitlab_mcp.workflows.steps import not_done, require_steps, take

CREATE_BRANCH, REVERT, OPEN, DELETE_BRANCH = (
    "manage_branch create",
    "manage_commit revert",
    "manage_merge_request create",
    "manage_branch delete",
)
_LONGEST_TITLE = 255
_SHOWN = ("iid", "title", "state", "web_url")

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class MergeRequestRevert:
    project_id: str
    iid: int
    branch: str

    @property
    def says(self) -> str:
        """In the description, as GitLab's own pages write it, and in the message of the commit."""
        return f"This reverts merge request !{self.iid}"

    async def run(self, server: Server) -> Result:
        require_steps(server, CREATE_BRANCH, REVERT, OPEN)
        gitlab = server.gitlab
        found, branch, reverts = await concurrently(
            [
                lambda: gitlab.get(self._path("merge_requests/{iid}", iid=self.iid)),
                lambda: gitlab.get(self._path("repository/branches/{branch}", branch=self.branch)),
                lambda: gitlab.get(
                    self._path("merge_requests"),
                    state="opened",
                    search=self.says,
                    per_page=100,
                    **{"in": "description"},
                ),
            ]
        )
        request = answered(found)
        if there := self._open_revert(answered(reverts).body):
            return Result(
                data={"already": True, **_shown(there), "target_branch": there.get("target_branch")}
            )
        sha = await commit_of(gitlab, self.project_id, self.iid, request.body)
        target = str(request.body["target_branch"])
        commit = await self._revert_on_branch(server, branch, sha, target)
        # A branch that was made of the target shows that this is there too.
        seen = (self.branch,) if isinstance(branch, Answer) else (self.branch, target)
        known = that_are_there(self.project_id, *seen)
        made = {"branch": self.branch, "commit_id": commit, "target_branch": target}
        if not isinstance(branch, Answer):
            made["branch_created_from"] = target
        return await self._opened(server, request.body, made, known)

    def _path(self, path: str, **values: Any) -> str:
        return fill(f"/projects/{{project_id}}/{path}", project_id=self.project_id, **values)

    def _open_revert(self, found: Sequence[Json]) -> Json | None:
        says = re.compile(re.escape(self.says) + r"(?!\d)")
        return next((each for each in found if says.search(str(each.get("description") or ""))), None)

    async def _revert_on_branch(self, server: Server, branch: Answer | Fault, sha: str, target: str) -> str:
        """The commit on the branch that takes it back: made now, or by a call that did not come to its end."""
        if isinstance(branch, Answer):
            commit = branch.body["commit"]
            message = str(commit.get("message") or "")
            if self.says in message or f"This reverts commit {sha}" in message:
                return str(commit["id"])
            query = {"from": target, "to": self.branch}
            compared = await server.gitlab.get(self._path("repository/compare"), **query)
            if compared.body["commits"]:
                raise CallFailed(_branch_is_taken())
        elif isinstance(branch, Refused) and branch.status == 404:
            await take(
                server, CREATE_BRANCH, {"project_id": self.project_id, "branch": self.branch, "ref": target}
            )
        else:
            answered(branch)
        try:
            arguments = {"project_id": self.project_id, "sha": sha, "branch": self.branch}
            return str((await take(server, REVERT, arguments))["id"])
        except CallFailed as failed:
            raise CallFailed(self._not_reverted(failed.failure)) from None

    async def _opened(self, server: Server, request: Json, made: Json, known: Mapping[str, Answer]) -> Result:
        arguments = {
            "project_id": self.project_id,
            "source_branch": self.branch,
            "target_branch": made["target_branch"],
            "title": f'Revert "{request["title"]}"'[:_LONGEST_TITLE],
            "description": self.says,
        }
        try:
            opened = await take(server, OPEN, arguments, known)
        except CallFailed as failed:
            message = "The branch with the revert stands; the merge request was not opened."
            again = {
                "project_id": self.project_id,
                "merge_request_iid": self.iid,
                "source_branch": self.branch,
            }
            rest = not_done(message, "manage_merge_request revert", again, failed.failure)
            return Result(data=made, warnings=[rest])
        return Result(data={**_shown(opened), **made})

    def _not_reverted(self, failure: Failure) -> Failure:
        """With what stands: the branch, at the commit that its target ends with."""
        branch = {"project_id": self.project_id, "branch": self.branch}
        fix = "Where it is still wanted, revert it by hand on that branch: manage_file commit. Else delete the branch."
        if failure.code != Code.CONFLICT and failure.code != Code.REJECTED:
            fix = "Once that is mended send the same call again: it goes on with the branch."
        else:
            message = (
                "It cannot be reverted automatically: it is taken back already, or later commits changed it."
            )
            failure = replace(failure, message=message)
        return failure.knowing(
            evidence=[*failure.facts.get("evidence", ()), "the branch for the revert was created and stands"],
            alternatives=[call(DELETE_BRANCH, branch, "Removes the branch that was made for the revert.")],
            suggested_fix=fix,
        )


def _shown(request: Json) -> dict[str, Any]:
    return {name: request.get(name) for name in _SHOWN}


def _branch_is_taken() -> Failure:
    return Failure(
        Code.CONFLICT, "The branch for the revert is there, with other commits. Nothing was done."
    ).knowing(
        state="exists",
        confidence="certain",
        evidence=["it has commits that the target branch has not, and the last one is no revert of this"],
        suggested_fix="Give another name as source_branch, or delete that branch if nobody needs it.",
    )

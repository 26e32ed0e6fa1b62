"""Renames a branch: GitLab cannot, so another is created at the same commit, and the old one is deleted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gitlab_mcp.actions.action import fill
from gitlab_mcp.actions.exchange import Answer, GitLab, Request
from gitlab_mcp.actions.result import Notice, Result
from gitlab_mcp.actions.server import Server
from gitlab_mcp.failures.codes import Code, NoticeCode
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.gitlab.concurrently import concurrently
from gitlab_mcp.gitlab.faults import FAULTS, Refused
from gitlab_mcp.refusals.alternatives import call
from gitlab_mcp.workflows.steps import not_done, require_steps, take

DELETE = "manage_branch delete"


@dataclass(frozen=True, slots=True)
class BranchRenaming:
    project_id: str
    old: str
    new: str

    def path_of(self, branch: str) -> str:
        path = "/projects/{project_id}/repository/branches/{branch}"
        return fill(path, project_id=self.project_id, branch=branch)

    @property
    def merge_requests(self) -> str:
        return fill("/projects/{project_id}/merge_requests", project_id=self.project_id)

    async def run(self, server: Server) -> Result:
        require_steps(server, DELETE)
        gitlab = server.gitlab
        old, from_it, into_it = await concurrently(
            [
                lambda: gitlab.get(self.path_of(self.old)),
                lambda: gitlab.get(self.merge_requests, source_branch=self.old, state="opened"),
                lambda: gitlab.get(self.merge_requests, target_branch=self.old, state="opened"),
            ]
        )
        if not isinstance(old, Answer):
            if isinstance(old, Refused) and old.status == 404 and await self._new(gitlab):
                raise CallFailed(_renamed_already())
            raise old
        # A caller may be unable to see merge requests, or they are switched off.
        refuse_to_rename(
            old.body, *(each.body if isinstance(each, Answer) else [] for each in (from_it, into_it))
        )
        head = str(old.body["commit"]["id"])
        data: dict[str, Any] = {"branch": self.new, "sha": head}
        path = self.path_of(self.new).rpartition("/")[0]
        sent = {"branch": self.new, "ref": head}
        try:
            data["web_url"] = (await gitlab.send(Request("POST", path, body=sent))).body.get("web_url")
        except Refused:
            # GitLab says in many words that the name is taken: looked at only where it refuses.
            if (new := await self._new(gitlab)) is None:
                raise
            # Where this call was made before and did not come to its end, it is at the same commit.
            if new["commit"]["id"] != head:
                raise CallFailed(_name_is_taken()) from None
            data |= {"already": True, "web_url": new.get("web_url")}
        # That nothing merges from it was seen just now. Who may not see that is not told by the deletion either.
        known = {self.merge_requests: from_it if isinstance(from_it, Answer) else Answer(200, body=[])}
        return await self._without_the_old_one(server, head, data, known)

    async def _without_the_old_one(
        self, server: Server, head: str, data: dict[str, Any], known: Mapping[str, Answer]
    ) -> Result:
        arguments = {"project_id": self.project_id, "branch": self.old}
        now = await self._head(server.gitlab)
        if now != head:
            message = "The new branch is there; the old one is kept, because it moved meanwhile."
            if now is None:
                message = "The new branch is there; the old one is kept, because it could not be read again."
            compare = {"project_id": self.project_id, "from_ref": self.new, "to_ref": self.old}
            look = call(
                "browse_commits compare", compare, "Shows what the old branch has that the new one has not."
            )
            return _told(data, Notice(NoticeCode.PARTIAL, message, {"next": look}))
        try:
            await take(server, DELETE, arguments, known)
        except CallFailed as failed:
            message = "The new branch is there; the old one was not deleted."
            return _told(data, not_done(message, DELETE, arguments, failed.failure))
        return _told({**data, "deleted": self.old})

    async def _new(self, gitlab: GitLab) -> Mapping[str, Any] | None:
        """The branch of the new name; None where there is none that can be read."""
        try:
            branch: Mapping[str, Any] = (await gitlab.get(self.path_of(self.new))).body
        except FAULTS:
            return None
        return branch

    async def _head(self, gitlab: GitLab) -> str | None:
        try:
            return str((await gitlab.get(self.path_of(self.old))).body["commit"]["id"])
        except FAULTS:
            return None


def _told(data: Mapping[str, Any], *warnings: Notice) -> Result:
    """The names are the caller's own words."""
    return Result(data=data, warnings=warnings, own_members=frozenset({"branch", "deleted"}))


def refuse_to_rename(branch: Any, from_it: Any, into_it: Any) -> None:
    """Of what could not be read nothing is refused."""
    if isinstance(branch, Mapping):
        for name in ("default", "protected"):
            if branch.get(name) is True:
                raise CallFailed(_stays(name))
    for requests, how in ((from_it, "source"), (into_it, "target")):
        iids = [each["iid"] for each in requests] if isinstance(requests, list) else []
        if iids:
            raise CallFailed(_has_merge_requests(iids, how))


def _stays(which: str) -> Failure:
    fixes = {
        "default": "A maintainer makes another branch the default first: manage_project_settings update.",
        "protected": "Lift the protection first and set it for the new name: manage_protected_branch. Or leave it.",
    }
    return Failure(Code.CONFLICT, f"The branch is {which} and keeps its name. Nothing was done.").knowing(
        state=which,
        confidence="certain",
        evidence=[f"GitLab says that it is {which}"],
        suggested_fix=fixes[which],
    )


def _has_merge_requests(iids: list[int], how: str) -> Failure:
    named = ", ".join(f"!{iid}" for iid in iids)
    why = {
        "source": "Deleting it would close them, and GitLab cannot give them another source. Merge or close them"
        " first, or create the other branch and keep this one.",
        "target": "Give each another target_branch first: manage_merge_request update.",
    }
    return Failure(
        Code.CONFLICT, f"The branch is the {how} of open merge requests: {named}. Nothing was done."
    ).knowing(
        state=f"{how} of open merge requests",
        confidence="certain",
        evidence=[f"open with this {how}: {named}"],
        suggested_fix=why[how],
    )


def _name_is_taken() -> Failure:
    return Failure(Code.CONFLICT, "There is another branch of the new name. Nothing was done.").knowing(
        state="exists",
        confidence="certain",
        evidence=["the branch of the new name ends with another commit"],
        suggested_fix="Choose another new_branch.",
    )


def _renamed_already() -> Failure:
    return Failure(Code.NOT_FOUND, "There is no branch of the old name, and one of the new name.").knowing(
        missing="branch",
        confidence="certain",
        evidence=["GitLab has new_branch and not branch: it may be renamed already"],
        suggested_fix="Look at the branch of the new name: browse_branches get.",
    )

"""What actions on work items are about: a place, or one work item there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from gitlab_mcp.actions.exchange import GitLab
from gitlab_mcp.actions.fields import Iid
from gitlab_mcp.actions.scopes import InProjectOrGroup
from gitlab_mcp.gitlab.graphql import full_path
from gitlab_mcp.workflows.planning.work_items import gid_of, node_by_iid


class InPlace(InProjectOrGroup):
    named_by: ClassVar[tuple[str, ...]] = ("project_id", "group_id")

    @property
    def place(self) -> str:
        return "project" if self.project_id is not None else "group"

    async def path(self, gitlab: GitLab) -> str:
        return await full_path(gitlab, project_id=self.project_id, group_id=self.group_id)


class OfWorkItem(InPlace):
    work_item_iid: Iid

    async def gid(self, gitlab: GitLab) -> str:
        return await gid_of(gitlab, await self.path(gitlab), self.work_item_iid, "work_item_iid")

    async def node(self, gitlab: GitLab) -> Mapping[str, Any]:
        return await node_by_iid(gitlab, await self.path(gitlab), self.work_item_iid)

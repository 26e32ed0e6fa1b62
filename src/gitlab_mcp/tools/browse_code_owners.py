"""Code owners, read from the CODEOWNERS file. This works on every tier; only Premium makes owners approve."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

from anyio.to_thread import run_sync

from gitlab_mcp.actions.action import GET, Role, fill
from gitlab_mcp.actions.action_facts import Differs
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.fields import FilePath, MergeRequestIid, Ref
from gitlab_mcp.actions.result import Omission, Result
from gitlab_mcp.actions.scopes import InProject
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.gitlab.concurrently import answered, concurrently
from gitlab_mcp.gitlab.faults import Refused
from gitlab_mcp.gitlab.paging import every_page, has_next_page
from gitlab_mcp.results.file_contents import file_result
from gitlab_mcp.workflows.repository.codeowners_file import (
    MOST_COMPARISONS,
    MOST_LINES,
    PATHS,
    CodeOwners,
    Rule,
    Section,
    parse_codeowners,
)
from gitlab_mcp.workflows.repository.path_patterns import TooMuchWork, Work

browse = Tool(
    "browse_code_owners",
    "Read CODEOWNERS: whose a path or a merge request is. Only Premium enforces it.",
    toolset="security",
)

DEFAULT_BRANCH = "HEAD"


@browse.action(
    "list",
    GET("/projects/{project_id}/repository/files/CODEOWNERS"),
    docs="user/project/codeowners/",
    example={"project_id": "acme/shop", "ref": "main"},
    role=Role.REPORTER,
)
class ListOwners(InProject):
    """Read all rules, section by section, and what GitLab does not understand of them."""

    ref: Ref | None = None

    async def run(self, gitlab: GitLab) -> Result:
        found = await _code_owners(gitlab, self.project_id, self.ref or DEFAULT_BRANCH)
        if found is None:
            return _no_file()
        place, owners = found
        rules = [
            {**_named(section), "rules": [_shown(rule) for rule in section.rules]}
            for section in owners.sections
        ]
        return Result(data={"file_path": place, "sections": rules, **_problems(owners)})


@browse.action(
    "owners",
    GET("/projects/{project_id}/repository/files/CODEOWNERS"),
    docs="user/project/codeowners/",
    example={"project_id": "acme/shop", "file_path": "src/app.py", "ref": "main"},
    role=Role.REPORTER,
)
class OwnersOfPath(InProject):
    """Say whose a path is, and by which line of the file."""

    file_path: FilePath
    ref: Ref | None = None

    async def run(self, gitlab: GitLab) -> Result:
        found = await _code_owners(gitlab, self.project_id, self.ref or DEFAULT_BRANCH)
        if found is None:
            return _no_file()
        place, owners = found
        try:
            decided = await run_sync(owners.rules_for, self.file_path)
        except TooMuchWork:
            raise CallFailed(_too_much()) from None
        data = {"owned_by": [{**_named(section), **_shown(rule)} for section, rule in decided]}
        nobody = {} if decided else {"why_empty": "No rule with an owner fits this path."}
        return Result(data={"code_owners_file": place, **data, **nobody})


@browse.action(
    "merge_request",
    GET("/projects/{project_id}/merge_requests/{merge_request_iid}"),
    docs=Differs("user/project/codeowners/", "the page about the job, not about its first request"),
    example={"project_id": "acme/shop", "merge_request_iid": 1},
)
class OwnersOfMergeRequest(InProject):
    """Say whose the changed files are, by the CODEOWNERS of the target branch."""

    merge_request_iid: MergeRequestIid

    async def run(self, gitlab: GitLab) -> Result:
        path = fill(
            "/projects/{project_id}/merge_requests/{iid}",
            project_id=self.project_id,
            iid=self.merge_request_iid,
        )
        asks: list[Callable[[], Awaitable[Answer]]] = [
            partial(gitlab.get, path),
            partial(every_page, gitlab, f"{path}/diffs", per_page=20),
        ]
        request, changes = await concurrently(asks)
        target = answered(request).body["target_branch"]
        found = await _code_owners(gitlab, self.project_id, target)
        if found is None:
            return _no_file()
        place, owners = found
        diffs = answered(changes)
        # A file that was moved concerns the owners of its old path too.
        changed = dict.fromkeys(each[name] for each in diffs.body for name in ("new_path", "old_path"))
        cut = (
            {"note": "Only the first of very many changed files were looked at."}
            if has_next_page(diffs)
            else {}
        )
        owned = await run_sync(_by_owners, owners, list(changed))
        return Result(data={"code_owners_file": place, **owned.data, **cut}, truncated=owned.truncated)


def _by_owners(owners: CodeOwners, paths: list[str]) -> Result:
    """Takes long for many rules and paths, so it belongs into a thread."""
    groups: dict[tuple[Section, tuple[str, ...]], list[str]] = {}
    unowned = []
    left_out: list[Omission] = []
    work = Work(MOST_COMPARISONS)
    for number, path in enumerate(paths):
        try:
            decided = owners.rules_for(path, work)
        except TooMuchWork:
            how = "browse_code_owners owners with the file_path"
            left_out = [Omission("changed files", len(paths) - number, how, path[:200])]
            break
        for section, rule in decided:
            groups.setdefault((section, rule.owners), []).append(path)
        if not decided:
            unowned.append(path)
    owned = [
        {**_named(section), "owners": list(names), "paths": theirs}
        for (section, names), theirs in groups.items()
    ]
    data = {"owned_by": owned, **({"unowned": unowned} if unowned else {})}
    return Result(data=data, truncated=left_out)


async def _code_owners(gitlab: GitLab, project_id: str, ref: str) -> tuple[str, CodeOwners] | None:
    for place in PATHS:
        path = fill("/projects/{project_id}/repository/files/{place}", project_id=project_id, place=place)
        try:
            answer = await gitlab.get(path, ref=ref)
        except Refused as refused:
            if refused.status == 404 and b"File Not Found" in refused.content:
                continue
            raise
        text = file_result(answer.body).text
        try:
            return place, await run_sync(parse_codeowners, text.content if text else "")
        except TooMuchWork:
            raise CallFailed(_too_much()) from None
    return None


def _too_much() -> Failure:
    return Failure(
        Code.PAYLOAD_TOO_LARGE, "The CODEOWNERS file has more or longer rules than are compared here."
    ).knowing(
        limit=MOST_LINES,
        limit_type="response_size",
        unit="lines",
        suggested_fix="Read the file itself: browse_files get with start_line and end_line.",
        retryable=False,
    )


def _no_file() -> Result:
    return Result(data={"owned_by": [], "why_empty": f"There is none of {', '.join(PATHS)} on this branch."})


def _named(section: Section) -> dict[str, Any]:
    approvals: Mapping[str, Any] = (
        {"optional": True} if section.optional else {"approvals": section.approvals}
    )
    return {"section": section.name, **approvals}


def _shown(rule: Rule) -> dict[str, Any]:
    if rule.excludes:
        return {"line": rule.line, "excludes": rule.pattern}
    return {"line": rule.line, "pattern": rule.pattern, "owners": list(rule.owners)}


def _problems(owners: CodeOwners) -> dict[str, Any]:
    found = [
        {"line": each.line, "problem": each.what, **({"words": list(each.words)} if each.words else {})}
        for each in owners.problems
    ]
    return {"problems": found} if found else {}

"""What one call tells of a merge request, asked of GitLab: everything that can be asked at once is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from gitlab_mcp.actions.action import fill
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.result import Result, partly_read
from gitlab_mcp.gitlab.concurrently import concurrently
from gitlab_mcp.gitlab.faults import FAULTS, GraphQLRefused
from gitlab_mcp.gitlab.pages import every_page, find_item, has_next_page
from gitlab_mcp.results.diffs import diff_result
from gitlab_mcp.results.views import project, view
from gitlab_mcp.workflows.merge_readiness import Situation
from gitlab_mcp.workflows.threads import open_threads

Json = Mapping[str, Any]

_MOST_THREADS = 100
"""A page of threads: a review of twenty comments is a small one."""

# REST names only the first check that fails; GraphQL names them all, since 16.5.
_CHECKS = (
    "query($p: ID!, $i: String!) { project(fullPath: $p) { mergeRequest(iid: $i) { iid state draft conflicts"
    " mergeable detailedMergeStatus mergeabilityChecks { identifier status } mergeError shouldBeRebased"
    " rebaseInProgress divergedFromTargetBranch sourceBranchExists targetBranchExists diffHeadSha approved"
    " approvalsRequired approvalsLeft autoMergeEnabled autoMergeStrategy availableAutoMergeStrategies"
    " userDiscussionsCount mergeableDiscussionsState userPermissions { canMerge canApprove }"
    " headPipeline { status } } } }"
)
# One field that an edition or version does not know voids a whole query.
_CHECKS_ALONE = (
    "query($p: ID!, $i: String!) { project(fullPath: $p) { mergeRequest(iid: $i) {"
    " mergeabilityChecks { identifier status } sourceBranchExists targetBranchExists } } }"
)

_REQUEST = view(
    "iid title state draft author=author.username source_branch target_branch description labels"
    " reviewers=reviewers.username detailed_merge_status sha head_pipeline_id=head_pipeline.id"
    " head_pipeline=head_pipeline.status web_url"
).in_a_list
_COMMIT = view("id=short_id title author=author_name").in_a_list
_ISSUE = view("iid title state web_url").in_a_list


async def situation_of(gitlab: GitLab, path: str) -> Situation:
    """`path` is that of the merge request. What cannot be read besides it is left open."""
    also = {"include_rebase_in_progress": True, "include_diverged_commits_count": True}
    merge_request = (await gitlab.get(path, **also)).body
    asks: dict[str, Callable[[], Awaitable[Any]]] = {
        "checks": lambda: _checks(gitlab, merge_request),
        "approvals": lambda: gitlab.get(f"{path}/approvals"),
        "reviewers": lambda: gitlab.get(f"{path}/reviewers"),
        "threads": lambda: every_page(gitlab, f"{path}/discussions"),
    }
    jobs = _jobs_path(merge_request, path)
    if jobs is not None:
        asks["jobs of the pipeline"] = lambda: every_page(gitlab, jobs)
    answers = dict(zip(asks, await concurrently(list(asks.values())), strict=True))
    checks, approvals = answers["checks"], answers["approvals"]
    return Situation(
        merge_request,
        None if isinstance(checks, FAULTS) else checks,
        approvals.body if isinstance(approvals, Answer) else None,
        _items(answers["reviewers"]),
        open_threads(_items(answers["threads"])),
        _items(answers.get("jobs of the pipeline")),
        tuple(name for name, answer in answers.items() if isinstance(answer, FAULTS) and name != "checks"),
    )


async def bundle(gitlab: GitLab, path: str) -> Result:
    """What a reviewer reads first."""
    parts: dict[str, dict[str, int]] = {
        "diffs": {},
        "commits": {},
        "discussions": {"per_page": _MOST_THREADS},
        "closes_issues": {},
    }
    asks: list[Callable[[], Awaitable[Answer]]] = [
        lambda: gitlab.get(path),
        lambda: gitlab.get(f"{path}/approvals"),
    ]
    asks += [
        lambda part=part, query=query: every_page(gitlab, f"{path}/{part}", **query)  # type: ignore[misc]
        for part, query in parts.items()
    ]
    merge_request, approvals, *lists = await concurrently(asks)
    if not isinstance(merge_request, Answer):
        raise merge_request
    diffs, commits, discussions, issues = map(_items, lists)
    facts: dict[str, Any] = {
        **project(merge_request.body, _REQUEST),
        "approved_by": _approvers(approvals),
        "closes_issues": [project(issue, _ISSUE) for issue in issues],
        "commits": [project(commit, _COMMIT) for commit in commits],
        "open_threads": open_threads(discussions),
    }
    result = diff_result(
        diffs,
        source=f"diffs of merge request !{merge_request.body['iid']}",
        changes_count=str(merge_request.body.get("changes_count") or ""),
        facts={name: value for name, value in facts.items() if value},
    )
    asked = zip(("approvals", *parts), (approvals, *lists), strict=True)
    unread = [name for name, answer in asked if isinstance(answer, FAULTS)]
    truncated = [*result.truncated, *map(_rest, filter(_cut, zip(parts, lists, strict=True)))]
    return Result(data=result.data, text=result.text, truncated=truncated, warnings=partly_read(unread))


async def one_diff(gitlab: GitLab, path: str, file_path: str) -> Json | None:
    """The diff of one file, also where the list leaves it out; None for a file that is not changed."""
    entry = await find_item(
        gitlab, f"{path}/diffs", lambda each: file_path in (each["new_path"], each["old_path"])
    )
    if entry is None or entry["diff"] or entry.get("renamed_file"):
        return entry
    # The list leaves large diffs out without a word; the versions have them.
    versions = (await gitlab.get(f"{path}/versions")).body
    if not versions:
        return entry
    whole = (await gitlab.get(f"{path}/versions/{versions[0]['id']}")).body.get("diffs") or ()
    return next((each for each in whole if each["new_path"] == entry["new_path"]), entry)


async def _checks(gitlab: GitLab, merge_request: Json) -> Json | None:
    project_path, _, iid = str(merge_request["references"]["full"]).rpartition("!")
    variables = {"p": project_path, "i": iid}
    try:
        data = await gitlab.graphql(_CHECKS, variables)
    except GraphQLRefused:
        data = await gitlab.graphql(_CHECKS_ALONE, variables)
    return (data.get("project") or {}).get("mergeRequest")


def _jobs_path(merge_request: Json, path: str) -> str | None:
    """The jobs of its head pipeline, where they say more than the pipeline does."""
    pipeline = merge_request.get("head_pipeline")
    if not pipeline or pipeline["status"] in ("success", "skipped"):
        return None
    here = path.partition("/merge_requests/")[0]
    # The pipeline of a merge request from a fork lives in the fork.
    if pipeline["project_id"] != merge_request["project_id"]:
        here = fill("/projects/{project}", project=pipeline["project_id"])
    return f"{here}/pipelines/{pipeline['id']}/jobs"


def _cut(asked: tuple[str, object]) -> bool:
    return isinstance(asked[1], Answer) and has_next_page(asked[1])


def _rest(asked: tuple[str, Any]) -> dict[str, Any]:
    """What to say of a list that goes on."""
    name, answer = asked
    total = answer.headers.get("x-total", "")
    omitted = int(total) - len(answer.body) if total.isdigit() else "unknown"
    tool = "browse_discussions list" if name == "discussions" else f"browse_merge_requests {name}"
    return {
        "what": name,
        "omitted": omitted,
        "how_to_get_it": f"{tool}, page={answer.headers['x-next-page']}",
    }


def _items(answer: object) -> Sequence[Any]:
    return answer.body if isinstance(answer, Answer) else ()


def _approvers(approvals: object) -> list[str]:
    given = approvals.body.get("approved_by") or () if isinstance(approvals, Answer) else ()
    return [each["user"]["username"] for each in given]

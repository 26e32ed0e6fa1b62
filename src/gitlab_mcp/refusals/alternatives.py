"""The calls that help on after a refusal: the list that shows what there is, and the look at the caller's rights."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from gitlab_mcp.failures.codes import Code
from gitlab_mcp.refusals.case import Case
from gitlab_mcp.refusals.findings import Finding


@dataclass(frozen=True, slots=True)
class ListCall:
    action: str
    takes: tuple[str, ...]
    """The fields of the caller that it takes over."""
    needs: int = 1
    """How many of the first of them must be given."""


_IN_PROJECT: Final = ("project_id",)
_IN_PLACE: Final = ("project_id", "group_id")
_BRANCHES: Final = ListCall("browse_branches list", _IN_PROJECT)
_COMMITS: Final = ListCall("browse_commits list", _IN_PROJECT)
_TREE: Final = ListCall("browse_files tree", ("project_id", "ref"))
_ISSUES: Final = ListCall("browse_issues list", _IN_PLACE)
_MERGE_REQUESTS: Final = ListCall("browse_merge_requests list", _IN_PLACE)
_JOBS: Final = ListCall("browse_jobs list", ("project_id", "pipeline_id"))
_ON_A_THREAD: Final = ("project_id", "issue_iid", "merge_request_iid")
_USERS: Final = ListCall("browse_users list", (), 0)
_PROJECTS: Final = ListCall("browse_projects list", (), 0)
_NAMESPACES: Final = ListCall("browse_project_details namespaces", (), 0)

LISTS_BY_FIELD: Final[Mapping[str, ListCall]] = {
    **dict.fromkeys(("branch", "ref", "ref_name", "refs", "from_ref", "to_ref"), _BRANCHES),
    **dict.fromkeys(("default_branch", "source_branch", "target_branch", "start_branch"), _BRANCHES),
    **dict.fromkeys(("sha", "commits", "commit_id", "start_sha"), _COMMITS),
    **dict.fromkeys(("file_path", "path", "actions"), _TREE),
    **dict.fromkeys(("issue_iid", "target_issue_iid", "move_after_id", "move_before_id"), _ISSUES),
    "issue_link_id": ListCall("browse_issues links", ("project_id", "issue_iid"), 2),
    "merge_request_iid": _MERGE_REQUESTS,
    "version_id": ListCall("browse_merge_request_details versions", ("project_id", "merge_request_iid"), 2),
    "pipeline_id": ListCall("browse_pipelines list", _IN_PROJECT),
    "pipeline": ListCall("browse_pipelines list", _IN_PROJECT),
    "job_id": _JOBS,
    "job": _JOBS,
    "artifacts": ListCall("browse_jobs get", ("project_id", "job_id"), 2),
    "discussion_id": ListCall("browse_discussions list", (*_ON_A_THREAD, "sha"), 2),
    "note_id": ListCall("browse_discussions list_notes", _ON_A_THREAD, 2),
    "draft_note_id": ListCall("browse_discussions list_drafts", ("project_id", "merge_request_iid"), 2),
    "award_id": ListCall("browse_reactions list", (*_ON_A_THREAD, "note_id"), 2),
    **dict.fromkeys(("user_id", "username", "assignee_ids", "reviewer_ids"), _USERS),
    **dict.fromkeys(("project_id", "to_project_id", "target_project_id", "from_project_id"), _PROJECTS),
    **dict.fromkeys(("group_id", "namespace", "namespace_id", "parent_id"), _NAMESPACES),
    "milestone_id": ListCall("browse_milestones list", _IN_PLACE),
    "label_id": ListCall("browse_labels list", _IN_PLACE),
    "environment_id": ListCall("browse_environments list", _IN_PROJECT),
    "deployment_id": ListCall("browse_environments list_deployments", _IN_PROJECT),
    "freeze_period_id": ListCall("browse_environments list_freeze_periods", _IN_PROJECT),
    "hook_id": ListCall("browse_webhooks list", _IN_PLACE),
    "epic_iid": ListCall("browse_epics list", ("group_id",)),
    "approval_rule_id": ListCall("browse_approval_rules list", (*_IN_PLACE, "merge_request_iid")),
    **dict.fromkeys(
        ("work_item_iid", "parent_iid", "target_iid"), ListCall("browse_work_items list", _IN_PLACE)
    ),
    "todo_id": ListCall("browse_todos list", (), 0),
    "schedule_id": ListCall("browse_schedules list", _IN_PROJECT),
    "runner_id": ListCall("browse_runners list", _IN_PLACE, 0),
    "board_id": ListCall("browse_boards list", _IN_PLACE),
    "list_id": ListCall("browse_boards lists", (*_IN_PLACE, "board_id"), 2),
    "repository_id": ListCall("browse_registry list", _IN_PLACE),
    "package_name": ListCall("browse_packages list", _IN_PROJECT),
    "package_id": ListCall("browse_packages list", _IN_PLACE),
    "package_file_id": ListCall("browse_packages files", ("project_id", "package_id"), 2),
    "upload_id": ListCall("browse_uploads list", _IN_PLACE),
    "user_list_iid": ListCall("browse_feature_flags list_user_lists", _IN_PROJECT),
}
# Fields that mean another thing below each collection: by the end of the path before them, the longest that fits.
LISTS_BY_COLLECTION: Final[Mapping[str, ListCall]] = {
    "tags": ListCall("browse_tags list", _IN_PROJECT),
    "releases": ListCall("browse_releases list", _IN_PROJECT),
    "labels": ListCall("browse_labels list", _IN_PLACE),
    "wikis": ListCall("browse_wikis list", _IN_PLACE),
    "protected_branches": ListCall("browse_protected_branches list", _IN_PLACE),
    "protected_tags": ListCall("browse_protected_branches list_tags", _IN_PROJECT),
    "protected_environments": ListCall("browse_environments list_protected", _IN_PLACE),
    "links": ListCall("browse_releases links", ("project_id", "tag_name"), 2),
    "variables": ListCall("browse_variables list", _IN_PLACE),
    "admin/ci/variables": ListCall("browse_variables list_instance", (), 0),
    "{schedule_id}/variables": ListCall("browse_schedules get", ("project_id", "schedule_id"), 2),
    "feature_flags": ListCall("browse_feature_flags list", _IN_PROJECT),
    "members": ListCall("browse_members direct", _IN_PLACE),
    "members/all": ListCall("browse_members list", _IN_PLACE),
    "invitations": ListCall("browse_members invitations", _IN_PLACE),
    "access_requests": ListCall("browse_members access_requests", _IN_PLACE),
    "access_tokens": ListCall("browse_access_tokens list", _IN_PLACE),
    "personal_access_tokens": ListCall("browse_access_tokens list", (), 0),
    "deploy_tokens": ListCall("browse_deploy_access list_tokens", _IN_PLACE),
    "deploy_keys": ListCall("browse_deploy_access list_keys", _IN_PROJECT),
    "keys": ListCall("browse_keys list_ssh", ("user_id",), 0),
    "gpg_keys": ListCall("browse_keys list_gpg", ("user_id",), 0),
    "snippets": ListCall("browse_snippets list_own", (), 0),
    "{project_id}/snippets": ListCall("browse_snippets list", _IN_PROJECT),
    "allowlist": ListCall("browse_job_token_scope projects", _IN_PROJECT),
    "groups_allowlist": ListCall("browse_job_token_scope groups", _IN_PROJECT),
}
EXPLAIN_ACCESS: Final = "browse_instance explain_access"


def offer(finding: Finding, case: Case) -> Finding:
    """The same finding with the calls that help on. What the finding offers already comes first."""
    found = list(finding.facts.get("alternatives", ()))
    if finding.code == Code.NOT_FOUND:
        found += _lists(str(finding.facts.get("missing", "")).split(", "), case)
    if finding.code in (Code.NOT_FOUND, Code.PERMISSION_DENIED):
        found += _look_at_rights(finding, case)
    different = {each.get("action") or each.get("where"): each for each in reversed(found)}
    offered = [each for each in reversed(different.values()) if not _is_same_call(each, case)]
    return replace(finding, facts={**finding.facts, "alternatives": offered}) if offered else finding


def call(action: str, arguments: Mapping[str, Any], description: str) -> dict[str, Any]:
    return {
        "action": action,
        **({"arguments": dict(arguments)} if arguments else {}),
        "description": description,
        "available_on": "Free",
    }


def _lists(missing: list[str], case: Case) -> Iterator[dict[str, Any]]:
    given = case.given
    for name in missing:
        listing = _listing(case, name)
        if listing is None:
            continue
        # What is missing itself is no help in finding it.
        arguments = {
            field: given[field] for field in listing.takes if field in given and field not in missing
        }
        if listing in (_PROJECTS, _NAMESPACES) and isinstance(value := given.get(name), str):
            arguments["search"] = value.rstrip("/").rpartition("/")[2]
        if len(arguments) >= listing.needs:
            yield call(listing.action, arguments, f"Shows what there is, to find {name}.")


def _listing(case: Case, field: str) -> ListCall | None:
    path = case.action.endpoint().path if case.action else ""
    before, found, _ = path.partition("/{" + field + "}")
    collections = [name for name in LISTS_BY_COLLECTION if found and before.endswith(f"/{name}")]
    return LISTS_BY_COLLECTION[max(collections, key=len)] if collections else LISTS_BY_FIELD.get(field)


def _look_at_rights(finding: Finding, case: Case) -> Iterator[dict[str, Any]]:
    missing = str(finding.facts.get("missing", "")).split(", ")
    place = {name: case.given[name] for name in ("project_id", "group_id") if name in case.given}
    if place and not place.keys() & set(missing):
        yield call(EXPLAIN_ACCESS, place, "Shows the role, the tier and what is switched on here.")
    elif not place:
        yield call("browse_instance token", {}, "Shows whose token it is and what it may do.")


def _is_same_call(alternative: Mapping[str, Any], case: Case) -> bool:
    if case.action is None:
        return False
    own = f"{case.action.spec.tool.name} {case.action.spec.name}"
    return bool(alternative.get("action") == own and alternative.get("arguments", {}) == case.given)

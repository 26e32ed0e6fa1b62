"""What page of GitLab a URL is, and the reads that show what is on it: the calls an agent would make."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from gitlab_mcp.actions.arguments.urls import Page

_MOST_REFS: Final = 4
"""How many words of a path are tried as the end of a branch's name."""
_FILES: Final = {
    "blob": ("a file", "browse_files get"),
    "raw": ("a file", "browse_files get"),
    "blame": ("the blame of a file", "browse_files blame"),
    "tree": ("a directory", "browse_files tree"),
    "commits": ("the commits of a ref", "browse_commits list"),
}
_ONE: Final = {
    "issues": ("an issue", "browse_issues get"),
    "work_items": ("a work item", "browse_issues get"),
    "merge_requests": ("a merge request", "browse_merge_requests get"),
    "pipelines": ("a pipeline", "browse_pipelines get"),
    "jobs": ("a job", "browse_jobs get"),
    "builds": ("a job", "browse_jobs get"),
    "commit": ("a commit", "browse_commits get"),
    "compare": ("a comparison", "browse_commits compare"),
    "milestones": ("a milestone", "browse_milestones list"),
    "releases": ("a release", "browse_releases get"),
    "tags": ("a tag", "browse_tags get"),
    "wikis": ("a wiki page", "browse_wikis get"),
    "snippets": ("a snippet", "browse_snippets get"),
    "environments": ("an environment", "browse_environments get"),
    "boards": ("an issue board", "browse_boards get"),
    "packages": ("a package", "browse_packages get"),
    "pipeline_schedules": ("a pipeline schedule", "browse_schedules get"),
    "epics": ("an epic", "browse_epics get"),
}
_TABS: Final = {
    ("merge_requests", "diffs"): ("the changes of a merge request", "browse_merge_requests diffs"),
    ("merge_requests", "commits"): ("the commits of a merge request", "browse_merge_requests commits"),
    ("merge_requests", "pipelines"): ("the pipelines of a merge request", "browse_merge_requests pipelines"),
    ("pipelines", "builds"): ("the jobs of a pipeline", "browse_pipelines jobs"),
    ("pipelines", "failures"): ("the failed jobs of a pipeline", "browse_pipelines failure_digest"),
    ("pipelines", "test_report"): ("the tests of a pipeline", "browse_pipelines test_report"),
    ("jobs", "raw"): ("the log of a job", "browse_jobs log"),
}
_LISTS: Final = {
    "issues": ("a list of issues", "browse_issues list"),
    "work_items": ("a list of work items", "browse_work_items list"),
    "merge_requests": ("a list of merge requests", "browse_merge_requests list"),
    "pipelines": ("a list of pipelines", "browse_pipelines list"),
    "jobs": ("a list of jobs", "browse_jobs list"),
    "commits": ("the latest commits", "browse_commits list"),
    "tree": ("the files", "browse_files tree"),
    "branches": ("the branches", "browse_branches list"),
    "tags": ("the tags", "browse_tags list"),
    "releases": ("the releases", "browse_releases list"),
    "milestones": ("the milestones", "browse_milestones list"),
    "labels": ("the labels", "browse_labels list"),
    "wikis": ("the wiki", "browse_wikis list"),
    "snippets": ("the snippets", "browse_snippets list"),
    "environments": ("the environments", "browse_environments list"),
    "feature_flags": ("the feature flags", "browse_feature_flags list"),
    "boards": ("the issue boards", "browse_boards list"),
    "packages": ("the packages", "browse_packages list"),
    "container_registry": ("the container registry", "browse_registry list"),
    "pipeline_schedules": ("the pipeline schedules", "browse_schedules list"),
    "epics": ("a list of epics", "browse_epics list"),
    "project_members": ("the members", "browse_members list"),
    "group_members": ("the members", "browse_members list"),
    "hooks": ("the webhooks", "browse_webhooks list"),
    "runners": ("the runners", "browse_runners list"),
    "forks": ("the forks", "browse_project_details forks"),
    "starrers": ("who starred it", "browse_project_details starrers"),
    "activity": ("what happened last", "browse_project_details events"),
}
_OF_NO_PLACE: Final = {
    "": ("this GitLab", "browse_instance metadata"),
    "dashboard/todos": ("your to-do list", "browse_todos list"),
    "dashboard/issues": ("issues of all your projects", "browse_issues list"),
    "dashboard/merge_requests": ("merge requests of all your projects", "browse_merge_requests list"),
    "dashboard/projects": ("your projects", "browse_projects list"),
    "dashboard/groups": ("your groups", "browse_groups list"),
    "explore/projects": ("all projects you may see", "browse_projects list"),
    "profile": ("your account", "browse_users current"),
    "user_settings": ("your account", "browse_users current"),
}
_FILTERS: Final = {
    "state": "state",
    "search": "search",
    "author_username": "author_username",
    "assignee_username": "assignee_username",
    "assignee_username[]": "assignee_username",
    "reviewer_username": "reviewer_username",
    "milestone_title": "milestone",
    "label_name[]": "labels",
    "label_name": "labels",
    "ref": "ref",
    "status": "status",
    "source": "source",
}
"""The filters of GitLab's lists that are passed on, by the names they have in a URL."""
_SHOW_NOTHING_ELSE: Final = frozenset(
    {
        "page",
        "sort",
        "ref_type",
        "tab",
        "plain",
        "inline",
        "view",
        "w",
        "scope",
        "first_page_size",
        "nav_source",
    }
)
"""What a URL says of the page and not of what is on it."""


@dataclass(frozen=True, slots=True)
class Read:
    """A call that shows the page."""

    what: str
    """What the page is, in our words."""
    call: str
    """`browse_issues get`."""
    arguments: Mapping[str, Any]
    beside: Mapping[str, tuple[str, Mapping[str, Any]]] = field(default_factory=dict)
    """Calls that add to it, by the member of the answer they become."""
    left_out: Sequence[str] = ()
    """The filters in the URL that no action has."""


def reads_of(page: Page, fields: Mapping[str, str]) -> Iterator[Read]:
    """The reads that may show the page, to be tried in this order where one finds nothing. `fields` are those that the
    URL names (`actions.arguments.urls`). None for a page that no action reads."""
    words = [*page.place, page.kind] if page.kind else list(page.place)
    if not page.place or (words[0] in ("dashboard", "explore", "search", "users") and not page.is_group):
        yield from _of_no_place(page, words)
    elif not page.kind:
        yield from _place(page, fields)
    elif page.kind in _FILES and page.tail:
        yield from _file(page, fields)
    elif page.tail and (found := _TABS.get((page.kind, page.tail[-1]))):
        yield _read(found, fields)
    elif page.kind in _ONE and page.tail and page.tail[0] != "new":
        yield from _one(page, fields)
    elif page.kind in _LISTS:
        yield _list(page, _LISTS[page.kind], _where(fields))


def _place(page: Page, fields: Mapping[str, str]) -> Iterator[Read]:
    path = "/".join(page.place)
    if not page.is_group and len(page.place) > 1:
        yield Read("a project", "browse_projects get", {"project_id": fields["project_id"]})
    yield Read("a group", "browse_groups get", {"group_id": path})
    if not page.is_group and len(page.place) == 1:
        yield _person(path)


def _person(username: str) -> Read:
    return Read("a person", "browse_users list", {"username": username})


def _of_no_place(page: Page, words: Sequence[str]) -> Iterator[Read]:
    if words[:1] == ["users"] and len(words) > 1:
        yield _person(words[1])
    elif words[:1] == ["search"]:
        yield from _search(page)
    elif page.kind == "snippets" and page.tail:
        yield Read("a snippet", "browse_snippets get", {"snippet_id": page.tail[0]})
    elif found := _OF_NO_PLACE.get("/".join(words)):
        of_mine = {"membership": True} if words == ["dashboard", "projects"] else {}
        yield _list(page, found, of_mine)


def _search(page: Page) -> Iterator[Read]:
    asked = {name: values[0] for name, values in page.query.items() if values}
    scopes = {"blobs": "code", "wiki_blobs": "wiki", "snippet_titles": "snippets"}
    scope = asked.get("scope", "projects")
    if "search" in asked:
        where: dict[str, str] = {name: asked[name] for name in ("project_id", "group_id") if name in asked}
        where = {"project_id": where["project_id"]} if len(where) > 1 else where
        call = f"search {scopes.get(scope, scope)}"
        yield Read("a search", call, {"search": asked["search"], **where})


def _file(page: Page, fields: Mapping[str, str]) -> Iterator[Read]:
    """GitLab allows a slash in the name of a branch, and a URL does not tell where the name ends."""
    what, call = _FILES[page.kind]
    where = _where(fields)
    lines = {name: fields[name] for name in ("start_line", "end_line") if name in fields}
    ref_field = "ref_name" if page.kind == "commits" else "ref"
    path_field = "path" if page.kind in ("tree", "commits") else "file_path"
    needs_path = path_field == "file_path"
    for length in range(1, min(len(page.tail) - needs_path, _MOST_REFS) + 1):
        ref, path = "/".join(page.tail[:length]), "/".join(page.tail[length:])
        named = {path_field: path} if path else {}
        yield Read(what, call, {**where, ref_field: ref, **named, **(lines if needs_path else {})})


def _one(page: Page, fields: Mapping[str, str]) -> Iterator[Read]:
    what, call = _ONE[page.kind]
    if page.kind == "milestones":
        # The address has the milestone's number in its project; only the list finds it by that.
        yield Read(what, call, {**_where(fields), "iids": [page.tail[0]]})
        return
    if page.kind in ("issues", "work_items", "merge_requests") and "note_id" in fields:
        yield _note(page, fields)
        return
    beside: dict[str, tuple[str, Mapping[str, Any]]] = {}
    if call == "browse_jobs get":
        lines = {name: fields[name] for name in ("start_line", "end_line") if name in fields}
        beside["log"] = ("browse_jobs log", {**_named(fields, "project_id", "job_id"), **lines})
    yield _read((what, call), fields, beside)
    if page.kind == "work_items":
        yield Read(what, "browse_work_items get", {**_where(fields), **_named(fields, "work_item_iid")})


def _note(page: Page, fields: Mapping[str, str]) -> Read:
    """A comment alone does not say what it is about."""
    what, call = _ONE[page.kind]
    thing = _named(fields, "project_id", "issue_iid", "merge_request_iid")
    about = {**thing, "fields": ["iid", "title", "state"]}
    return Read(
        f"a comment on {what}",
        "browse_discussions get_note",
        {**thing, "note_id": fields["note_id"]},
        {"of": (call, about)},
    )


def _read(
    found: tuple[str, str],
    fields: Mapping[str, str],
    beside: Mapping[str, tuple[str, Mapping[str, Any]]] | None = None,
) -> Read:
    what, call = found
    # The line and the note are of the thing; the ref is that of a file.
    arguments = {name: value for name, value in fields.items() if name not in _NOT_OF_A_THING}
    if call != "browse_work_items get":
        arguments.pop("work_item_iid", None)
    return Read(what, call, arguments, beside or {})


_NOT_OF_A_THING: Final = frozenset({"start_line", "end_line", "note_id", "ref", "username"})


def _list(page: Page, found: tuple[str, str], where: Mapping[str, Any]) -> Read:
    what, call = found
    filters: dict[str, Any] = {}
    left_out = []
    for name, values in page.query.items():
        if name in _FILTERS:
            filters[_FILTERS[name]] = list(values) if _FILTERS[name] == "labels" else values[0]
        elif name not in _SHOW_NOTHING_ELSE:
            left_out.append(name)
    return Read(what, call, {**filters, **where}, left_out=left_out)


def _where(fields: Mapping[str, str]) -> dict[str, str]:
    return _named(fields, "project_id", "group_id")


def _named(fields: Mapping[str, str], *names: str) -> dict[str, str]:
    return {name: fields[name] for name in names if name in fields}

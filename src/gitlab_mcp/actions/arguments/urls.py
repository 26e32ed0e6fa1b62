"""What a GitLab URL points at: the page, and the fields of our actions that name what is on it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

_NUMBERED = {
    "issues": "issue_iid",
    "work_items": "issue_iid",
    "merge_requests": "merge_request_iid",
    "pipelines": "pipeline_id",
    "jobs": "job_id",
    "builds": "job_id",
    "environments": "environment_id",
    "snippets": "snippet_id",
    "boards": "board_id",
    "epics": "epic_iid",
    "iterations": "iteration_id",
    "pipeline_schedules": "schedule_id",
}
"""Milestones are not among them: their pages have a number that is none of ours."""
_NAMED = {"releases": "tag_name", "tags": "tag_name", "wikis": "slug", "packages": "package_id"}
_WORK_ITEMS = ("work_items", "issues", "epics")
_OF_A_REF = ("blob", "raw", "tree", "blame", "commits")
_OLD_STYLE: Final = re.compile(
    rf"((?:[^/]+/)+[^/]+)/(({'|'.join(_OF_A_REF)})/.+|(issues|merge_requests|pipelines|jobs|builds|milestones)/\d+(/.*)?"
    r"|commit/[0-9a-f]{7,64}|compare/[^/]+|wikis/.+)"
)
"""A page of a project before there was `/-/`. GitLab still leads from there to the present one."""


class NotOurs(ValueError):
    """The URL is of another host than the configured GitLab."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page of this GitLab."""

    place: Sequence[str]
    """The path of the project, group or person; none for a page of the whole GitLab."""
    is_group: bool = False
    """The URL says that it is a group. One that does not may be one all the same."""
    kind: str = ""
    """The first word after `/-/`: `issues`, `blob`; nothing where it is the place itself."""
    tail: Sequence[str] = ()
    """What comes after the kind."""
    fragment: str = ""
    query: Mapping[str, Sequence[str]] = field(default_factory=dict)


def page_of(url: str, base_url: str) -> Page:
    """Raises NotOurs for another host, ValueError for no URL."""
    path, fragment, query = _below(url, base_url)
    if "/-/" not in path and (old := _OLD_STYLE.fullmatch(path)):
        path = f"{old[1]}/-/{old[2]}"
    place, _, rest = path.partition("/-/")
    if path == "-" or path.startswith("-/"):
        place, rest = "", path.removeprefix("-").strip("/")
    segments = [unquote(part) for part in place.split("/") if part]
    kind, *tail = [unquote(part) for part in rest.split("/") if part] or [""]
    is_group = segments[:1] == ["groups"]
    return Page(segments[1:] if is_group else segments, is_group, kind, tail, fragment, query)


def fields_of(url: str, base_url: str) -> dict[str, str]:
    """The fields a URL names, as text. Raises NotOurs for another host, ValueError for no GitLab URL."""
    page = page_of(url, base_url)
    fields = {**_place(page), **_thing(page.kind, page.tail)}
    if match := re.fullmatch(r"note_(\d+)", page.fragment):
        fields["note_id"] = match[1]
    if match := re.fullmatch(r"L(\d+)(?:-L?(\d+))?", page.fragment):
        fields["start_line"] = match[1]
        fields["end_line"] = match[2] or match[1]
    if "ref" in page.query:
        fields["ref"] = page.query["ref"][0]
    return fields


def is_of(url: str, base_url: str) -> bool:
    """Whether it is a URL of the GitLab at `base_url`."""
    try:
        _below(url, base_url)
    except ValueError:
        return False
    return True


def _below(url: str, base_url: str) -> tuple[str, str, dict[str, list[str]]]:
    parts, base = urlsplit(url.strip()), urlsplit(base_url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("no URL")
    # Where both are on the usual port of their scheme, http leads to https.
    if parts.hostname != base.hostname or _unusual_port(parts) != _unusual_port(base):
        raise NotOurs(parts.hostname)
    root = base.path.rstrip("/")
    if root and not f"{parts.path}/".startswith(f"{root}/"):
        raise NotOurs(f"{parts.hostname}{parts.path[:40]}")
    return parts.path[len(root) :].strip("/"), parts.fragment, parse_qs(parts.query)


def _unusual_port(parts: SplitResult) -> int | None:
    return None if parts.port == (443 if parts.scheme == "https" else 80) else parts.port


def _place(page: Page) -> dict[str, str]:
    place = "/".join(page.place)
    if not place:
        if page.kind:
            return {}
        raise ValueError("the URL names no project and no group")
    if page.is_group:
        return {"group_id": place}
    if len(page.place) == 1 and not page.kind:
        # A lone word may be a group or a person: an action takes the field that it has.
        return {"group_id": place, "username": place}
    return {"project_id": place.removesuffix(".git")}


def _thing(kind: str, tail: Sequence[str]) -> dict[str, str]:
    if not tail:
        return {}
    number = re.fullmatch(r"(\d+)(?:\.\w+)?", tail[0])
    if kind in _NUMBERED and number:
        also = {"work_item_iid": number[1]} if kind in _WORK_ITEMS else {}
        return {_NUMBERED[kind]: number[1], **also}
    if kind in _NAMED:
        return {_NAMED[kind]: "/".join(tail)}
    if kind == "commit":
        return {"sha": tail[0].partition(".")[0]}
    if kind == "compare" and ".." in "/".join(tail):
        start, dots, end = re.split(r"(\.{2,3})", "/".join(tail), maxsplit=1)
        return {"from_ref": start, "to_ref": end, **({"straight": "true"} if dots == ".." else {})}
    if kind in _OF_A_REF:
        # Where the branch's name ends and the path begins, the URL does not tell; most names have no slash.
        ref, *path = tail
        return {"ref": ref} | ({"file_path": "/".join(path), "path": "/".join(path)} if path else {})
    return {}

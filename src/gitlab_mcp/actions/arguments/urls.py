"""What a GitLab URL points at, in the fields of our actions."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, unquote, urlsplit

_NUMBERED = {
    "issues": "issue_iid",
    "work_items": "issue_iid",
    "merge_requests": "merge_request_iid",
    "pipelines": "pipeline_id",
    "jobs": "job_id",
    "milestones": "milestone_id",
    "environments": "environment_id",
    "snippets": "snippet_id",
    "boards": "board_id",
    "epics": "epic_iid",
    "iterations": "iteration_id",
    "pipeline_schedules": "pipeline_schedule_id",
}
_NAMED = {"releases": "tag_name", "tags": "tag_name", "wikis": "slug", "packages": "package_id"}
_WORK_ITEMS = ("work_items", "issues", "epics")
_OF_A_REF = ("blob", "raw", "tree", "blame", "commits")


class NotOurs(ValueError):
    """The URL is of another host than the configured GitLab."""


def fields_of(url: str, base_url: str) -> dict[str, str]:
    """The fields a URL names, as text. Raises NotOurs for another host, ValueError for no GitLab URL."""
    path, fragment, query = _below(url, base_url)
    place, _, rest = path.partition("/-/")
    fields = _place(place, rest)
    if rest:
        fields.update(_thing([unquote(part) for part in rest.split("/") if part]))
    if match := re.fullmatch(r"note_(\d+)", fragment):
        fields["note_id"] = match[1]
    if match := re.fullmatch(r"L(\d+)(?:-L?(\d+))?", fragment):
        fields["start_line"] = match[1]
        fields["end_line"] = match[2] or match[1]
    if "ref" in query:
        fields["ref"] = query["ref"][0]
    return fields


def _below(url: str, base_url: str) -> tuple[str, str, dict[str, list[str]]]:
    parts, base = urlsplit(url.strip()), urlsplit(base_url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("no URL")
    if (parts.hostname, parts.port or _port(parts.scheme)) != (
        base.hostname,
        base.port or _port(base.scheme),
    ):
        raise NotOurs(parts.hostname)
    root = base.path.rstrip("/")
    if root and not parts.path.startswith(root + "/"):
        raise NotOurs(f"{parts.hostname}{parts.path[:40]}")
    return parts.path[len(root) :].strip("/"), parts.fragment, parse_qs(parts.query)


def _port(scheme: str) -> int:
    return 443 if scheme == "https" else 80


def _place(place: str, rest: str) -> dict[str, str]:
    segments = [unquote(part) for part in place.split("/") if part]
    if not segments:
        raise ValueError("the URL names no project and no group")
    if segments[0] == "groups":
        return {"group_id": "/".join(segments[1:])}
    if len(segments) == 1 and not rest:
        # A lone word may be a group or a person: an action takes the field that it has.
        return {"group_id": segments[0], "username": segments[0]}
    return {"project_id": "/".join(segments).removesuffix(".git")}


def _thing(segments: list[str]) -> dict[str, str]:
    kind, *tail = segments
    if not tail:
        return {}
    if kind in _NUMBERED and tail[0].isdigit():
        also = {"work_item_iid": tail[0]} if kind in _WORK_ITEMS else {}
        return {_NUMBERED[kind]: tail[0], **also}
    if kind in _NAMED:
        return {_NAMED[kind]: "/".join(tail)}
    if kind == "commit":
        return {"sha": tail[0]}
    if kind == "compare" and "..." in "/".join(tail):
        start, _, end = "/".join(tail).partition("...")
        return {"from_ref": start, "to_ref": end}
    if kind in _OF_A_REF:
        # Where the branch's name ends and the path begins, the URL does not tell; most names have no slash.
        ref, *path = tail
        return {"ref": ref} | ({"file_path": "/".join(path), "path": "/".join(path)} if path else {})
    return {}

"""The path of a row, with our names for what is in it: GitLab calls nearly everything `:id`.

/projects/:id/remote_mirrors/:mirror_id     /projects/{project_id}/remote_mirrors/{mirror_id}
/projects/:id/issues/:noteable_id/notes     /projects/{project_id}/issues/{issue_iid}/notes
/users/:id/custom_attributes/:key           /users/{user_id}/custom_attributes/{key}
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from gitlab_mcp.api.endpoints import normalised
from gitlab_mcp.api.row_names import singular

_OPTIONAL: Final = re.compile(r"\([^)]*\)")
_PLACEHOLDER: Final = re.compile(r"[:*](\w+)")
_ANONYMOUS: Final = frozenset({"id", "noteable_id", "eventable_id"})
"""What GitLab calls a thing whose kind the word before it tells."""
_BY_IID: Final[Mapping[str, str]] = {"issues": "issue_iid", "merge_requests": "merge_request_iid"}
_NAMES: Final[Mapping[str, Mapping[str, str]]] = {
    "POST /projects/*/import_project_members/*": {"project_id": "source_project_id"},
    "POST /projects/*/fork/*": {"forked_from_id": "forked_from_project_id"},
    "PATCH /namespaces/*/minutes/move/*": {"target_id": "target_namespace_id"},
    "GET /groups/*/members/*": {"member_id": "user_id"},
    "PUT /projects/*/pipeline_schedules/*": {"pipeline_schedule_id": "schedule_id"},
}
"""Where the name that follows from the word before it is taken, or says too little."""


@lru_cache(maxsize=4096)
def path_of(endpoint: str) -> str:
    return named(endpoint)[0]


@lru_cache(maxsize=4096)
def named(endpoint: str) -> tuple[str, Mapping[str, str]]:
    """The path, and by our name of each thing in it GitLab's."""
    own = _NAMES.get(normalised(endpoint), {})
    segments = _OPTIONAL.sub("", endpoint.partition(" ")[2]).rstrip("/").split("/")
    names: dict[str, str] = {}
    filled = []
    for place, segment in enumerate(segments):
        match = _PLACEHOLDER.fullmatch(segment)
        if match is None:
            filled.append(segment)
            continue
        theirs = match[1]
        ours = own.get(theirs, "") if theirs not in names.values() or theirs in own else ""
        ours = ours or (_named_by(segments[place - 1], theirs) if theirs in _ANONYMOUS else theirs)
        if place == 2 and segments[1] in ("projects", "groups") and theirs == "id":
            ours = "project_id" if segments[1] == "projects" else "group_id"
        names[ours] = theirs
        filled.append(f"{{{ours}}}")
    return "/".join(filled), names


def _named_by(word: str, theirs: str) -> str:
    """`hook_id` behind `hooks`."""
    word = word.replace("-", "_")
    return _BY_IID.get(word, f"{singular(word)}_id") if word != "epics" or theirs == "id" else "epic_id"

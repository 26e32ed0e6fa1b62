"""Endpoints whose refusals without a reason have a known meaning, where the caller's role suffices.

`*` stands for one segment of the path, `**` for the rest of it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Final

from gitlab_mcp.actions.action import Role
from gitlab_mcp.failures.codes import Code


@dataclass(frozen=True, slots=True)
class RouteMeaning:
    methods: str
    path: str
    statuses: tuple[int, ...]
    code: Code
    state: str
    """Of a conflict, what is in the way; of a NOT_FOUND, what is missing where no field names it."""
    message: str
    fix: str = ""
    role: Role = Role.GUEST
    """Below this role the role is the cause."""
    until: Role = Role.ADMIN
    """From this role on the meaning is another."""


ROUTE_MEANINGS: Final = (
    RouteMeaning(
        "GET", "/projects/*/pipelines/latest", (403,), Code.NOT_FOUND, "pipeline",
        "The project has no pipeline for this ref yet.", "Run one with manage_pipeline create.",
    ),
    RouteMeaning(
        "DELETE", "/projects/*/environments/*", (403,), Code.CONFLICT, "not stopped",
        "Only a stopped environment can be deleted.", "Stop it first: manage_environment stop.",
        role=Role.DEVELOPER,
    ),
    RouteMeaning(
        "PUT DELETE", "/projects/*/pipeline_schedules/**", (403,), Code.PERMISSION_DENIED, "another's schedule",
        "The schedule is somebody else's: only its owner may change it, or a maintainer who took it over.",
        "Ask its owner, whom browse_schedules get names; a maintainer can call manage_schedule take_ownership first.",
        role=Role.DEVELOPER,
    ),
    RouteMeaning(
        "DELETE", "/projects/*/runners/*", (403,), Code.CONFLICT, "only project",
        "A runner cannot be taken away from the only project it has, nor one that the whole group or instance shares.",
        "browse_runners get shows its projects; manage_runner delete removes the runner itself.",
        role=Role.MAINTAINER,
    ),
    RouteMeaning(
        "PUT", "/projects/*/merge_requests/*/discussions/*", (403,), Code.CONFLICT, "not resolvable",
        "A plain comment cannot be resolved; only threads can.", "Reply to it instead.", role=Role.DEVELOPER,
    ),
    RouteMeaning(
        "PUT DELETE", "/groups/*/members/*", (403,), Code.CONFLICT, "last owner",
        "The last owner of a group cannot leave or be given a lower role.", "Make somebody else an owner first.",
        role=Role.OWNER,
    ),
    RouteMeaning(
        "POST", "/projects/*/merge_requests/*/approve", (401,), Code.CONFLICT, "not approvable",
        "It cannot be approved: this user approved it already, or it is merged or closed.",
        "Read its approvals first.", role=Role.DEVELOPER,
    ),
    RouteMeaning(
        "POST", "/projects/*/merge_requests/*/unapprove", (404,), Code.CONFLICT, "not approved",
        "This user has not approved it, so there is no approval to take back.", "Read its approvals first.",
    ),
    RouteMeaning(
        "PUT", "/projects/*", (403,), Code.PERMISSION_DENIED, "owners only",
        "Some settings of a project only an owner may change, such as its visibility.",
        "Leave them out, or ask an owner to change them.", role=Role.MAINTAINER, until=Role.OWNER,
    ),
    RouteMeaning(
        "POST PUT", "/projects/*/members**", (403,), Code.PERMISSION_DENIED, "owners only",
        "Nobody gives a role above their own: only an owner makes owners, or changes one.",
        "Give a lower role, or ask an owner to do it.", role=Role.MAINTAINER, until=Role.OWNER,
    ),
    RouteMeaning(
        "DELETE", "/projects/*/members/*", (403,), Code.PERMISSION_DENIED, "others",
        "Below Maintainer one can remove nobody but oneself, and only an owner removes an owner.",
        "Ask a maintainer or owner of the project to do it.", until=Role.OWNER,
    ),
    RouteMeaning(
        "POST", "/groups/*/service_accounts", (403,), Code.PERMISSION_DENIED, "administrators only",
        "Here only an administrator may create service accounts: group owners need a setting of the instance.",
        "Ask an administrator to do it, or to let owners of top-level groups create service accounts: "
        "Admin area > Settings > General > Account and limit.",
        role=Role.OWNER,
    ),
    RouteMeaning(
        "PUT", "/projects/*/merge_requests/*/reset_approvals", (401,), Code.PERMISSION_DENIED, "bots only",
        "Only project and group bots may reset approvals.", "Use a project or group access token.",
    ),
    RouteMeaning(
        "POST", "/projects/*/merge_requests/*/pipelines", (405,), Code.CONFLICT, "preparing",
        "GitLab is still preparing the merge request, or there is nothing to run.",
        "Wait a moment and try again; check that .gitlab-ci.yml has jobs for merge requests.",
    ),
    RouteMeaning(
        "POST", "/**/cancel_merge_when_pipeline_succeeds", (405, 406), Code.CONFLICT, "no auto-merge",
        "Auto-merge is not set, so there is nothing to cancel.",
    ),
    RouteMeaning(
        "POST", "/**/access_tokens/*/rotate", (401,), Code.CONFLICT, "revoked",
        "The token to rotate is revoked or expired.", "Create a new token.",
    ),
    RouteMeaning(
        "POST", "/personal_access_tokens/*/rotate", (401,), Code.CONFLICT, "revoked",
        "The token to rotate is revoked or expired.", "Create a new token.",
    ),
    RouteMeaning(
        "GET", "/personal_access_tokens/*", (401,), Code.NOT_FOUND, "token",
        "There is no such token, or it is somebody else's.", "List the tokens of one's own.",
    ),
    RouteMeaning(
        "POST", "/projects/*/fork", (404,), Code.FEATURE_UNAVAILABLE, "forking off",
        "Forking is switched off for this project.", "Ask a maintainer to switch forks on.",
    ),
    RouteMeaning(
        "GET POST PUT DELETE", "/projects/*/pages/**", (404,), Code.FEATURE_UNAVAILABLE, "pages off",
        "Pages is switched off on this instance.", "Ask an administrator to switch Pages on.",
    ),
    RouteMeaning(
        "GET POST PUT DELETE", "/projects/*/pages", (404,), Code.FEATURE_UNAVAILABLE, "pages off",
        "Pages is switched off on this instance.", "Ask an administrator to switch Pages on.",
    ),
    RouteMeaning(
        "GET POST", "/bulk_imports/**", (404,), Code.FEATURE_UNAVAILABLE, "direct transfer off",
        "Direct transfer is switched off on this instance.", "Ask an administrator to allow direct transfer.",
    ),
    RouteMeaning(
        "GET POST", "/bulk_imports", (404,), Code.FEATURE_UNAVAILABLE, "direct transfer off",
        "Direct transfer is switched off on this instance.", "Ask an administrator to allow direct transfer.",
    ),
    RouteMeaning(
        "POST", "/projects/import", (403,), Code.FEATURE_UNAVAILABLE, "import source off",
        "This import source is switched off on this instance.", "Ask an administrator to allow the import source.",
    ),
    RouteMeaning(
        "POST", "/projects/remote-import**", (403, 404), Code.FEATURE_UNAVAILABLE, "import source off",
        "This import source is switched off on this instance.", "Ask an administrator to allow the import source.",
    ),
    RouteMeaning(
        "PUT", "/projects/*/issues/*/reorder", (422,), Code.NOT_FOUND, "neighbour",
        "One of the issues to put it between does not exist.",
        "Give move_after_id and move_before_id as the global ids of issues in the same project.",
    ),
)  # fmt: skip


def meaning_at_route(method: str, path: str, status: int) -> RouteMeaning | None:
    return next(
        (
            meaning
            for meaning in ROUTE_MEANINGS
            if status in meaning.statuses
            and method in meaning.methods.split()
            and _pattern(meaning.path).fullmatch(path)
        ),
        None,
    )


@cache
def _pattern(path: str) -> re.Pattern[str]:
    return re.compile(re.escape(path).replace(r"\*\*", ".*").replace(r"\*", "[^/]+"))

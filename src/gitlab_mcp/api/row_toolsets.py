"""The toolset of a noun of rows: what an administrator alone may do is `admin`; else by what it is about."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

BY_NOUN: Final[tuple[tuple[str, str], ...]] = (
    (
        "admin",
        r"^admin_|^application_|^gitlab_feature|^system_hook|^license|^ldap_|^sidekiq|^topic$|^runner_controller",
    ),
    (
        "admin",
        r"^broadcast|^elasticsearch|^experiment|^database|^organization|^namespace(?!_work_item)|^project_alias",
    ),
    (
        "admin",
        r"repository_storage_move|_custom_attribute$|^user$|^user_(?!project_deploy)|^key$|^occurrence",
    ),
    (
        "access",
        r"member|token|(?:^|_)key$|service_account|saml|scim|ldap|ssh_|identit|application|_user$|two_factor",
    ),
    (
        "access",
        r"integration|_hook_|certificate|secrets_manager|placeholder|shared_project|invited_group|^own_|pin$",
    ),
    (
        "security",
        r"vulnerabilit|security|compliance|attestation|managed_license|dependency_list|scan|policy_store",
    ),
    ("planning", r"issue|epic|work_item|milestone|label|iteration|alert|award_emoji|todo"),
    ("ci", r"job|pipeline|trigger|runner|resource_group|secure_file|terraform|cluster|catalog"),
    (
        "delivery",
        r"package|registry|debian|dependency_proxy|pages|release|environment|feature_flag|error_tracking",
    ),
    ("knowledge", r"wiki|snippet|markdown"),
    ("core", r"^merge_request|^repository|^suggestion|approval|branch"),
)
"""The first pattern that fits the noun decides."""
OTHERS: Final = "insight"


def toolset_of(noun: str, roles: Collection[str | None]) -> str:
    """`roles`: the least ones of its rows, where they are known."""
    known = {role for role in roles if role}
    if known == {"admin"}:
        return "admin"
    return next((toolset for toolset, pattern in BY_NOUN if re.search(pattern, noun)), OTHERS)

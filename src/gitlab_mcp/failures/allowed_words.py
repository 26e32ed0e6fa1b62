"""The words of GitLab that may stand in sentences of ours: those in these lists and of these forms.

Whoever writes to GitLab can put any text into an answer. All other words stay in `gitlab_message`, which is data.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from email.utils import parsedate_to_datetime
from typing import Any, Final

SCOPES: Final = frozenset((
    "admin_mode", "ai_features", "ai_workflows", "api", "create_runner", "email", "k8s_proxy", "manage_runner",
    "mcp", "openid", "profile", "read_api", "read_observability", "read_registry", "read_repository",
    "read_service_ping", "read_user", "read_virtual_registry", "self_rotate", "sudo", "write_observability",
    "write_registry", "write_repository", "write_virtual_registry",
))  # fmt: skip

CHOOSABLE_SCOPES: Final = SCOPES - {"ai_workflows", "email", "mcp", "openid", "profile"}
"""Those that a person can choose for a token; GitLab and applications give the others."""

# X of `404 X Not Found`: a name of a GitLab model, sometimes the caller's own words.
_RECORDS: Final = frozenset((
    "application", "approval rule", "artifacts", "avatar", "badge", "blob", "board", "branch", "build",
    "commit", "deploy key", "deploy token", "deployment", "discussion", "email", "environment", "epic",
    "error tracking setting", "feature flag", "file", "freeze period", "gpg key", "group", "group variable",
    "groupvariable", "hook", "identity", "instance variable", "instancevariable", "integration", "invitation",
    "issue", "issue link", "iteration", "job", "key", "label", "link", "list", "member", "merge request",
    "milestone", "namespace", "note", "package", "page", "personal access token", "pipeline",
    "pipeline schedule", "project", "protected branch", "protectedbranch", "protected environment",
    "protected tag", "ref", "reference", "release", "remote mirror", "repository", "runner", "schedule",
    "snippet", "ssh key", "status check", "submodule", "tag", "todo", "topic", "tree", "trigger",
    "url variable", "user", "variable", "version", "wiki page",
))  # fmt: skip

_VERSION: Final = re.compile(r"\d{1,3}(?:\.\d{1,4}){1,3}(?:-(?:pre|rc\d{1,3}|ee|ce|jh))*")
_REQUEST_ID: Final = re.compile(
    r"[0-9A-HJKMNP-TV-Z]{26}|[0-9a-f]{8,64}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
)
_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}")


_CI_STATUSES: Final = frozenset((
    "created", "waiting_for_resource", "preparing", "waiting_for_callback", "pending", "running", "success", "failed",
    "canceling", "canceled", "skipped", "manual", "scheduled",
))  # fmt: skip


def ci_status(word: Any) -> str | None:
    return word if isinstance(word, str) and word in _CI_STATUSES else None


def scopes(words: Iterable[Any]) -> tuple[str, ...]:
    return tuple(word for word in words if isinstance(word, str) and word in SCOPES)


def record(words: str | None) -> str | None:
    """X of `404 X Not Found`, in lower case."""
    name = words.lower() if words else ""
    return name if name in _RECORDS else None


def version(text: Any) -> str | None:
    return text if isinstance(text, str) and _VERSION.fullmatch(text) else None


def day(text: Any) -> str | None:
    return text if isinstance(text, str) and _DAY.fullmatch(text) else None


def request_id(text: str | None) -> str | None:
    """A ULID, as GitLab makes them, a UUID or a hexadecimal number."""
    return text if text and _REQUEST_ID.fullmatch(text) else None


def http_date(text: str | None) -> str | None:
    """As ISO 8601."""
    try:
        return parsedate_to_datetime(text).isoformat() if text else None
    except ValueError:
        return None

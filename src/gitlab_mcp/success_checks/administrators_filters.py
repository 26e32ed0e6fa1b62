"""Filters that GitLab takes from administrators only. From others it ignores them, and lists everybody."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from gitlab_mcp.actions.result import Notice
from gitlab_mcp.success_checks.not_applied_notice import not_applied
from gitlab_mcp.success_checks.success import Success

_FILTERS: Final[Mapping[str, tuple[str, ...]]] = {
    "/users": ("admins", "created_after", "created_before", "order_by", "sort"),
}
_SHOWN_TO_ADMINISTRATORS: Final = "is_admin"


def administrators_filters(success: Success) -> Iterator[Notice]:
    """Asks nothing: GitLab shows to administrators who else is one."""
    body = success.body
    if not isinstance(body, list) or any(_SHOWN_TO_ADMINISTRATORS in each for each in body):
        return
    for field in _FILTERS.get(success.path, ()):
        if body and success.given.get(field):
            message = f"{field} was ignored: GitLab takes it from administrators only."
            yield not_applied(message, field=field, suggested_fix="Leave it out, or ask an administrator.")

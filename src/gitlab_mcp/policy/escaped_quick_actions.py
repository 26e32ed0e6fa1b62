"""Tells the caller when lines like `/close` were escaped, so that GitLab takes them as text and not as commands."""

from __future__ import annotations

from gitlab_mcp.actions.quick_actions import TakesQuickActions, was_escaped
from gitlab_mcp.actions.result import Notice
from gitlab_mcp.actions.shape import shapes
from gitlab_mcp.failures.codes import NoticeCode
from gitlab_mcp.policy.guard import ProposedCall


async def notice_escaped_quick_actions(proposed: ProposedCall) -> Notice | None:
    action = proposed.call.action
    if not action.spec.writes or proposed.call.options.quick_actions:
        return None
    text_fields = (name for name, shape in shapes(type(action)).items() if shape.mark(TakesQuickActions))
    escaped = [name for name in text_fields if was_escaped(getattr(action, name) or "")]
    if not escaped:
        return None
    return Notice(
        NoticeCode.NOT_APPLIED,
        "Lines that begin with a slash and a word were sent as text, not as quick actions.",
        {
            "fields": escaped,
            "suggested_fix": "Send quick_actions: true if they were meant and the person agrees; "
            "otherwise nothing is left to do.",
        },
    )

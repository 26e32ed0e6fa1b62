"""Lines that GitLab would take for commands are sent as text; here the caller hears of it."""

from __future__ import annotations

from gitlab_mcp.actions.quick_actions import Speaks, was_escaped
from gitlab_mcp.actions.result import Notice
from gitlab_mcp.actions.shape import shapes
from gitlab_mcp.failures.codes import NoticeCode
from gitlab_mcp.policy import Intent


async def sent_as_text(intent: Intent) -> Notice | None:
    action = intent.call.action
    if not action.spec.writes or intent.call.options.quick_actions:
        return None
    marked = (name for name, shape in shapes(type(action)).items() if shape.mark(Speaks))
    fields = [name for name in marked if was_escaped(getattr(action, name) or "")]
    if not fields:
        return None
    return Notice(
        NoticeCode.NOT_APPLIED,
        "Lines that begin with a slash and a word were sent as text, not as quick actions.",
        {
            "fields": fields,
            "suggested_fix": "Send quick_actions: true if they were meant and the person agrees; "
            "otherwise nothing is left to do.",
        },
    )

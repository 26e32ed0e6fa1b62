"""Actions made of data: what no tool has an action for is a row of `api.rows`, and becomes a class when it is called.

From then on it is an action as any other: the same validation, guards, recovery, refusals and checks. A noun of rows is
a tool that is never listed; its actions are the verbs. `docs/decisions/rows.md` says why.

places.py         the path of a row, with names for what is in it
row_fields.py     the type of each field, and what it can reach
route_action.py   the class
"""

from gitlab_mcp.rows.route_action import tool_of

__all__ = ["tool_of"]

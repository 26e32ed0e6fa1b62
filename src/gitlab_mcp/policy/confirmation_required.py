"""Which calls need a person's confirmation: those at or above the danger level of `--confirm`.

An action declares its level as `danger=`; a field marked with a `Risk` says which values raise it. Text with
`quick_actions: true` counts as destructive (`actions/call.py`). How it is asked for is in `confirmation.py`.
"""

from __future__ import annotations

from collections.abc import Callable

from gitlab_mcp.actions.danger import Danger
from gitlab_mcp.policy.danger import exceeds


def confirmation_required(lowest: Danger | None, trust: Danger | None) -> Callable[[Danger], bool]:
    """`lowest` is the least dangerous level that needs a confirmation; None: no call needs one.

    What is dangerous always does, unless the operator said with `trust` that callers may do it.
    """

    def required(danger: Danger) -> bool:
        if trust is None and danger is Danger.DANGEROUS:
            return True
        return lowest is not None and not exceeds(lowest, danger)

    return required

"""What follows from how dangerous a call is (`actions/danger.py`):

| danger      | without settings                | changed by                              |
| ----------- | ------------------------------- | --------------------------------------- |
| read        | allowed                         |                                         |
| reversible  | allowed                         | `--confirm reversible`: asks first      |
| destructive | asks for confirmation           | `--confirm`; `--trust reversible`: refused |
| dangerous   | asks the person; refused where the client cannot ask | `--trust`          |

`--trust` is in `trust.py`, `--confirm` in `confirmation_required.py`.
"""

from __future__ import annotations

from gitlab_mcp.actions.danger import Danger


def exceeds(danger: Danger, limit: Danger) -> bool:
    return danger.rank > limit.rank

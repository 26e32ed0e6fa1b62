"""The order of the danger levels, and what follows from an action's level:

| danger      | without settings                | changed by                              |
| ----------- | ------------------------------- | --------------------------------------- |
| read        | allowed                         |                                         |
| reversible  | allowed                         | `--confirm reversible`: asks first      |
| destructive | asks for confirmation           | `--confirm`; `--trust reversible`: refused |
| dangerous   | asks the person; refused where the client cannot ask | `--trust`          |

`--trust` is in `trust.py`, `--confirm` in `confirmation_required.py`.
"""

from __future__ import annotations

from typing import Final

from gitlab_mcp.actions.action import Danger

_LEVELS: Final = (Danger.READ, Danger.REVERSIBLE, Danger.DESTRUCTIVE, Danger.DANGEROUS)


def exceeds(danger: Danger, limit: Danger) -> bool:
    return _LEVELS.index(danger) > _LEVELS.index(limit)

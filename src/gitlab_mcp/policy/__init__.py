"""May this call happen? Each guard looks at a validated call and says nothing, or raises the refusal."""

from __future__ import annotations

from collections.abc import Callable

from gitlab_mcp.core.call import Call

Guard = Callable[[Call], None]

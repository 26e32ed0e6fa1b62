"""The one value every failure becomes, and the one exception that carries it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from gitlab_mcp.failures.codes import Code


@dataclass(frozen=True, slots=True)
class Failure:
    """A code, one trusted sentence, and what is known.

    `facts` holds only what applies; the names of facts are those of docs/reference/errors.md and are the
    same in every rendering. Text that GitLab sent appears in facts alone, and there only as `gitlab_message`.
    """

    code: Code
    message: str
    facts: Mapping[str, Any] = field(default_factory=dict)

    def knowing(self, **facts: Any) -> Failure:
        """The same failure with more facts; a fact of None is left out."""
        known = {name: value for name, value in facts.items() if value is not None}
        return replace(self, facts={**self.facts, **known})


class CallFailed(Exception):
    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.code)
        self.failure = failure

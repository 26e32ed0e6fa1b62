"""What the doctor found: one check after another, each with the step that mends it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Mark(StrEnum):
    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Check:
    name: str
    mark: Mark
    found: str
    fix: str | None = None


@dataclass(frozen=True, slots=True)
class Report:
    checks: tuple[Check, ...]
    gitlab_reached: bool
    username: str = ""
    """Whose token it is, where GitLab says so."""

    @property
    def worst(self) -> Mark:
        return max((check.mark for check in self.checks), key=list(Mark).index, default=Mark.OK)

"""CI lint, of configurations that are told beforehand."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from tests.support.standin.exchange import Received, Reply
from tests.support.standin.nouns.routes import Routes, Thing


@dataclass(frozen=True)
class Linted:
    """What GitLab finds in one configuration."""

    jobs: dict[str, list[str]] = field(default_factory=dict)
    """By branch: the jobs that a push would run."""
    errors: tuple[str, ...] = ()


class CiLint(Routes):
    routes: ClassVar = {"GET /ci/lint": "of_ref", "POST /ci/lint": "of_draft"}

    def __init__(self, place: str, by_ref: dict[str, Linted], draft: Linted | None = None) -> None:
        super().__init__(place)
        self.by_ref = by_ref
        self.draft = draft

    def of_ref(self, received: Received) -> Reply:
        asked = dict(received.params)
        ref = asked.get("content_ref", "main")
        if ref not in self.by_ref:
            return Reply.of(404, {"message": "404 Commit Not Found"})
        return _answer(self.by_ref[ref], asked.get("dry_run_ref") or ref, "dry_run" in asked)

    def of_draft(self, received: Received) -> Reply:
        assert self.draft is not None
        return _answer(self.draft, received.json.get("ref", "main"), "dry_run" in received.json)


def _answer(linted: Linted, ref: str, simulated: bool) -> Reply:
    body: Thing = {"valid": not linted.errors, "errors": list(linted.errors), "warnings": [], "includes": []}
    body["merged_yaml"] = None if linted.errors else "---\nbuild:\n  script:\n  - make\n"
    if simulated and not linted.errors and ref not in linted.jobs:
        body |= {"valid": False, "errors": ["Reference not found"], "merged_yaml": None, "includes": None}
    elif simulated:
        body["jobs"] = [
            {"name": name, "stage": "test", "script": ["make"], "when": "on_success", "allow_failure": False}
            for name in linted.jobs.get(ref, [])
        ]
    return Reply.of(200, body)

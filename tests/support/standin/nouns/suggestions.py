"""Suggestions in the threads of a merge request."""

from __future__ import annotations

from typing import ClassVar

from tests.support.standin.exchange import Received, Reply
from tests.support.standin.nouns.routes import Routes, Thing, page


class Suggestions(Routes):
    routes: ClassVar = {
        r"GET /projects/[^/]+/merge_requests/\d+/discussions": "threads",
        r"PUT /suggestions/(\d+)/apply": "apply",
        "PUT /suggestions/batch_apply": "apply_several",
    }

    def __init__(self, file: str, changes: dict[int, str], shown_with_notes: bool = True) -> None:
        """`changes` has for each suggestion, by number, what line 1, 2, 3… of the file becomes."""
        super().__init__()
        self.lines = file.splitlines()
        self.changes = changes
        self.applied: set[int] = set()
        self.shown_with_notes = shown_with_notes

    def threads(self, received: Received) -> Reply:
        return page([self._thread(number, line) for line, number in enumerate(self.changes, 1)])

    def apply(self, received: Received, number: str) -> Reply:
        reply = self._applied([int(number)])
        return reply or Reply.of(200, self._shown(int(number)))

    def apply_several(self, received: Received) -> Reply:
        numbers = received.json["ids"]
        return self._applied(numbers) or Reply.of(200, [self._shown(number) for number in numbers])

    def _applied(self, numbers: list[int]) -> Reply | None:
        if any(number not in self.changes for number in numbers):
            text = "Suggestion is not applicable as the suggestion was not found."
            return Reply.of(404, {"message": text})
        if self.applied & set(numbers):
            return Reply.of(400, {"message": "Can't apply this suggestion."})
        for number in numbers:
            self.lines[list(self.changes).index(number)] = self.changes[number]
            self.applied.add(number)
        return None

    def _shown(self, number: int) -> Thing:
        # As GitLab does: the answer to applying shows it as it was.
        return {"id": number, "from_line": 1, "to_line": 1, "appliable": True, "applied": False}

    def _thread(self, number: int, line: int) -> Thing:
        note: Thing = {
            "id": number + 100,
            "type": "DiffNote",
            "author": {"id": 3, "username": "bob"},
            "body": f"```suggestion:-0+0\n{self.changes[number]}\n```",
            "system": False,
            "resolvable": True,
            "resolved": False,
            "position": {"new_path": "app.py", "new_line": line, "old_line": None},
        }
        if self.shown_with_notes:
            note["suggestions"] = [{**self._shown(number), "applied": number in self.applied}]
        return {"id": f"{number:040x}", "individual_note": False, "notes": [note]}

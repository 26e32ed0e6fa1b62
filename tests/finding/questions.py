"""The table of questions in people's words, in two halves: one that the search was built on, one that tests it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gitlab_mcp.finding.documents import index

TABLE = Path(__file__).with_name("questions.txt")
TOP = 3
_LOOKED_AT = "# All of these were looked at"


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    answers: tuple[str, ...]
    """Actions as `manage_label create`, or endpoints as `POST /projects/{}/badges`."""

    was_looked_at: bool = False
    """While the search was tuned, so that it can only be built on."""

    @property
    def is_built_on(self) -> bool:
        return self.was_looked_at or hashlib.sha256(self.text.encode()).digest()[0] % 2 == 0


def questions() -> list[Question]:
    to_test, _, to_build_on = TABLE.read_text("utf-8").partition(_LOOKED_AT)
    return [*_read(to_test, was_looked_at=False), *_read(to_build_on, was_looked_at=True)]


def _read(text: str, *, was_looked_at: bool) -> Iterator[Question]:
    for line in text.splitlines():
        question, arrow, answers = line.partition(" => ")
        if arrow and not line.startswith("#"):
            yield Question(question, tuple(answers.split(" ; ")), was_looked_at)


def answered(question: Question) -> list[str]:
    """The first hits, with the names under which the table knows them."""
    return [hit.name for hit in index().search(question.text)[:TOP]]


def is_found(question: Question) -> bool:
    known = index()
    return any(
        answer == name or answer in known.endpoints_of(name)
        for name in answered(question)
        for answer in question.answers
    )


def is_there(question: Question) -> bool:
    """Whether some action answers it at all."""
    known = index()
    return any(known.has(answer) for answer in question.answers)

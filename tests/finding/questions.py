"""The table of questions in people's words, in two halves: one that the search was built on, one that tests it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from gitlab_mcp.finding.documents import index

TABLE = Path(__file__).with_name("questions.txt")
TOP = 3


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    answers: tuple[str, ...]
    """Actions as `manage_label create`, or endpoints as `POST /projects/{}/badges`."""

    @property
    def is_built_on(self) -> bool:
        return hashlib.sha256(self.text.encode()).digest()[0] % 2 == 0


def questions() -> list[Question]:
    lines = (line.partition(" => ") for line in TABLE.read_text("utf-8").splitlines())
    return [
        Question(text, tuple(answers.split(" ; ")))
        for text, arrow, answers in lines
        if arrow and not text.startswith("#")
    ]


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

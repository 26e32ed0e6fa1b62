"""Recorded answers by question: who asks, method, path, query, body. In order, and the last one stays."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from tests.support.standin.exchange import Received, Reply

DEFAULT_PAGING = (("page", "1"), ("per_page", "20"))
SCOPED = re.compile(r"^(/api/v4/(projects|groups)/)([^/]+)(.*)$")

Question = tuple[str, str, str, tuple[tuple[str, str], ...], str]


@dataclass(slots=True)
class Recorded:
    answers: dict[Question, deque[Reply]] = field(default_factory=dict)
    numbers: dict[tuple[str, str], str] = field(default_factory=dict)
    """The number of each project and group whose path an answer told."""
    pending: list[tuple[str, str, str, str, Reply]] = field(default_factory=list)
    """Not filed yet: what number a path has may be told by a later answer."""

    def add_cassette(self, path: Path) -> None:
        for interaction in json.loads(path.read_text(encoding="utf-8"))["interactions"]:
            request, response = interaction["request"], interaction["response"]
            self.add(
                caller=request["headers"]["X-Recorded-As"][0],
                method=request["method"],
                url=request["uri"],
                body=request["body"] or "",
                status=response["status"]["code"],
                headers={name: values[0] for name, values in response["headers"].items()},
                answer=response["body"]["string"],
            )

    def add_rows(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Rows of `recordings`: the body of a write as it was recorded."""
        for row in rows:
            request = row.get("request")
            self.add(
                caller=row["actor"],
                method=row["method"],
                url=row["path"],
                body=request if isinstance(request, str) else "" if request is None else json.dumps(request),
                status=row["status"],
                headers=row["headers"],
                answer=row["body"],
            )

    def add(
        self,
        *,
        caller: str,
        method: str,
        url: str,
        body: str,
        status: int,
        headers: Mapping[str, str],
        answer: str,
    ) -> None:
        self._learn_numbers(answer)
        reply = Reply(status, answer.encode(), headers, synthetic=False)
        self.pending.append((caller, method, url, body, reply))

    def answer_to(self, received: Received) -> Reply | None:
        for caller, method, url, body, reply in self.pending:
            parts = urlsplit(url)
            question = self._question(caller, method, parts.path, parts.query, body)
            self.answers.setdefault(question, deque()).append(reply)
        self.pending.clear()
        question = self._question(
            received.caller,
            received.method,
            received.path,
            received.query,
            received.body.decode("utf-8", "replace"),
        )
        answers = self.answers.get(question)
        if answers is None:
            return None
        return answers.popleft() if len(answers) > 1 else answers[0]

    def _question(self, caller: str, method: str, path: str, query: str, body: str) -> Question:
        asked = (pair for pair in parse_qsl(query, keep_blank_values=True) if pair not in DEFAULT_PAGING)
        return caller, method, self._by_number(path), tuple(sorted(asked)), canonical(body)

    def _by_number(self, path: str) -> str:
        if not (scoped := SCOPED.match(path)):
            return path
        start, kind, name, rest = scoped.groups()
        return f"{start}{self.numbers.get((kind, unquote(name)), name)}{rest}"

    def _learn_numbers(self, answer: str) -> None:
        if "path_with_namespace" not in answer and "full_path" not in answer:
            return
        try:
            content = json.loads(answer)
        except ValueError:
            return
        for item in content if isinstance(content, list) else [content]:
            if not isinstance(item, dict) or "id" not in item:
                continue
            if isinstance(path := item.get("path_with_namespace"), str):
                self.numbers.setdefault(("projects", path), str(item["id"]))
            elif isinstance(path := item.get("full_path"), str) and item.get("kind", "group") == "group":
                self.numbers.setdefault(("groups", path), str(item["id"]))


def canonical(body: str) -> str:
    """JSON is equal whatever the order of its keys, and an empty object is nothing."""
    try:
        content = json.loads(body)
    except ValueError:
        return body
    return "" if content == {} else json.dumps(content, sort_keys=True)

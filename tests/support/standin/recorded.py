"""Recorded answers by caller, method, path, query and body. They come in order, and the last one repeats."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from urllib3 import HTTPHeaderDict

from gitlab_mcp.gitlab.transport import Outgoing
from gitlab_mcp.recording.request_bodies import recorded_bodies
from tests.support.standin.exchange import Received, Reply

DEFAULT_PAGING = (("page", "1"), ("per_page", "20"))
LONGEST_PAGE = ("per_page", "100")
PROJECT_OR_GROUP = re.compile(r"^(/api/v4/(projects|groups)/)([^/]+)(.*)$")

RequestKey = tuple[str, str, str, tuple[tuple[str, str], ...], str]


@dataclass(slots=True)
class Recorded:
    answers: dict[RequestKey, deque[Reply]] = field(default_factory=dict)
    numbers: dict[tuple[str, str], str] = field(default_factory=dict)
    """The number of each project and group, by kind and path, read from the answers."""
    pending: list[tuple[str, str, str, str, Reply]] = field(default_factory=list)
    """Not indexed yet: the number of a path may be in a later answer."""

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
        self._add_numbers(answer)
        reply = Reply(status, answer.encode(), headers, synthetic=False)
        self.pending.append((caller, method, url, body, reply))

    def answer_to(self, received: Received) -> Reply | None:
        for caller, method, url, body, reply in self.pending:
            parts = urlsplit(url)
            key = self._key(caller, method, parts.path, parts.query, body)
            self.answers.setdefault(key, deque()).append(reply)
        self.pending.clear()
        headers = HTTPHeaderDict(received.headers)
        for sent in recorded_bodies(Outgoing(received.method, received.path, headers, received.body)):
            key = self._key(received.caller, received.method, received.path, received.query, sent or "")
            if answers := self.answers.get(key):
                return answers.popleft() if len(answers) > 1 else answers[0]
            caller, method, path, query, content = key
            in_short_pages = (
                caller,
                method,
                path,
                tuple(pair for pair in query if pair != LONGEST_PAGE),
                content,
            )
            if (whole := self.answers.get(in_short_pages)) and is_whole_list(whole[0]):
                return whole[0]
        return None

    def _key(self, caller: str, method: str, path: str, query: str, body: str) -> RequestKey:
        pairs = (pair for pair in parse_qsl(query, keep_blank_values=True) if pair not in DEFAULT_PAGING)
        return caller, method, self._with_number(path), tuple(sorted(pairs)), normalized(body)

    def _with_number(self, path: str) -> str:
        if not (match := PROJECT_OR_GROUP.match(path)):
            return path
        start, kind, name, rest = match.groups()
        return f"{start}{self.numbers.get((kind, unquote(name)), name)}{rest}"

    def _add_numbers(self, answer: str) -> None:
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


def is_whole_list(reply: Reply) -> bool:
    """Whether it is a list of one page, which a longer page would hold just so."""
    headers = HTTPHeaderDict(reply.headers)
    return "x-page" in headers and not headers.get("x-next-page")


def normalized(body: str) -> str:
    """JSON with sorted keys. An empty object equals an empty body."""
    try:
        content = json.loads(body)
    except ValueError:
        return body
    return "" if content == {} else json.dumps(content, sort_keys=True)

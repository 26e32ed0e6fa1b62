"""What an answer costs a model: the tokens of GitLab's recorded answers, and of what this server makes of them.

    python benchmarks/answers.py            the sums, and the actions that cost most
    python benchmarks/answers.py --all      every action

Each recorded answer to a question that an action asks in one request is presented as that action presents it.
Actions that ask more than once are not measured here.
"""

from __future__ import annotations

import json
import re
import statistics
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from rs_bpe.bpe import openai

from gitlab_mcp.core.action import Action, Endpoint
from gitlab_mcp.core.exchange import Answer
from gitlab_mcp.core.registry import declared
from gitlab_mcp.results.blocks import TextBlock, blocks
from gitlab_mcp.results.budget import DEFAULT_BYTES
from gitlab_mcp.results.present import present

CASSETTES = Path(__file__).parent.parent / "cassettes"
API = "/api/v4"
MOST_SHOWN = 15


@dataclass(frozen=True, slots=True)
class Measured:
    action: str
    raw: int
    ours: int


def main(arguments: list[str]) -> None:
    measured = list(measure(_plain_actions()))
    by_action: dict[str, list[Measured]] = defaultdict(list)
    for each in measured:
        by_action[each.action].append(each)
    rows = [
        (name, len(found), _mean(each.raw for each in found), _mean(each.ours for each in found))
        for name, found in by_action.items()
    ]
    rows.sort(key=lambda row: -row[3])
    lines = [f"{'action':44} {'answers':>7} {'raw':>8} {'ours':>8} {'saved':>6}"]
    for name, count, raw, ours in rows if "--all" in arguments else rows[:MOST_SHOWN]:
        lines.append(f"{name:44} {count:7} {raw:8.0f} {ours:8.0f} {_saved(raw, ours):>6}")
    raw, ours = sum(each.raw for each in measured), sum(each.ours for each in measured)
    lines.append(
        f"{len(rows)} actions, {len(measured)} answers: {raw} tokens raw, {ours} ours, {_saved(raw, ours)} saved"
    )
    sys.stdout.write("\n".join(lines) + "\n")


def measure(actions: Iterable[type[Action]]) -> Iterator[Measured]:
    """One figure per recorded answer; the same answer to the same question counts once."""
    tokens = openai.o200k_base()
    routes = [
        (action, endpoint, _pattern(endpoint)) for action in actions for endpoint in action.spec.endpoints
    ]
    # The endpoint with the most fixed text is the most special: /issues/statistics before /issues/{issue_iid}.
    routes.sort(key=lambda route: -len(re.sub(r"\{\w+\}", "", route[1].path)))
    seen: set[tuple[str, str, str]] = set()
    for method, path, answer, body in _recorded():
        for action, endpoint, pattern in routes:
            match = pattern.fullmatch(path) if endpoint.method == method else None
            if match is None:
                continue
            if (method, path, body) not in seen:
                seen.add((method, path, body))
                values = {name: unquote(value) for name, value in match.groupdict().items()}
                result = present(
                    action.model_construct(**values), answer, detail="slim", max_bytes=DEFAULT_BYTES
                )
                ours = sum(
                    tokens.count(block.text) for block in blocks(result) if isinstance(block, TextBlock)
                )
                yield Measured(f"{action.spec.tool.name} {action.spec.name}", tokens.count(body), ours)
            break


def _plain_actions() -> list[type[Action]]:
    every = [action for _, tool in declared() for action in tool.actions.values()]
    return [action for action in every if action.run is Action.run]


def _pattern(endpoint: Endpoint) -> re.Pattern[str]:
    parts = re.split(r"\{(\w+)\}", endpoint.path)
    return re.compile(
        "".join(f"(?P<{part}>[^/]+)" if odd % 2 else re.escape(part) for odd, part in enumerate(parts))
    )


def _recorded() -> Iterator[tuple[str, str, Answer, str]]:
    for cassette in sorted(CASSETTES.glob("*.json")):
        for each in json.loads(cassette.read_text("utf-8"))["interactions"]:
            request, response = each["request"], each["response"]
            status, body = response["status"]["code"], response["body"]["string"]
            headers = {name: values[0] for name, values in response["headers"].items()}
            if status < 300 and body and headers.get("content-type", "").startswith("application/json"):
                parsed: Any = json.loads(body)
                path = urlsplit(request["uri"]).path.removeprefix(API)
                yield request["method"], path, Answer(status, headers, parsed), body


def _mean(values: Iterable[int]) -> float:
    return statistics.fmean(values)


def _saved(raw: float, ours: float) -> str:
    return f"{100 - 100 * ours / raw:.0f}%" if raw else "-"


if __name__ == "__main__":
    main(sys.argv[1:])

"""What an answer costs a model: the tokens of GitLab's recorded answers, and of what this server makes of them.

    python benchmarks/answers.py            the sums, and the actions that cost most
    python benchmarks/answers.py --all      every action

Each recorded answer to a question that an action asks in one request is presented as that action presents it.
Actions that do more are called for everything their endpoint was recorded for, as alice, with the recordings behind;
raw is then all that GitLab answered to them.
"""

from __future__ import annotations

import json
import logging
import re
import statistics
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import anyio
from rs_bpe.bpe import openai

from gitlab_mcp.actions.action import Action, Endpoint
from gitlab_mcp.actions.exchange import Answer
from gitlab_mcp.actions.registry import declared
from gitlab_mcp.app import App
from gitlab_mcp.failures.failure import CallFailed
from gitlab_mcp.results.content_blocks import TextBlock, content_blocks
from gitlab_mcp.results.present_answer import present_answer
from gitlab_mcp.settings import Secret, Settings
from tests.support.standin import Received, Reply, StandIn

CASSETTES = Path(__file__).parent.parent / "cassettes" / "17.2"
API = "/api/v4"
MOST_SHOWN = 15
MOST_CALLS = 12
"""For each action that does more than ask once."""


@dataclass(frozen=True, slots=True)
class Measured:
    action: str
    raw: int
    ours: int
    is_list: bool


def main(arguments: list[str]) -> None:
    measured = [*measure(_actions(plain=True)), *anyio.run(measure_calls, _actions(plain=False))]
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
    lines.append(_sum(f"{len(rows)} actions", measured))
    lines.append(_sum("of these lists", [each for each in measured if each.is_list]))
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
                values: dict[str, Any] = {name: unquote(value) for name, value in match.groupdict().items()}
                result = present_answer(
                    action.model_construct(**values), answer, detail="slim", max_bytes=Settings().max_bytes
                )
                ours = sum(
                    tokens.count(block.text)
                    for block in content_blocks(result)
                    if isinstance(block, TextBlock)
                )
                yield Measured(
                    f"{action.spec.tool.name} {action.spec.name}", tokens.count(body), ours, action.spec.lists
                )
            break


class Heard(StandIn):
    """Remembers how much it said."""

    tokens = openai.o200k_base()
    said = 0

    def reply_to(self, received: Received) -> Reply:
        reply = super().reply_to(received)
        self.said += self.tokens.count(reply.body.decode("utf-8", "replace"))
        return reply


async def measure_calls(actions: Iterable[type[Action]]) -> list[Measured]:
    measured = []
    with Heard() as gitlab:
        gitlab.play(CASSETTES)
        settings = Settings(
            url=gitlab.url, token=Secret("alice"), toolsets=("all",), trust="dangerous", confirm="never"
        )
        app = App(settings)
        logging.disable(logging.CRITICAL)
        recorded = list({(method, path): None for method, path, *_ in _recorded()})
        for action in actions:
            name = f"{action.spec.tool.name} {action.spec.name}"
            for arguments in _calls(action, recorded):
                gitlab.said = 0
                try:
                    result = await app.call(action.spec.tool.name, {"action": action.spec.name, **arguments})
                except CallFailed:
                    continue
                texts = [block.text for block in content_blocks(result) if isinstance(block, TextBlock)]
                ours = sum(gitlab.tokens.count(text) for text in texts)
                measured.append(Measured(name, gitlab.said, ours, action.spec.lists))
        app.close()
    return measured


def _calls(action: type[Action], recorded: Iterable[tuple[str, str]]) -> list[dict[str, Any]]:
    """Its example, and for a read whatever else its endpoint was recorded for."""
    calls: list[dict[str, Any]] = [dict(action.spec.example)]
    if action.spec.writes:
        return calls
    for endpoint in action.spec.endpoints:
        pattern = _pattern(endpoint)
        for method, path in recorded:
            if method == endpoint.method and (match := pattern.fullmatch(path)):
                values: dict[str, Any] = {name: unquote(value) for name, value in match.groupdict().items()}
                calls.append({**action.spec.example, **values} if len(action.spec.endpoints) == 1 else values)
    unique = {json.dumps(call, sort_keys=True): call for call in calls}
    return list(unique.values())[:MOST_CALLS]


def _actions(*, plain: bool) -> list[type[Action]]:
    every = [action for tool in declared() for action in tool.actions.values()]
    return [action for action in every if (action.run is Action.run) is plain]


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


def _sum(what: str, measured: list[Measured]) -> str:
    raw, ours = sum(each.raw for each in measured), sum(each.ours for each in measured)
    return f"{what}, {len(measured)} answers: {raw} tokens raw, {ours} ours, {_saved(raw, ours)} saved"


def _mean(values: Iterable[int]) -> float:
    return statistics.fmean(values)


def _saved(raw: float, ours: float) -> str:
    return f"{100 - 100 * ours / raw:.0f}%" if raw else "-"


if __name__ == "__main__":
    main(sys.argv[1:])

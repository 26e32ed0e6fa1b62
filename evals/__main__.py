"""python -m evals --model NAME: what README.md beside this file says."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence

import anyio

from evals.attempts import CHECKED, Attempt, attempts
from evals.models import Anthropic, Conversation, Endpoint, Json, OpenAI

Converse = Callable[[Endpoint, str, str, Sequence[Json]], Conversation]
KINDS: Mapping[str, tuple[Converse, str, str]] = {
    "openai": (OpenAI, "https://api.openai.com/v1", "OPENAI_API_KEY"),
    "anthropic": (Anthropic, "https://api.anthropic.com", "ANTHROPIC_API_KEY"),
}
"""By how the endpoint speaks: the conversation, the usual address, the variable that holds the key."""
ROW = "{:>3} {:<4} {:>5} {:>6} {:>8} {:>8}  {}"


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m evals", description="Everyday jobs done by a chat model."
    )
    parser.add_argument("--kind", choices=KINDS, default="openai", help="how the endpoint speaks")
    parser.add_argument("--model", required=True)
    parser.add_argument("--endpoint", help="another address of that kind")
    parser.add_argument(
        "--server", default="", help="the command of another MCP server; this one if left out"
    )
    parser.add_argument("--jobs", default="", help="their numbers, with commas between; all if left out")
    asked = parser.parse_args(words)
    conversation, usual, variable = KINDS[asked.kind]
    key = os.environ.get(variable, "")
    if not key:
        print(f"Skipped: {variable} is not set.")
        return 0
    endpoint = Endpoint(asked.endpoint or usual, key, asked.model)

    def begin(system: str, job: str, tools: Sequence[Json]) -> Conversation:
        return conversation(endpoint, system, job, tools)

    wanted = {int(number) for number in asked.jobs.split(",") if number.strip()}
    jobs = [job for job in CHECKED if not wanted or job.number in wanted]

    async def run() -> list[Attempt]:
        done = []
        print(ROW.format("job", "", "calls", "errors", "read", "written", ""))
        async for attempt in attempts(begin, jobs, asked.server):
            done.append(attempt)
            print(_row(attempt), flush=True)
        return done

    done = anyio.run(run)
    good = sum(not attempt.problem for attempt in done)
    sums = [
        sum(getattr(attempt, name) for attempt in done)
        for name in ("calls", "errors", "tokens_read", "tokens_written")
    ]
    print(ROW.format("", "", *sums, f"{good} of {len(done)} jobs done by {asked.model}"))
    return 0


def _row(attempt: Attempt) -> str:
    doubt = f" ({attempt.unanswered} reads had no answer)" if attempt.problem and attempt.unanswered else ""
    return ROW.format(
        attempt.job.number,
        "FAIL" if attempt.problem else "ok",
        attempt.calls,
        attempt.errors,
        attempt.tokens_read,
        attempt.tokens_written,
        f"{attempt.job.said[:60]}{': ' + attempt.problem if attempt.problem else ''}{doubt}",
    )


if __name__ == "__main__":
    sys.exit(main())

"""What whole stories cost a model: calls, and tokens of what it writes and of what it reads.

    python benchmarks/journeys.py

The stories are those of tests/journeys, told to a real client; what the tools cost to list is not in them.
"""

from __future__ import annotations

import sys

import anyio
from rs_bpe.bpe import openai

from tests.journeys import test_change, test_red_main, test_release, test_review, test_triage
from tests.support.agent import Story, hearing

STORIES: tuple[Story, ...] = (
    test_red_main.STORY,
    test_review.STORY,
    test_change.STORY,
    test_triage.STORY,
    test_release.STORY,
)


async def main() -> None:
    tokens = openai.o200k_base()
    lines = [f"{'story':62} {'calls':>5} {'written':>8} {'read':>8} {'total':>8}"]
    for story in STORIES:
        async with hearing(story) as agent:
            written = sum(tokens.count(heard.asked) for heard in agent.heard)
            read = sum(tokens.count(heard.said) for heard in agent.heard)
            lines.append(f"{story.title:62} {len(agent.heard):5} {written:8} {read:8} {written + read:8}")
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    anyio.run(main)

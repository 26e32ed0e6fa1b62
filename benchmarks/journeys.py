"""What whole stories cost a model: calls, and tokens of what it writes and of what it reads; and requests to
GitLab behind them, with the longest chain of those that had to wait for one another.

    python benchmarks/journeys.py

The stories are those of tests/journeys, told to a real client; what the tools cost to list is not in them.
"""

from __future__ import annotations

import sys
from dataclasses import replace

import anyio
from rs_bpe.bpe import openai

from tests.journeys import test_change, test_red_main, test_release, test_review, test_triage
from tests.support.agent import Story, hearing
from tests.support.chains import answer_slowly, longest_chain
from tests.support.standin import StandIn

STORIES: tuple[Story, ...] = (
    test_red_main.STORY,
    test_review.STORY,
    test_change.STORY,
    test_triage.STORY,
    test_release.STORY,
)


async def main() -> None:
    tokens = openai.o200k_base()
    row = "{:62} {:>5} {:>8} {:>8} {:>8} {:>9} {:>6}"
    lines = [row.format("story", "calls", "written", "read", "total", "requests", "chain")]
    for story in STORIES:
        gitlabs: list[StandIn] = []

        def set_up(gitlab: StandIn, story: Story = story, gitlabs: list[StandIn] = gitlabs) -> None:
            story.set_up(gitlab)
            answer_slowly(gitlab)
            gitlabs.append(gitlab)

        async with hearing(replace(story, set_up=set_up)) as agent:
            written = sum(tokens.count(heard.asked) for heard in agent.heard)
            read = sum(tokens.count(heard.said) for heard in agent.heard)
            requests = gitlabs[0].requests
            figures = (
                len(agent.heard),
                written,
                read,
                written + read,
                len(requests),
                longest_chain(requests),
            )
            lines.append(row.format(story.title, *figures))
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    anyio.run(main)

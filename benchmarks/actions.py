"""What single actions cost GitLab: those that make more than one request where all goes well, with the longest chain of
requests that had to wait for one another.

    python benchmarks/actions.py

Each is called as its example says, before recorded answers that take 80 ms, with nothing remembered of earlier calls.
"""

from __future__ import annotations

import logging
import sys

import anyio

from gitlab_mcp.actions.registry import Registry
from tests.contracts.requests_per_action import MORE_THAN_ONE
from tests.support.chains import answer_slowly, longest_chain
from tests.support.each_action import called_by_example, recorded_gitlab


async def main() -> None:
    row = "{:44} {:>9} {:>6}"
    lines = [row.format("action", "requests", "chain")]
    sums = [0, 0]
    with recorded_gitlab() as gitlab:
        answer_slowly(gitlab)
        for action in Registry().actions():
            name = f"{action.spec.tool.name} {action.spec.name}"
            if name in MORE_THAN_ONE and (requests := await called_by_example(gitlab, action)):
                figures = [len(requests), longest_chain(requests)]
                sums = [total + figure for total, figure in zip(sums, figures, strict=True)]
                lines.append(row.format(name, *figures))
    lines.append(row.format(f"{len(lines) - 1} actions", *sums))
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    anyio.run(main)

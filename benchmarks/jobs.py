"""What everyday jobs cost a model: calls, tokens of what it writes and reads, and requests to GitLab behind them,
with the longest chain of requests that had to wait for one another.

    python benchmarks/jobs.py

The jobs are those of tests/journeys/all_jobs.py, each done to its end state through a client over stdio. The calls
are those of somebody who knows the tools; a batch is one call, and the listing, which is paid for once, is not in them.
"""

from __future__ import annotations

import sys

import anyio
from rs_bpe.bpe import openai

from tests.journeys.all_jobs import JOBS
from tests.support.chains import longest_chain
from tests.support.jobs import played


async def main() -> int:
    tokens = openai.o200k_base()
    row = "{:>3} {:72} {:>5} {:>8} {:>7} {:>9} {:>6}  {}"
    lines = [row.format("", "job", "calls", "written", "read", "requests", "chain", "")]
    sums = [0, 0, 0, 0, 0]
    problems = 0
    async for done in played(JOBS, slowly=True):
        figures = [
            len(done.asked),
            sum(map(tokens.count, done.asked)),
            sum(map(tokens.count, done.said)),
            len(done.requests),
            longest_chain(done.requests),
        ]
        sums = [total + figure for total, figure in zip(sums, figures, strict=True)]
        problems += bool(done.problem)
        lines.append(row.format(done.job.number, done.job.said[:72], *figures, done.problem[:60]))
    lines.append(row.format("", f"{len(lines) - 1} jobs", *sums, ""))
    sys.stdout.write("\n".join(lines) + "\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(anyio.run(main))

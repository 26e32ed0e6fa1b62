"""How well find_actions finds, and how fast: both halves of the table, the first question and those after it.

`--failures` names the questions of the half it was built on that are not answered; those of the other half are never
shown, so that nobody builds on them.
"""

from __future__ import annotations

import statistics
import sys
import time

from gitlab_mcp.finding.documents import index
from tests.finding.questions import TOP, answered, is_found, is_there, questions


def main() -> None:
    started = time.perf_counter()
    index().search("create a label")
    print(f"first question (builds the index): {(time.perf_counter() - started) * 1e3:.0f} ms")
    table = questions()
    seconds = []
    for question in table * 3:
        started = time.perf_counter()
        index().search(question.text)
        seconds.append(time.perf_counter() - started)
    print(f"after it: median {statistics.median(seconds) * 1e3:.2f} ms, longest {max(seconds) * 1e3:.2f} ms")
    for name, built_on in (("built on", True), ("tested on", False)):
        half = [question for question in table if question.is_built_on is built_on and is_there(question)]
        found = sum(map(is_found, half))
        print(f"{name}: {found} of {len(half)} in the first {TOP}: {found / len(half):.1%}")
    print(
        f"no action is there for {sum(not is_there(question) for question in table)} questions of {len(table)}"
    )
    if "--failures" in sys.argv:
        for question in table:
            if question.is_built_on and is_there(question) and not is_found(question):
                print(f"{question.text}\n    {answered(question)}\n    not {question.answers}")


if __name__ == "__main__":
    main()

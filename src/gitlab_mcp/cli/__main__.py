"""The program: what `gitlab-mcp` and `python -m gitlab_mcp.cli` start."""

from __future__ import annotations

import gc
import sys

from gitlab_mcp.cli import main

_SELDOM = 100_000


def program() -> int:
    # A start makes much and throws little away: the collector would look through all of it, again and again.
    gc.set_threshold(_SELDOM)
    code = main()
    # What there is now goes with the process: nobody has to look through it once more.
    gc.freeze()
    return code


if __name__ == "__main__":
    sys.exit(program())

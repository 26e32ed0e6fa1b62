"""The program: what `gitlab-mcp` and `python -m gitlab_mcp.cli` start."""

from __future__ import annotations

import sys

from gitlab_mcp.cli import main
from gitlab_mcp.cli.garbage import collect_seldom, keep_what_is_there


def program() -> int:
    collect_seldom()
    code = main()
    keep_what_is_there()
    return code


if __name__ == "__main__":
    sys.exit(program())

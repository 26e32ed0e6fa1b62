"""The command line. Without arguments it serves over stdio and imports nothing that serving does not need."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from gitlab_mcp.cli import exits
from gitlab_mcp.cli.usage import UsageError
from gitlab_mcp.failures.failure import CallFailed


def main(argv: Sequence[str] | None = None) -> int:
    argv = sys.argv[1:] if argv is None else argv
    try:
        if argv:
            from gitlab_mcp.cli.commands import run

            return run(argv)
        from gitlab_mcp.cli.serve import serve

        return serve({})
    except UsageError as mistake:
        sys.stderr.write(f"gitlab-mcp: {mistake.wrong}\n{mistake.fix}\n")
        return exits.USAGE
    except CallFailed as failed:
        from gitlab_mcp.cli.screen import show_failure

        return show_failure(failed.failure)
    except KeyboardInterrupt:
        return exits.INTERRUPTED
    except BrokenPipeError:
        # Whoever read us has had enough, as `head` does. Python would complain again at its last flush.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return exits.OK

"""The command line. Without arguments it serves over stdio, and imports only what that needs."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from gitlab_mcp.cli import exit_codes
from gitlab_mcp.cli.usage_error import UsageError
from gitlab_mcp.failures.failure import CallFailed
from gitlab_mcp.settings.loading import is_completing


def main(argv: Sequence[str] | None = None) -> int:
    argv = sys.argv[1:] if argv is None else argv
    try:
        if is_completing():
            from gitlab_mcp.cli.commands import complete

            complete()
        if argv:
            from gitlab_mcp.cli.commands import run

            return run(argv)
        from gitlab_mcp.cli.serve import serve

        return serve({})
    except UsageError as mistake:
        sys.stderr.write(f"gitlab-mcp: {mistake.wrong}\n{mistake.fix}\n")
        return exit_codes.USAGE
    except CallFailed as failed:
        from gitlab_mcp.cli.terminal import show_failure

        return show_failure(failed.failure)
    except KeyboardInterrupt:
        return exit_codes.INTERRUPTED
    except BrokenPipeError:
        # The reader closed the pipe, as `head` does. Python would fail again when it flushes stdout at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return exit_codes.OK

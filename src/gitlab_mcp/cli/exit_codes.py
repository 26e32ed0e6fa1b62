"""The exit codes of the command line: part of the public interface."""

from __future__ import annotations

from gitlab_mcp.failures.codes import Code

OK = 0
FAILED = 1
USAGE = 2
UNREACHABLE = 3
INTERRUPTED = 130

MEANINGS = {
    OK: "it worked",
    FAILED: "the call failed, and said why",
    USAGE: "the command line or the settings are wrong",
    UNREACHABLE: "GitLab cannot be reached",
    INTERRUPTED: "interrupted",
}

_BY_CODE = {Code.CONFIGURATION_ERROR: USAGE, Code.NETWORK_ERROR: UNREACHABLE}


def for_failure(code: Code) -> int:
    return _BY_CODE.get(code, FAILED)

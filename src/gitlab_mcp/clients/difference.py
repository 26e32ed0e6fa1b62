"""What changes in a file, for a person to say yes to: the lines that go and come, without anybody's secrets."""

from __future__ import annotations

import re
from difflib import unified_diff

from gitlab_mcp.failures.secret_text import REDACTED, is_secret_name, redact_trace

_NAMED = re.compile(
    r"""([\w.-]+)(["']?\s*[:=]\s*)("(?!\$\{)(?:\\.|[^"\\])*"|'(?!\$\{)[^']*'|(?!\$)[^\s"',{}\[\]]+)"""
)
"""A name and its value in JSON, TOML or YAML, unless the value only names another that stands elsewhere."""


def difference(before: str, after: str) -> list[str]:
    """The lines as `diff` marks them. Lines around them are left out: they are not changed, and may hold secrets."""
    lines = unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=0)
    return [_shown(line) for line in lines if not line.startswith(("---", "+++", "@@"))]


def _shown(line: str) -> str:
    return redact_trace(_NAMED.sub(_without_secret, line))


def _without_secret(found: re.Match[str]) -> str:
    name, between, value = found.groups()
    quote = value[0] if value[0] in "\"'" else ""
    return f"{name}{between}{quote}{REDACTED}{quote}" if is_secret_name(name) else found[0]

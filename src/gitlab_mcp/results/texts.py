"""Kinds of text, by where they may be cut. Plain `Text` loses its end."""

from __future__ import annotations

from dataclasses import dataclass

from gitlab_mcp.actions.result import Text


@dataclass(frozen=True, slots=True)
class Tail(Text):
    """Text whose end matters most: it is cut at its beginning. `start_line` in the data, if any, follows."""


@dataclass(frozen=True, slots=True)
class Diff(Text):
    """Text that is cut between files. No line inside a file's diff begins with `diff --git`."""

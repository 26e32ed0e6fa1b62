"""Kinds of text that are cut in their own way when they are too long. A plain `Text` loses its end."""

from __future__ import annotations

from dataclasses import dataclass

from gitlab_mcp.actions.result import Text


@dataclass(frozen=True, slots=True)
class TailText(Text):
    """Its end matters most, so it loses its beginning. `start_line` in the data is adjusted."""


@dataclass(frozen=True, slots=True)
class DiffText(Text):
    """It loses whole files. No line inside a file's diff may begin with `diff --git`."""

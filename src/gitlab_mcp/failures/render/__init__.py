"""One failure, written in the dialect the operator chose. Pure functions; a new fact appears in all of them at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gitlab_mcp.failures.failure import Failure
from gitlab_mcp.failures.render import aql, default_style, markdown, problem, text, toolerror
from gitlab_mcp.failures.render.facts import Renderer

STYLES: Final[Mapping[str, Renderer]] = {
    "tier": default_style.render,
    "toolerror": toolerror.render,
    "aql": aql.render,
    "problem": problem.render,
    "text": text.render,
}
DEFAULT: Final = "tier"


def render(failure: Failure, style: str = DEFAULT) -> dict[str, Any]:
    return STYLES[style](failure)


def render_success(data: Mapping[str, Any], style: str = DEFAULT) -> Mapping[str, Any]:
    """The JSON object of a success; one dialect has an envelope for it."""
    return aql.success(data) if style == "aql" else data


def as_text(failure: Failure, style: str = DEFAULT) -> str:
    """The same for a person."""
    return markdown.render_sentence(failure) if style == "text" else markdown.render(failure)

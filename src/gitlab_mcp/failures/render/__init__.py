"""One failure, written in the dialect the operator chose. Pure functions; a new fact appears in all of them at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from gitlab_mcp.failures.failure import Failure
from gitlab_mcp.failures.render import aql, markdown, problem, text, tier, toolerror

Renderer = Callable[[Failure], dict[str, Any]]

STYLES: Final[Mapping[str, Renderer]] = {
    "tier": tier.render,
    "toolerror": toolerror.render,
    "aql": aql.render,
    "problem": problem.render,
    "text": text.render,
}
DEFAULT: Final = "tier"


def render(failure: Failure, style: str = DEFAULT) -> dict[str, Any]:
    return STYLES[style](failure)


def as_text(failure: Failure, style: str = DEFAULT) -> str:
    """The same for a person."""
    return text.sentence(failure) if style == "text" else markdown.render(failure)

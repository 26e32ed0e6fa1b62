"""Whose fault it is when an answer of GitLab cannot be read: GitLab's, or a bug of ours.

The code that reads answers takes members for granted that GitLab documents. Where one is missing or of another kind,
Python raises an error about data. It is GitLab's fault where such an error comes out of code that reads answers, in a
call that got one. Everything else, and every error about code (a function called wrongly, a name that does not
exist), is a bug.
"""

from __future__ import annotations

import re
from dataclasses import replace
from types import TracebackType
from typing import Final

from gitlab_mcp.actions.memory import HeldAnswers
from gitlab_mcp.gitlab.faults import BadAnswer, BadAnswerReason

_ABOUT_DATA: Final = (
    KeyError,
    IndexError,
    TypeError,
    AttributeError,
    ValueError,
    OverflowError,
    RecursionError,
)
_JSON: Final = (str, int, float, bool, type(None), list, dict)
_CALLED_WRONGLY: Final = re.compile(r"\w\(\) (?:takes|missing|got)|not callable")
_READS_ANSWERS: Final = tuple(
    f"gitlab_mcp.{place}"
    for place in (
        "tools.",
        "workflows.",
        "results.",
        "gitlab.",
        "policy.",
        "refusals.",
        "tiers.",
        "actions.ask",
        "failures.secret_text",
    )
)


def as_bad_answer(error: Exception, held: HeldAnswers, *, writes: bool) -> BadAnswer | None:
    """The answer that could not be read; None for a bug of ours."""
    if held.last_answer is None or not _is_about_data(error) or not _comes_from_reading(error.__traceback__):
        return None
    request, status = (held.last_write if writes else None) or held.last_answer
    # A write whose answer nobody could read is looked at before it is tried again, even one that may be repeated.
    return BadAnswer(replace(request, repeatable=not writes), BadAnswerReason.UNEXPECTED_SHAPE, status)


def _is_about_data(error: Exception) -> bool:
    if not isinstance(error, _ABOUT_DATA) or type(error).__module__.startswith("pydantic"):
        return False
    if isinstance(error, AttributeError):
        return type(error.obj) in _JSON
    return not (isinstance(error, TypeError) and _CALLED_WRONGLY.search(str(error)))


def _comes_from_reading(traceback: TracebackType | None) -> bool:
    """Whether the innermost code of ours is code that reads answers."""
    innermost = ""
    while traceback is not None:
        module = str(traceback.tb_frame.f_globals.get("__name__", ""))
        innermost = module if module.startswith("gitlab_mcp.") else innermost
        traceback = traceback.tb_next
    return innermost.startswith(_READS_ANSWERS)

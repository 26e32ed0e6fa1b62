"""A finding: one cause of a refusal, what speaks for it, and how sure it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Any, Final

from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import Failure

SOMETHING: Final = "object"
"""What a NOT_FOUND calls a thing, until it is known what is missing."""
LOOK_IT_UP: Final = "Look it up with a list action."
"""The fix of a NOT_FOUND, until it is known what is missing."""


class Confidence(IntEnum):
    POSSIBLE = 1
    LIKELY = 2
    CERTAIN = 3


@dataclass(frozen=True, slots=True)
class Finding:
    code: Code
    confidence: Confidence
    message: str
    evidence: tuple[str, ...] = ()
    fix: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    also: tuple[str, ...] = ()
    """The codes of other causes that stay possible."""


# A tier that is too low stays the cause whatever else is wrong: a higher role does not help there.
_CERTAIN_DESPITE_OTHERS = (Code.TIER_RESTRICTED,)


def strongest(findings: Iterable[Finding]) -> Finding:
    """The finding with the highest confidence; of equals the first. The codes of the others go along as `also`."""
    ranked = sorted(findings, key=lambda finding: -finding.confidence)
    chosen = ranked[0]
    others = [finding for finding in ranked if finding.code != chosen.code]
    confidence = chosen.confidence
    another_is_certain = any(finding.confidence is Confidence.CERTAIN for finding in others)
    if another_is_certain and chosen.code not in _CERTAIN_DESPITE_OTHERS:
        confidence = Confidence.LIKELY
    also = dict.fromkeys((*chosen.also, *(finding.code for finding in others)))
    return replace(chosen, confidence=confidence, also=tuple(code for code in also if code != chosen.code))


def as_failure(finding: Finding) -> Failure:
    return Failure(finding.code, finding.message, finding.facts).knowing(
        confidence=finding.confidence.name.lower(),
        evidence=list(finding.evidence) or None,
        also=list(finding.also) or None,
        suggested_fix=finding.fix or None,
    )

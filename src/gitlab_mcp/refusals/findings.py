"""What speaks for one cause, how strongly, and the choice between several."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Any

from gitlab_mcp.failures.codes import CODES, Code
from gitlab_mcp.failures.failure import Failure


class Proof(IntEnum):
    POSSIBLE = 1
    LIKELY = 2
    CERTAIN = 3

    @property
    def word(self) -> str:
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Finding:
    code: Code
    proof: Proof
    message: str
    evidence: tuple[str, ...] = ()
    fix: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    also: tuple[str, ...] = ()


# A wall that would still stand when every other cause were gone: a role does not help on a tier that lacks it all.
_LASTING = (Code.TIER_RESTRICTED,)


def settle(findings: Iterable[Finding]) -> Finding:
    """The strongest finding; of equals the first. The other codes that stay open go along as `also`."""
    ranked = sorted(findings, key=lambda finding: -finding.proof)
    chosen = ranked[0]
    others = [finding for finding in ranked if finding.code != chosen.code]
    proof = chosen.proof
    rivals = any(finding.proof is Proof.CERTAIN for finding in others)
    if rivals and chosen.code not in _LASTING:
        proof = Proof.LIKELY
    open_codes = dict.fromkeys((*chosen.also, *(finding.code for finding in others)))
    return replace(chosen, proof=proof, also=tuple(code for code in open_codes if code != chosen.code))


def as_failure(finding: Finding) -> Failure:
    return Failure(finding.code, finding.message, finding.facts).knowing(
        confidence=finding.proof.word,
        evidence=list(finding.evidence) or None,
        also=list(finding.also) or None,
        suggested_fix=finding.fix or None,
        retryable=CODES[finding.code].retryable,
    )

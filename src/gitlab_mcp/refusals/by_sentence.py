"""Refusals that say in words what is wrong."""

from __future__ import annotations

from typing import Any, Final

from gitlab_mcp.failures.codes import Code
from gitlab_mcp.refusals import causes
from gitlab_mcp.refusals.case import Case
from gitlab_mcp.refusals.complaints import complaints, in_sentences
from gitlab_mcp.refusals.findings import Finding, Proof
from gitlab_mcp.refusals.signatures import Signature

_MOST_NAMES: Final = 6


def paid_and_refused(case: Case, signature: Signature | None) -> Finding | None:
    """A sentence where the call needs a paid feature: the licence explains it unless the sentence is about values."""
    paid = case.lacking() or case.maybe_lacking()
    if paid is None:
        return None
    proof = Proof.CERTAIN if case.lacking() else Proof.LIKELY
    if signature is not None and signature.code == Code.TIER_RESTRICTED:
        return causes.tier_finding(case, paid, proof, case.tier)
    known = case.without(paid)
    expected = known is not None and known.says is not None and known.says in case.said.message
    refuses = known is None or known.effect == "refused"
    about_values = (
        bool(case.said.fields) or case.refused.status == 409 or (case.refused.status == 422 and not refuses)
    )
    explained = (Code.PERMISSION_DENIED, Code.NOT_FOUND) if refuses else (Code.PERMISSION_DENIED,)
    unexplained = signature is None or signature.code in explained
    stands_otherwise = signature is not None and signature.code == Code.CONFLICT
    if (expected and not stands_otherwise) or (paid.field is None and unexplained and not about_values):
        return causes.tier_finding(case, paid, Proof.LIKELY, case.tier)
    return None


def permission(case: Case, signature: Signature) -> Finding:
    """A sentence about permission, with the role beside it where the role explains it."""
    by_role = causes.role(case)
    if by_role is None or case.role_suffices is not False:
        return named(case, signature)
    return Finding(
        Code.PERMISSION_DENIED, Proof.CERTAIN, by_role.message, by_role.evidence, by_role.fix, by_role.facts
    )


def named(case: Case, signature: Signature) -> Finding:
    found = complaints(case.said.fields, case.action)
    facts: dict[str, Any] = {**signature.facts, **found.facts()}
    if signature.code == Code.NOT_FOUND and found.names:
        facts["missing"] = ", ".join(found.names)
    return Finding(
        signature.code,
        Proof.LIKELY,
        signature.message,
        ("GitLab says so in gitlab_message",),
        signature.fix,
        facts,
    )


def rejected(case: Case, signature: Signature | None = None) -> Finding:
    said = case.said
    found = complaints(said.fields, case.action) if said.fields else in_sentences(said.texts, case.action)
    names = _listed(found.names)
    if found.missing and not found.invalid:
        message = f"GitLab needs {names}."
    elif names:
        message = f"GitLab does not accept {names}."
    else:
        message = signature.message if signature else "GitLab does not accept the arguments."
    fix = f"Correct {names}." if names else "Read gitlab_message and correct the arguments."
    return Finding(
        Code.REJECTED,
        Proof.LIKELY,
        message,
        ("GitLab says so in gitlab_message",),
        (signature.fix if signature and signature.fix else fix),
        found.facts(),
    )


def _listed(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return ", ".join(names[:_MOST_NAMES]) + more


def conflict(case: Case) -> Finding:
    return Finding(
        Code.CONFLICT,
        Proof.LIKELY,
        "It is in the way of what is there: it exists already, or it changed in the meantime.",
        (f"GitLab answered {case.refused.status}",),
        "Read the present state, then decide whether the change is still wanted.",
    )

"""Findings from GitLab's own sentence: the cause it names, or the fields it does not accept."""

from __future__ import annotations

from typing import Any, Final

from gitlab_mcp.failures.codes import Code
from gitlab_mcp.refusals.case import Case
from gitlab_mcp.refusals.field_errors import field_errors, field_errors_in_sentences
from gitlab_mcp.refusals.findings import Confidence, Finding
from gitlab_mcp.refusals.known_sentences import KnownSentence

_EVIDENCE: Final = ("GitLab says so in gitlab_message",)
_MOST_NAMES: Final = 6


def as_sentence_says(case: Case, sentence: KnownSentence) -> Finding:
    errors = field_errors(case.body.field_errors, case.action)
    facts: dict[str, Any] = {**sentence.facts, **errors.facts()}
    if sentence.code == Code.NOT_FOUND and errors.names:
        facts["missing"] = ", ".join(errors.names)
    fix = sentence.fix
    if sentence.facts.get("state") == "exists" and (change := _action_that_changes(case)):
        fix = f"Change what is there with {change}, or choose another name."
    return Finding(sentence.code, Confidence.LIKELY, sentence.message, _EVIDENCE, fix, facts)


def _action_that_changes(case: Case) -> str:
    """`manage_label update` of `manage_label create`, where the tool has one."""
    if case.action is None:
        return ""
    verb, _, what = case.action.spec.name.partition("_")
    other = "_".join(filter(None, ("update", what)))
    tool = case.action.spec.tool
    return f"{tool.name} {other}" if verb in ("create", "add") and other in tool.actions else ""


def rejected(case: Case, sentence: KnownSentence | None = None) -> Finding:
    body = case.body
    errors = (
        field_errors(body.field_errors, case.action)
        if body.field_errors
        else field_errors_in_sentences(body.sentences, case.action)
    )
    needed, wrong = _listed(errors.missing), _listed(errors.wrong)
    if errors.names:
        message = _both(needed and f"GitLab needs {needed}", wrong and f"GitLab does not accept {wrong}")
        fix = _both(needed and f"Add {needed}", wrong and f"Correct {wrong}")
    else:
        message = sentence.message if sentence else "GitLab does not accept the arguments."
        fix = "Read gitlab_message and correct the arguments."
    if sentence and sentence.fix:
        fix = sentence.fix
    return Finding(Code.REJECTED, Confidence.LIKELY, message, _EVIDENCE, fix, errors.facts())


def _both(*sentences: str) -> str:
    return " ".join(f"{each}." for each in sentences if each)


def _listed(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return ", ".join(names[:_MOST_NAMES]) + more

"""For people: the sentence, what to do, and every fact that helps with it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from gitlab_mcp.failures.failure import Failure
from gitlab_mcp.failures.render.facts import code_of, facts, failed_items
from gitlab_mcp.failures.render.text import as_call, sentence

_IN_OTHER_WORDS: Final = frozenset(
    ("alternatives", "blockers", "confidence", "evidence", "gitlab_message", "results", "suggested_fix")
)
"""Have lines of their own."""
_ONLY_WHERE_NAMED: Final = frozenset(
    (
        "tool",
        "action",
        "http_status",
        "retryable",
        "also",
        "limit",
        "unit",
        "remaining",
        "attempts",
        "loop",
        "setting",
        "missing_fields",
        "unknown_fields",
        "allowed_fields",
        "action_required_fields",
        "invalid_fields",
        "did_you_mean",
    )
)
"""For programs: the sentence says as much. Shown where a sentence refers to them."""
_LABELS: Final = {"event_id": "Event", "request_id": "Request", "docs_url": "See"}


def render(failure: Failure) -> str:
    code = code_of(failure)
    next_step = failure.facts.get("suggested_fix") or code.person
    head = [f"**{code.title}** ({failure.code})", "", failure.message, "", f"Next: {next_step}"]
    return "\n".join([*head, *_details(failure, f"{failure.message} {next_step}")])


def render_sentence(failure: Failure) -> str:
    """The sentence of the text style, and below it the facts."""
    said = sentence(failure)
    return "\n".join([said, *_details(failure, said)])


def _details(failure: Failure, said: str) -> Iterator[str]:
    known = facts(failure, lambda inner: {"message": inner.message})
    for alternative in known.get("alternatives", ()):
        yield f"- Instead: {_instead(alternative)}: {alternative['description']} ({alternative['available_on']})"
    for blocker in known.get("blockers", ()):
        yield f"- Blocked: {blocker['reason']}. {blocker['lifted_by']}"
    for number, failed in failed_items(failure):
        advice = failed.facts.get("suggested_fix", "")
        yield f"- calls[{number}] ({failed.code}): {failed.message} {advice}".rstrip()
    if "evidence" in known:
        yield f"Because ({known.get('confidence', 'likely')}): {'; '.join(known['evidence'])}."
    for name, value in known.items():
        if name in _IN_OTHER_WORDS or (name in _ONLY_WHERE_NAMED and not _is_named(name, said)):
            continue
        yield f"{_LABELS.get(name, name)}: {_written(name, value)}"
    if "gitlab_message" in known:
        yield f"GitLab said: {_quoted(known['gitlab_message'])}"


def _is_named(name: str, said: str) -> bool:
    """Whether a sentence refers to the fact. Names without an underscore are also plain words."""
    return "_" in name and re.search(rf"\b{name}\b", said) is not None


def _written(name: str, value: Any) -> str:
    if name == "check_with":
        return f"`{as_call(value)}`"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)) and all(isinstance(each, str) for each in value):
        return ", ".join(value)
    if isinstance(value, (Mapping, list, tuple)):
        return _quoted(json.dumps(value, ensure_ascii=False, default=str))
    return str(value)


def _instead(alternative: Mapping[str, Any]) -> str:
    if "where" in alternative:
        return str(alternative["where"])
    if "switch_on_with" in alternative:
        how = f"switch on the toolset {alternative['toolset']} with `{alternative['switch_on_with']}`"
        return f"{how} for `{alternative['for']}`"
    given = " ".join(f"{name}={value}" for name, value in alternative.get("arguments", {}).items())
    call = f"{alternative['action']} {given}".rstrip().replace("`", "'")
    maker = alternative.get("call_with")
    return f"`{call}`" + (f" (with `{maker}`)" if maker else "")


def _quoted(text: str) -> str:
    """GitLab's words as code, so that nothing in them is a heading, a link or an image."""
    return "`" + text.replace("`", "'") + "`"

"""For people: the sentence, what to do, and what it rests on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gitlab_mcp.failures.failure import Failure
from gitlab_mcp.failures.render.facts import code_of, facts


def render(failure: Failure) -> str:
    return "\n".join(_lines(failure))


def _lines(failure: Failure) -> Iterator[str]:
    code, known = code_of(failure), facts(failure)
    yield f"**{code.title}** ({failure.code})"
    yield ""
    yield failure.message
    yield ""
    yield f"Next: {known.get('suggested_fix') or code.person}"
    for alternative in known.get("alternatives", ()):
        yield f"- Instead: {_instead(alternative)}: {alternative['description']} ({alternative['available_on']})"
    for blocker in known.get("blockers", ()):
        yield f"- Blocked: {blocker['reason']}. {blocker['lifted_by']}"
    if "evidence" in known:
        yield f"Because ({known.get('confidence', 'likely')}): {'; '.join(known['evidence'])}."
    if "gitlab_message" in known:
        yield f"GitLab said: {_quoted(known['gitlab_message'])}"
    for name, label in (("event_id", "Event"), ("request_id", "Request"), ("docs_url", "See")):
        if name in known:
            yield f"{label}: {known[name]}"


def _instead(alternative: Mapping[str, Any]) -> str:
    if "where" in alternative:
        return str(alternative["where"])
    given = " ".join(f"{name}={value}" for name, value in alternative.get("arguments", {}).items())
    call = f"{alternative['action']} {given}".rstrip().replace("`", "'")
    toolset = alternative.get("toolset")
    return f"`{call}`" + (f" (switch on the toolset {toolset} first)" if toolset else "")


def _quoted(text: str) -> str:
    """GitLab's words as code, so that nothing in them is a heading, a link or an image."""
    return "`" + text.replace("`", "'") + "`"

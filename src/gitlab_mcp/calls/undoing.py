"""The ready call with which an answer says how to take a write back, where that is certain and can be called here."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any, Final

from gitlab_mcp.actions.action import Action
from gitlab_mcp.actions.exchange import Answer
from gitlab_mcp.actions.result import Result, UndoCall
from gitlab_mcp.actions.undo import Undo
from gitlab_mcp.failures.failure import CallFailed
from gitlab_mcp.policy.danger import exceeds
from gitlab_mcp.policy.next_steps import ready_to_send
from gitlab_mcp.policy.offered_tools import OfferedTools
from gitlab_mcp.results.content_blocks import compact_json
from gitlab_mcp.results.secret_redaction import redact_json
from gitlab_mcp.results.text_cleaning import remove_invisible_in_json
from gitlab_mcp.results.untrusted_text import is_trusted, untrusted_members

log = logging.getLogger("gitlab_mcp.errors")

Validate = Callable[[str, Mapping[str, Any]], Action]

_MOST_CALLS: Final = 10
"""Of a batch that takes several writes back: an answer is no longer than it is worth."""
_LONGEST: Final = 4_000
"""Characters of a call: a former text that is longer is not put into every answer."""
_NO_DIFFERENCE: Final = re.compile(r"[\W_]+")
_CLOCKS_MAY_DIFFER: Final = timedelta(seconds=2)
"""`Date` has whole seconds, and a proxy may write it."""


@dataclass(frozen=True, slots=True)
class Undoing:
    validate: Validate
    """The action that is named so, such as `manage_label delete`, with these arguments."""
    offered: OfferedTools

    def of(self, action: Action, outcome: Answer | Result, seconds: float) -> UndoCall | None:
        """`seconds` is how long the call took. Never raises: the write is done."""
        undo = action.spec.undo
        if undo is None:
            return None
        try:
            return self._ready(undo, action, outcome, seconds)
        except CallFailed:
            # GitLab's answer does not hold what the call needs.
            return None
        except Exception:
            log.exception("%s %s: how to undo it", action.spec.tool.name, action.spec.name)
            return None

    def _ready(self, undo: Undo, action: Action, outcome: Answer | Result, seconds: float) -> UndoCall | None:
        answer = _certain(outcome)
        if answer is None or (undo.changed_at and not _is_new(outcome, answer, undo.changed_at, seconds)):
            return None
        before = outcome.before if isinstance(outcome, Answer) else None
        wanted = undo.calls(action, answer, before)
        if len(compact_json(wanted)) > _LONGEST:
            return None
        calls = [self._call(undo, action, arguments) for arguments in wanted]
        ready = [call for call in calls if call is not None]
        if not ready or len(ready) < len(calls) or len(ready) > _MOST_CALLS:
            return None
        if len(ready) == 1:
            put_back = {each.field for each in undo.former.values()} if before is not None else set()
            former = {name: value for name, value in wanted[0].items() if name in put_back}
            return UndoCall(ready[0], untrusted_members(former))
        together = self.validate("run_batch run", {"calls": ready})
        if self.offered.refusal(type(together)):
            return None
        return UndoCall(ready_to_send({"tool": "run_batch", "arguments": {"calls": ready}}, self.offered))

    def _call(self, undo: Undo, action: Action, arguments: Mapping[str, Any]) -> Mapping[str, Any] | None:
        if not _says_nothing_of_others(undo, action, arguments):
            return None
        if redact_json(arguments) != arguments or remove_invisible_in_json(arguments).removed:
            # What cannot be shown cannot be sent again.
            return None
        tool, name = undo.names(type(action))
        made = self.validate(f"{tool} {name}", arguments)
        if self.offered.refusal(type(made)) or exceeds(made.danger, self.offered.trust):
            return None
        return ready_to_send({"tool": tool, "arguments": {"action": name, **arguments}}, self.offered)


def _certain(outcome: Answer | Result) -> Mapping[str, Any] | None:
    """What the answer shows; None where it is not certain that this call did it."""
    if outcome.warnings:
        return None
    if isinstance(outcome, Result):
        return None if outcome.data.get("already") else outcome.data
    if outcome.already or outcome.recovered:
        return None
    return outcome.body if isinstance(outcome.body, Mapping) else {}


def _is_new(outcome: Answer | Result, answer: Mapping[str, Any], member: str, seconds: float) -> bool:
    """Whether it was changed since the call began, by GitLab's clock."""
    if not isinstance(outcome, Answer):
        return False
    try:
        now = parsedate_to_datetime(outcome.headers["date"])
        changed = datetime.fromisoformat(answer[member])
    except (KeyError, TypeError, ValueError):
        return False
    now, changed = (each if each.tzinfo else each.replace(tzinfo=UTC) for each in (now, changed))
    return changed >= now - timedelta(seconds=seconds) - _CLOCKS_MAY_DIFFER


def _says_nothing_of_others(undo: Undo, action: Action, arguments: Mapping[str, Any]) -> bool:
    """Numbers, hashes and words of GitLab's own are taken from the answer, and words that the caller sent."""
    own = {_plain(value) for value in action.given().values() if isinstance(value, str)}
    return all(
        isinstance(value, int)
        or (isinstance(value, str) and (is_trusted(member, value) or _plain(value) in own))
        for name, value in arguments.items()
        if (member := undo.taken_from(name))
    )


def _plain(text: str) -> str:
    """A wiki page is named by its title with other signs between the words."""
    return _NO_DIFFERENCE.sub("-", text).casefold()

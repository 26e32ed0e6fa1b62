"""How a confirmation is asked for: the call is refused with a question for the person.

The same call with the person's yes passes once. Which actions need this is decided in `confirmation_required.py`, how
the yes comes in `consent.py`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from gitlab_mcp.actions.call import Call
from gitlab_mcp.actions.danger import Danger
from gitlab_mcp.callers import CallerKey
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.failures.tool_names import operation_name
from gitlab_mcp.policy.consent import PersonsAnswers, Purpose
from gitlab_mcp.policy.danger import exceeds
from gitlab_mcp.policy.guard import ProposedCall
from gitlab_mcp.policy.quotas import resume_purpose
from gitlab_mcp.policy.what_will_happen import look_at_target, what_will_happen

_WITHOUT_EFFECT: Final = {"url", "detail", "fields", "max_bytes", "format", "dry_run", "confirmation_token"}
"""Options that do not change what the call does in GitLab. A URL has been replaced by ids before."""


@dataclass(frozen=True, slots=True)
class AskForConfirmation:
    """As a guard: refuses a call that needs a confirmation and has none."""

    required: Callable[[Danger], bool]
    answers: PersonsAnswers

    async def __call__(self, proposed: ProposedCall) -> None:
        call = proposed.call
        if not self.required(call.danger):
            return
        if not self.required(call.danger_of_action) and (
            await _changes_nothing(proposed) or not await call.action.overwrites(proposed.ask)
        ):
            return
        spec = call.action.spec
        asked_for = Purpose(
            purpose(call, proposed.caller),
            operation_name(call.tool.name, spec.name),
            lambda: _same_thing(proposed),
            seen=" ".join(call.pinned.values()),
        )
        if await self.answers.has_yes(proposed, asked_for):
            return
        # The quota guard has already used a token to resume paused work. It does not confirm this call.
        await self.answers.refuse_other_tokens(proposed, asked_for, resume_purpose(call))
        await call.action.refuse_before_asking(proposed.ask)
        failure = Failure(Code.CONFIRMATION_REQUIRED, f"{spec.name} needs a yes of the person first.")
        question = await what_will_happen(proposed)
        raise CallFailed(
            await self.answers.asking(proposed, asked_for, failure.knowing(danger=str(call.danger)), question)
        )


@dataclass(frozen=True, slots=True)
class AskForMoreDanger:
    """As a guard of the steps of a call: a yes to the whole is one to each step that is no more dangerous."""

    ask: AskForConfirmation
    whole: Danger

    async def __call__(self, proposed: ProposedCall) -> None:
        if exceeds(proposed.call.danger, self.whole):
            await self.ask(proposed)


def purpose(call: Call, caller: CallerKey, **instead: Any) -> str:
    """Everything that decides what the call does. `instead` replaces arguments."""
    arguments = call.action.model_dump(mode="json", exclude_unset=True) | instead
    options = call.options.model_dump(mode="json", exclude_unset=True, exclude=_WITHOUT_EFFECT)
    name = ["confirm", caller.gitlab_url, call.tool.name, call.action.spec.name]
    return json.dumps([name, arguments, options], sort_keys=True)


async def _changes_nothing(proposed: ProposedCall) -> bool:
    """Whether the thing already is what the risky values would make of it: a public project is made public again."""
    action = proposed.call.action
    present = await look_at_target(action, proposed.ask)
    if not isinstance(present, Mapping):
        return False
    return all(
        name in present and not risk.changes(present[name], getattr(action, name))
        for name, risk in action.risks().items()
    )


async def _same_thing(proposed: ProposedCall) -> str:
    """The purpose with the numbers of the project, the group and the thing in it, as far as they can be looked up."""
    action, ask = proposed.call.action, proposed.ask
    numbers: dict[str, Any] = {}
    target = await look_at_target(action, ask)
    placeholders = action.endpoint().placeholders
    if placeholders and isinstance(target, dict) and isinstance(target.get("id"), int):
        numbers[placeholders[-1]] = target["id"]
    for field, look_up in (("project_id", ask.project), ("group_id", ask.group)):
        given = action.given().get(field)
        found = await look_up(str(given)) if given is not None else None
        if found is not None:
            numbers[field] = found.get("id")
    # A no holds for every version of the thing.
    return purpose(proposed.call, proposed.caller, **numbers, **dict.fromkeys(proposed.call.pinned))

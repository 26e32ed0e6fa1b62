"""A write that is not made: `dry_run=true` answers with what would be sent, and what is known to be in the way.

The action runs as always, in front of a GitLab that answers reads and keeps every write to itself. The first write ends
it: what would follow depends on an answer that nobody has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeVar

from gitlab_mcp.actions.action import Action
from gitlab_mcp.actions.exchange import Answer, File, GitLab, Request
from gitlab_mcp.actions.result import Result
from gitlab_mcp.actions.secret_fields import is_secret
from gitlab_mcp.actions.server import Server
from gitlab_mcp.actions.shape import sent_fields, sent_name
from gitlab_mcp.failures.counted import counted
from gitlab_mcp.gitlab.address import GRAPHQL_PATH
from gitlab_mcp.gitlab.graphql import is_mutation
from gitlab_mcp.gitlab.passing_on import PassingOn
from gitlab_mcp.results.secret_redaction import redact_json, redact_text
from gitlab_mcp.results.shown_fields import slim
from gitlab_mcp.results.written_fields import RETURNED_AS
from gitlab_mcp.success_checks.field_outcome import FieldOutcome, field_outcome

if TYPE_CHECKING:
    from gitlab_mcp.tiers.feature_map import TierMap

T = TypeVar("T")

_LONG: Final = 200
_LONGEST_OF_OURS: Final = 20_000
"""Of a text that is put together here: nobody has read it yet."""
_BEGINNING: Final = 100
_UPDATES: Final = ("PUT", "PATCH")
_HOLD_ANSWERS: Final = frozenset({"would_change", "would_send"})
"""The members that can hold what GitLab sent: a title that was read is sent again with something before it."""


class _Held(Exception):
    """A write was about to be sent."""


@dataclass(slots=True)
class ReadOnlyGitLab(PassingOn):
    """GitLab as an action sees it that must not write. Nothing but reads gets through."""

    held: list[Request] = field(default_factory=list)
    """The writes that were not sent. An action that goes on after the first is stopped at each."""

    async def send(self, request: Request) -> Answer:
        if not request.reads:
            self._hold(request)
        return await self.gitlab.send(request)

    async def stream(self, request: Request, read: Callable[[Iterator[bytes], Mapping[str, str]], T]) -> T:
        if not request.reads:
            self._hold(request)
        return await self.gitlab.stream(request, read)

    async def graphql(self, document: str, variables: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
        if is_mutation(document):
            body = {"mutation": document.partition("{")[2].partition("(")[0].strip(), **(variables or {})}
            self._hold(Request("POST", GRAPHQL_PATH, body=body))
        return await self.gitlab.graphql(document, variables)

    def with_deadline(self, seconds: float) -> GitLab:
        return ReadOnlyGitLab(self.gitlab.with_deadline(seconds), self.held)

    def _hold(self, request: Request) -> NoReturn:
        self.held.append(request)
        raise _Held


async def tried_out(
    action: Action, server: Server, gitlab: ReadOnlyGitLab, tiers: TierMap, question: str | None
) -> Result:
    """What the call would do. `server` must have `gitlab` for its GitLab; `question` is what a person would be asked.

    Raises whatever stops the call before it writes.
    """
    try:
        await action.run_with(server)
    except Exception:
        if not gitlab.held:
            raise
    told: dict[str, Any] = {"dry_run": True}
    if gitlab.held:
        told["would_send"] = _shown(gitlab.held[0], action)
        if _may_send_more(type(action)):
            told["more_may_follow"] = True
    else:
        told["sends_nothing"] = True
    told["danger"] = str(action.danger)
    if question is not None:
        told["asks_the_person"] = question
    told |= await _in_the_way(action, server, tiers)
    told |= await _changes(action, server)
    return Result(data=told, own_members=frozenset(told) - _HOLD_ANSWERS)


def _shown(request: Request, action: Action) -> dict[str, Any]:
    body = request.body or {}
    parts = {
        "method": request.method,
        "path": redact_text(request.path),
        "query": _values(request.query),
        "body": _values(body) | redact_json(_put_together_here(body, action)),
        "files": {name: _file(each) for name, each in request.files.items()},
        "content": f"({counted(len(request.content), 'byte')})" if request.content is not None else None,
    }
    return {name: part for name, part in parts.items() if part}


def _put_together_here(body: Mapping[str, Any], action: Action) -> dict[str, str]:
    """Texts that hold none of the long ones that the caller gave, such as notes that are drafted."""
    given = [each for each in action.given().values() if isinstance(each, str) and len(each) > _LONG]
    return {
        name: value
        for name, value in body.items()
        if isinstance(value, str)
        and _LONG < len(value) <= _LONGEST_OF_OURS
        and not is_secret(name)
        and not any(each in value for each in given)
    }


def _values(values: Mapping[str, Any]) -> dict[str, Any]:
    shown: dict[str, Any] = redact_json({name: _value(name, value) for name, value in values.items()})
    return shown


def _value(name: str, value: Any) -> Any:
    """What the caller sent is known to it: of secrets and of long text only their length is said."""
    if isinstance(value, str) and value and is_secret(name):
        return f"({counted(len(value), 'character')})"
    if isinstance(value, str) and len(value) > _LONG:
        return f"{value[:_BEGINNING]}… ({counted(len(value), 'character')})"
    if isinstance(value, Mapping):
        return {inner: _value(inner, member) for inner, member in value.items()}
    if isinstance(value, list | tuple):
        return [_value(name, item) for item in value]
    if isinstance(value, File):
        return _file(value)
    return f"({counted(len(value), 'byte')})" if isinstance(value, bytes) else value


def _file(file: File) -> str:
    return f"{redact_text(file.name)} ({counted(len(file.content), 'byte')})"


def _may_send_more(action: type[Action]) -> bool:
    own = {"run", "run_with", "completed"}
    return any(own & vars(each).keys() for each in action.__mro__ if each is not Action)


async def _in_the_way(action: Action, server: Server, tiers: TierMap) -> dict[str, Any]:
    """What explain_access says of this one call."""
    from gitlab_mcp.workflows.access.explain_access import explain, read_place

    given = action.given()
    places = {name: str(given[name]) for name in ("project_id", "group_id") if given.get(name) is not None}
    place = await read_place(server.ask, project_id=places.get("project_id"), group_id=places.get("group_id"))
    known = explain(place, tiers, [type(action)], server).data
    name = f"{action.spec.tool.name} {action.spec.name}"
    without_effect = [
        {"field": field, "code": each["code"], "why": each["why"]}
        for each in known.get("fields", ())
        for field in given
        if f"{name} {field}" in each["fields"]
    ]
    refused = [{"code": each["code"], "why": each["why"]} for each in known.get("does_not", ())]
    found = {
        "would_be_refused": refused[0] if refused else None,
        "fields_in_question": without_effect,
        "needs_permission": [each["permission"] for each in known.get("needs_permission", ())],
        "depends_on_the_tier": bool(known.get("depends_on_the_tier")),
    }
    return {name: value for name, value in found.items() if value}


async def _changes(action: Action, server: Server) -> dict[str, Any]:
    """Of an update, each field as it is now and as it is sent; those that already are so."""
    endpoint = action.endpoint() if action.spec.endpoints else None
    if endpoint is None or endpoint.method not in _UPDATES or not endpoint.path.endswith("}"):
        return {}
    present = await server.ask.look(action.request().path)
    if not isinstance(present, Mapping):
        return {}
    changes: dict[str, Any] = {}
    body = action.request().body or {}
    already: list[str] = []
    kind = type(action)
    for name in sent_fields(kind):
        if name not in action.model_fields_set or name in endpoint.placeholders:
            continue
        sent, value = sent_name(kind, name), getattr(action, name)
        key = RETURNED_AS.get(sent, sent)
        if key not in present:
            continue
        if field_outcome(sent, value, present) is FieldOutcome.SAVED and not _is_part_of(value, present[key]):
            already.append(name)
        else:
            now = "(kept back)" if is_secret(name) else _value(name, slim(present[key], depth=1))
            changes[name] = {"now": now, "sent": _value(name, body.get(sent, value))}
    return {
        **({"would_change": changes} if changes else {}),
        **({"already_so": already} if already else {}),
    }


def _is_part_of(sent: Any, present: Any) -> bool:
    """A text that holds the new one is another text; an answer to a write is compared less strictly."""
    return isinstance(sent, str) and isinstance(present, str) and sent.strip() != present.strip()

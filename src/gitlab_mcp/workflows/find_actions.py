"""What find_actions answers: the calls that may be made here, each as a signature that is ready to be called."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

import anyio.to_thread

from gitlab_mcp.actions.action import Action
from gitlab_mcp.actions.result import Result
from gitlab_mcp.actions.schema import required_fields
from gitlab_mcp.actions.server import Server
from gitlab_mcp.actions.shape import Shape, shapes
from gitlab_mcp.failures.counted import counted
from gitlab_mcp.finding.documents import index
from gitlab_mcp.tiers.effective_tier import EffectiveTier
from gitlab_mcp.tiers.feature_map import rank
from gitlab_mcp.tiers.requirements import requirements_of_action

LONGEST_QUERY: Final = 400
MOST_HITS: Final = 8
_MOST_CHARACTERS: Final = 1_600
"""Of all hits, with what JSON adds: below 500 tokens."""
_MOST_LOOKED_AT: Final = 60
_MOST_OPTIONAL: Final = 4
_MOST_VALUES: Final = 5
"""Of a field that may be left out; those of one that a call needs are all shown."""
_MORE: Final = " more"
_OF_EVERY_LIST: Final = frozenset(("page", "per_page", "sort", "order_by"))


async def find(query: str, server: Server) -> Result:
    """Nothing of it comes from GitLab: what there is, and what of it this server lets be called."""
    # The first question builds the index. Others are served meanwhile.
    await anyio.to_thread.run_sync(index)
    hits: list[dict[str, Any]] = []
    refused: dict[str, str] = {}
    room = _MOST_CHARACTERS
    for action in _likeliest(query, server):
        if (refusal := server.refusal(action)) is not None:
            if not hits:
                refused[_name(action)] = refusal[1]
            continue
        hit = _hit(action, server, whole=query.strip() == _name(action))
        room -= sum(len(name) + len(value) + len('"":"",') for name, value in hit.items())
        if len(hits) == MOST_HITS or (hits and room < 0):
            break
        hits.append(hit)
    data: dict[str, Any] = {"hits": hits} if hits or refused else _nothing()
    if any(hit.get("fields", "").endswith(_MORE) for hit in hits):
        data["all_fields"] = "Give the name of an action alone as the query."
    if refused:
        # Otherwise the next best would look like the best.
        first, why = next(iter(refused.items()))
        others = f" and {counted(len(refused) - 1, 'other')}" if len(refused) > 1 else ""
        data["not_allowed_here"] = f"{first}{others}: {why}"
    return Result(data=data, own_members=frozenset(data))


def _likeliest(query: str, server: Server) -> Iterator[type[Action]]:
    for hit in islice(index().search(query), _MOST_LOOKED_AT):
        tool, name = hit.name.replace(".", " ").split()
        action = server.registry.action(tool, name)
        if action is not None:
            yield action


def _hit(action: type[Action], server: Server, *, whole: bool) -> dict[str, str]:
    spec = action.spec
    instance = server.ask.known_instance
    tier = requirements_of_action(action, server.tier_map(), instance.version).tier
    here = EffectiveTier(instance).known
    endpoint = str(spec.endpoints[0]) if spec.endpoints else ""
    facts = {
        "action": _name(action),
        "does": _first_sentence(action),
        "fields": ", ".join(_fields(action, whole=whole)),
        "danger": spec.danger.value,
        "tier": "" if tier == "Free" else tier,
        "tier_here": here.name if here and rank(here.name) < rank(tier) else "",
        "endpoint": endpoint,
    }
    return {name: value for name, value in facts.items() if value}


def _name(action: type[Action]) -> str:
    spec = action.spec
    return f"{spec.tool.name}{'.' if spec.tool.of_rows else ' '}{spec.name}"


def _first_sentence(action: type[Action]) -> str:
    return " ".join((action.__doc__ or "").split()).partition(". ")[0].rstrip(".")


def _fields(action: type[Action], *, whole: bool) -> Iterator[str]:
    """Those that a call needs, and the first of the others; all where the `whole` action is asked for."""
    needed, fields = required_fields(action), shapes(action)
    for name in needed:
        yield name + (_values(fields[name]) if name in fields else "")
    known = {part for field in needed for choice in field.split("|") for part in choice.split("+")}
    others = [name for name in fields if name not in known]
    seldom = _OF_EVERY_LIST.union(action.spec.seldom_given)
    shown = others if whole else [name for name in others if name not in seldom][:_MOST_OPTIONAL]
    for name in shown:
        few = whole or len(fields[name].values) <= _MOST_VALUES
        yield f"{name}?" + (_values(fields[name]) if few else "")
    if left_out := len(others) - len(shown):
        yield f"{left_out}{_MORE}"


def _values(shape: Shape) -> str:
    return f"={'|'.join(shape.values)}" if shape.values else ""


def _nothing() -> dict[str, Any]:
    return {
        "hits": [],
        "why_empty": "No action is described by these words.",
        "try": "Say what is to be done to what, in English: `create a label`; or give the endpoint: "
        "`GET /projects/:id/labels`.",
    }

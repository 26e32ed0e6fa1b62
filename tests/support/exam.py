"""Recorded refusals as questions to the translator: what was asked, by whom, and what GitLab says when asked back."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from functools import cache
from hashlib import sha256
from itertools import chain
from typing import Annotated, Any
from urllib.parse import parse_qsl, unquote, urlsplit

from pydantic import create_model

from gitlab_mcp.actions.action import Action, Danger, Endpoint, Role
from gitlab_mcp.actions.exchange import Answer, Request
from gitlab_mcp.actions.fields import Needs
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.api.endpoints import find, normalised
from gitlab_mcp.failures.failure import Failure
from gitlab_mcp.gitlab.faults import Refused
from gitlab_mcp.gitlab.instance import AnswerCache, CachedLookups
from gitlab_mcp.refusals.translate import translate
from gitlab_mcp.tiers.feature_map import Feature, tier_map
from tests.support.facts import facts
from tests.support.recordings import rows
from tests.support.versions import OLDEST

API = "/api/v4"
SEGMENTS = {":": "[^/]+", "*": ".+"}


NAMED_BY_NO_FIELD = {
    "artifact": {"artifacts"},
    "repository": {"repository"},
    "pipeline": {"pipeline"},
    "avatar": {"avatar"},
    "export": {"export"},
}
"""By the name of the recordings: things that are missing although every field names something that is there."""


class Recorded:
    """GitLab as one recorded caller saw it: answers what was recorded, knows nothing else."""

    base_url = "https://gitlab.example.com"
    seconds_left = 50.0
    today = date(2026, 11, 18)

    def __init__(
        self, recording: str, actor: str, version: str = OLDEST, base_url: str = "https://gitlab.example.com"
    ) -> None:
        self.base_url = base_url
        self._answers = answers(recording, version).get(actor, {})

    async def send(self, request: Request) -> Answer:
        row = self._answers.get(request.path)
        if row is None:
            raise LookupError(f"nobody recorded {request.path}")
        if row["status"] < 300:
            return Answer(row["status"], row["headers"], json.loads(row["body"]))
        raise refused(row)

    async def get(self, path: str, **query: Any) -> Answer:
        return await self.send(Request("GET", path, query))

    async def stream(self, request: Request, read: Callable[..., Any]) -> Any:
        raise NotImplementedError

    async def graphql(self, document: str, variables: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
        raise NotImplementedError

    async def pause(self, seconds: float) -> bool:
        raise NotImplementedError

    def with_deadline(self, seconds: float) -> Recorded:
        return self

    def report(self, done: float, total: float | None = None, what: str = "") -> None:
        raise NotImplementedError


@cache
def answers(recording: str, version: str) -> dict[str, dict[str, dict[str, Any]]]:
    by_actor: dict[str, dict[str, dict[str, Any]]] = {}
    for row in rows(recording, version):
        if row["method"] == "GET":
            by_actor.setdefault(row["actor"], {})[urlsplit(row["path"]).path.removeprefix(API)] = row
    return by_actor


def refused(row: Mapping[str, Any]) -> Refused:
    parts = urlsplit(row["path"])
    body = row.get("request")
    request = Request(
        row["method"],
        parts.path.removeprefix(API),
        dict(parse_qsl(parts.query)),
        body if isinstance(body, dict) else None,
    )
    return Refused(request, row["status"], row["headers"], row["body"].encode())


@dataclass(frozen=True)
class Question:
    row: Mapping[str, Any]
    context: str
    version: str
    feature: str | None = None
    base_url: str = "https://gitlab.example.com"

    @property
    def truth(self) -> str:
        truth: str = self.row["truth"]["truth"]
        # What GitLab crashed on is told as a crash, whatever the mistake behind it was.
        return "SERVER_ERROR" if self.row["status"] >= 500 else truth

    @property
    def missing(self) -> set[str] | None:
        """What a NOT_FOUND should name: the field the mistake was in, or the thing where no field names it.

        None where the recording does not say, or where the field is none of the call.
        """
        truth, route = self.row["truth"], self.row.get("route")
        if truth["truth"] != "NOT_FOUND" or self.row["status"] >= 500 or not route:
            return None
        path = route.split(" ", 1)[1]
        field = our_name(path, str(truth.get("field") or "").split("[")[0])
        accepted = {field} & fields_of(self.row, path).keys()
        if truth.get("missing") in NAMED_BY_NO_FIELD:
            accepted |= NAMED_BY_NO_FIELD[truth["missing"]]
        return accepted or None

    async def asked(self) -> Failure:
        ask = CachedLookups(
            Recorded(self.context, self.row["actor"], self.version, self.base_url), AnswerCache()
        )
        return await translate(refused(self.row), action_for(self.row, self.feature), ask)


def is_kept_aside(question: Question) -> bool:
    return sha256(question.row["label"].encode()).digest()[0] % 5 == 0


def errors(version: str, recording: str = "errors") -> Iterator[Question]:
    for row in rows(recording, version):
        if row["status"] >= 400 and not row.get("unfair") and row["truth"]["truth"]:
            yield Question(row, "context_ee", version, feature_of(row, version))


def tiers(edition: str, version: str) -> Iterator[Question]:
    """Without the free reads of 17.2: what is told of them as true is the tier of the feature they were made beside.
    Those of 19.3 were judged again.
    """
    for row in rows(f"tiers_{edition}", version):
        if row["status"] >= 400 and row.get("truth") and not (version == OLDEST and free_read(row)):
            yield Question(row, f"context_{edition}", version, labelled_feature(row, version))


def as_gitlab_com() -> Iterator[Question]:
    """What GitLab 19.3 answered, as if GitLab.com had: synthetic. Without an administrator's mistakes, and without paid
    features that a Free namespace there is not refused with the same answer."""
    free = {each["feature"]: each["body"] for each in facts("gitlab_com_free")}
    for question in chain(errors("19.3"), tiers("ee", "19.3")):
        row, paid = question.row, question.truth == "TIER_RESTRICTED"
        if row["actor"].startswith("root") or (paid and free.get(question.feature or "") != row["body"]):
            continue
        yield replace(question, base_url="https://gitlab.com")


def labelled_feature(row: Mapping[str, Any], version: str) -> str | None:
    """The feature that the label names, but none for the free reads that were made beside it.

    A project's wiki was read beside a group's, and a protected branch after it was protected with a paid field.
    """
    feature = tier_map().features.get(row["label"].split("/")[0])
    if feature is None or free_read(row):
        return feature_of(row, version)
    return feature.key


def free_read(row: Mapping[str, Any]) -> bool:
    """Whether this reads, on a route of every edition and tier, something beside the feature that the label names."""
    feature = tier_map().features.get(row["label"].split("/")[0])
    route = row.get("route") or ""
    known = find(route)
    if feature is None or known is None or known.edition != "CE":
        return False
    if row["method"] != "GET" or urlsplit(row["path"]).query:
        return False
    listed = {normalised(endpoint) for endpoint in feature.endpoints}
    return normalised(route) not in listed and all(each.tier == "Free" for each in known.documented)


def action_for(row: Mapping[str, Any], feature: str | None) -> Action | None:
    """An action as the catalogue would declare it for this route, with the least role as measured."""
    route = row.get("route") or f"{row['method']} {urlsplit(row['path']).path.removeprefix(API)}"
    method, path = route.split(" ", 1)
    given = fields_of(row, path)
    paid = tier_map().features.get(feature) if feature else None
    marked = paid_fields(paid, route) & given.keys() if paid else set()
    types: dict[str, Any] = {
        name: (Annotated[str, Needs(paid.key)] if paid and name in marked else str, "")
        for name in {**dict.fromkeys(parameters(route)), **given}
    }
    model = create_model("Recorded", __base__=Action, **types)
    endpoint = Endpoint(method, re.sub(r"[:*](\w+)", lambda m: "{" + our_name(path, m[1]) + "}", path))
    Tool("manage_recorded", "Recorded.").action(
        "recorded",
        (endpoint,),
        docs="api/",
        example={},
        danger=Danger.READ if method == "GET" else Danger.REVERSIBLE,
        feature=feature if paid and not marked else None,
        role=role_of(route),
    )(model)
    return model.model_construct(_fields_set=set(given), **given)


def parameters(route: str) -> tuple[str, ...]:
    """Which the action for a route would declare."""
    known = find(route)
    return tuple(name for name in (known and known.parameters) or () if name.isidentifier() and name != "id")


def fields_of(row: Mapping[str, Any], path: str) -> dict[str, Any]:
    parts = urlsplit(row["path"])
    given: dict[str, Any] = dict(parse_qsl(parts.query))
    if isinstance(row.get("request"), dict):
        given |= row["request"]
    pattern = re.sub(
        r"([:*])(\w+)",
        lambda m: f"(?P<{our_name(path, m[2])}>{SEGMENTS[m[1]]})",
        re.escape(path).replace(r"\*", "*"),
    )
    pattern = pattern.replace(r"\(\-/\)", "(?:-/)?").replace(r"\(", "(?:").replace(r"\)", ")?")
    match = re.match(pattern, parts.path.removeprefix(API))
    found = {name: unquote(value) for name, value in match.groupdict("").items()} if match else {}
    return {re.sub(r"\W", "_", name).strip("_"): value for name, value in {**given, **found}.items()}


def our_name(path: str, placeholder: str) -> str:
    if placeholder != "id":
        return placeholder
    ours = {"projects": "project_id", "groups": "group_id"}.get(path.split("/")[1], "id")
    # `/groups/:id/share/:group_id` names two groups.
    return "id" if f":{ours}" in path else ours


def feature_of(row: Mapping[str, Any], version: str = OLDEST) -> str | None:
    """The paid feature behind a route, or behind a parameter that was sent to it."""
    route = row.get("route")
    if not route:
        return None
    given = fields_of(row, route.split(" ", 1)[1])
    for feature in tier_map().features.values():
        if (
            normalised(route) in {normalised(endpoint) for endpoint in feature.endpoints}
            and feature.tier_in(version) != "Free"
        ):
            return feature.key
        paid = paid_fields(feature, route) & given.keys()
        if any(feature.is_needed_for(name, given[name]) for name in paid):
            return feature.key
    return None


def paid_fields(feature: Feature, route: str) -> set[str]:
    return {
        name
        for endpoint, names in feature.parameters.items()
        if normalised(endpoint) == normalised(route)
        for name in names
    }


def role_of(route: str) -> Role | None:
    known = find(route)
    return Role[known.role.upper()] if known and known.role else None

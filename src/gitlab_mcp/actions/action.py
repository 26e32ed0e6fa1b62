"""One action is one class: its fields are the schema, its declaration is everything else."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict, model_validator

from gitlab_mcp.actions.action_facts import Differs, looked_up
from gitlab_mcp.actions.danger import Danger as Danger
from gitlab_mcp.actions.danger import Risk
from gitlab_mcp.actions.exchange import Answer, File, GitLab, Request
from gitlab_mcp.actions.fields import Csv, Names, SentAsNumber, broken_rule
from gitlab_mcp.actions.narrowing_defaults import NARROWING_DEFAULTS
from gitlab_mcp.actions.result import Result
from gitlab_mcp.actions.sent_files import SentFile
from gitlab_mcp.actions.shape import sent_fields, sent_name, shapes
from gitlab_mcp.actions.token_needs import TokenNeeds, token_needs

if TYPE_CHECKING:
    from gitlab_mcp.actions.ask import Ask, Look
    from gitlab_mcp.actions.recovery_lookup import RecoveryLookup
    from gitlab_mcp.actions.server import Server
    from gitlab_mcp.actions.tool import Tool
    from gitlab_mcp.actions.undo import Undo

_PLACEHOLDER = re.compile(r"\{(\w+)\}")


class Role(IntEnum):
    """GitLab's access levels, by GitLab's numbers. They are a ladder but for two: a planner may do some of what takes a
    reporter or an owner, a security manager some of what takes a developer."""

    GUEST = 10
    REPORTER = 20
    DEVELOPER = 30
    MAINTAINER = 40
    OWNER = 50
    ADMIN = 60


BESIDE_THE_LADDER: Final = {"planner": 15, "security_manager": 25}
ROLE_NAMES: Final = {
    0: "no member",
    5: "Minimal access",
    15: "Planner",
    25: "Security manager",
    **{int(role): role.name.capitalize() for role in Role},
}


@dataclass(frozen=True, slots=True)
class Endpoint:
    method: str
    path: str

    @property
    def placeholders(self) -> tuple[str, ...]:
        return _placeholders_in(self.path)

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


@cache
def _placeholders_in(path: str) -> tuple[str, ...]:
    return tuple(_PLACEHOLDER.findall(path))


Endpoints = tuple[Endpoint, ...]

Rewrite = Callable[[Any, Mapping[str, Any]], Mapping[str, Any] | None]
"""From a value and the other arguments to the arguments that say the same; None where they cannot."""


def GET(*paths: str) -> Endpoints:
    return tuple(Endpoint("GET", path) for path in paths)


def POST(*paths: str) -> Endpoints:
    return tuple(Endpoint("POST", path) for path in paths)


def PUT(*paths: str) -> Endpoints:
    return tuple(Endpoint("PUT", path) for path in paths)


def PATCH(*paths: str) -> Endpoints:
    return tuple(Endpoint("PATCH", path) for path in paths)


def DELETE(*paths: str) -> Endpoints:
    return tuple(Endpoint("DELETE", path) for path in paths)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """What an action declares beside its fields. Written once, by `Tool.action`."""

    tool: Tool
    name: str
    endpoints: Endpoints
    danger: Danger
    example: Mapping[str, Any]
    shows: str
    """The fields to show of an answer: see `results.shown_fields`."""
    own_facts: Mapping[str, Any]
    """Those of docs, switch, feature and role that are not looked up by the endpoint."""
    repeatable: bool
    recover_with: RecoveryLookup | None
    """Where to look when the answer to a write was lost."""
    undo: Undo | None
    """The call that takes it back."""
    lists: bool
    """Whether the answer is a list, under `items`."""
    not_taken: Mapping[str, str]
    """Fields that carry an intent this action cannot fulfil, each with what is offered for it."""
    rewrites: Mapping[str, Rewrite]
    """Fields whose intent other fields carry: draft=true is a title with Draft: in front."""
    moved_from: tuple[tuple[str, str], ...]
    """The tools of `core`, and the names there, under which it was called before it got this one."""
    moved_until: str
    """The date after which a release may end those names."""
    has_line: bool
    """Whether the listing says what it does: its name does not."""
    seldom_given: tuple[str, ...]
    """Fields that the listing only names."""
    facts: Mapping[str, Any] | None
    """Of a row, what `action_facts.json` holds of other actions."""

    @property
    def docs(self) -> str:
        """A page below https://docs.gitlab.com/."""
        docs: str | None = self._fact("docs")
        return docs or ""

    def docs_at(self, endpoint: Endpoint) -> str:
        """The page of one of its endpoints: that of a group is often another than that of a project."""
        pages: Mapping[str, str] = self._looked_up.get("docs_at", {})
        return pages.get(str(endpoint), self.docs)

    @property
    def switch(self) -> str | None:
        """The project feature it needs; of those joined by `or` one is enough."""
        switch: str | None = self._fact("switch")
        return switch

    @property
    def feature(self) -> str | None:
        """The key in tier_features.yaml when the whole action is paid."""
        feature: str | None = self._fact("feature")
        return feature

    @property
    def documented_tier(self) -> str | None:
        """Of a row: the tier that the documentation names, where the feature map knows nothing of it."""
        tier: str | None = self._looked_up.get("tier")
        return tier

    @property
    def since(self) -> str | None:
        """Of a row: the first version of GitLab that is known to have it, where not all do."""
        since: str | None = self._looked_up.get("since")
        return since

    @property
    def until(self) -> str | None:
        """Of a row: the last version of GitLab that is known to have it, where not all do."""
        until: str | None = self._looked_up.get("until")
        return until

    @property
    def role(self) -> Role | None:
        """The least role."""
        role: Role | str | None = self._fact("role")
        return Role[role.upper()] if isinstance(role, str) else role

    def role_at(self, endpoint: Endpoint | None) -> Role | None:
        """The least role of one of its endpoints."""
        roles: Mapping[str, str] = self._looked_up.get("role_at", {})
        own = roles.get(str(endpoint)) if endpoint else None
        return Role[own.upper()] if own else self.role

    def lets_in(self, level: int, endpoint: Endpoint | None = None) -> bool | None:
        """Whether somebody of this access level may do it; None where the least role is not known."""
        least = self.role_at(endpoint)
        return None if least is None else level >= least or level in self._beside

    def custom_permission_at(self, endpoint: Endpoint) -> str | None:
        """What a custom role adds to let in somebody whose role is lower; None for nothing or unknown."""
        permissions: Mapping[str, str] = looked_up(self.tool.name, self.name).get("custom", {})
        return permissions.get(str(endpoint))

    @property
    def _beside(self) -> frozenset[int]:
        names: list[str] = self._looked_up.get("beside", [])
        return frozenset(BESIDE_THE_LADDER[name] for name in names)

    @property
    def token_needs(self) -> Mapping[str, TokenNeeds]:
        """What its endpoints ask of fine-grained tokens and of the tokens of jobs, where it is known."""
        return token_needs(self._looked_up)

    @property
    def _looked_up(self) -> Mapping[str, Any]:
        return looked_up(self.tool.name, self.name) if self.facts is None else self.facts

    def _fact(self, name: str) -> Any:
        if name not in self.own_facts:
            return self._looked_up.get(name)
        fact = self.own_facts[name]
        return fact.value if isinstance(fact, Differs) else fact

    @property
    def writes(self) -> bool:
        return self.danger is not Danger.READ

    @property
    def placeholders(self) -> frozenset[str]:
        """The fields that some endpoint has in its path."""
        return frozenset(name for endpoint in self.endpoints for name in endpoint.placeholders)


class Action(BaseModel):
    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        defer_build=True,
        coerce_numbers_to_str=True,
        str_strip_whitespace=False,
        hide_input_in_errors=True,
        regex_engine="python-re",
    )

    spec: ClassVar[Spec]
    named_by: ClassVar[tuple[str, ...]] = ()
    """For GraphQL, whose path names nothing: the alternatives of what must be given, as `project_id+work_item_iid`."""
    needs_one_of: ClassVar[tuple[str, ...]] = ()
    """Optional fields of which at least one must be given."""

    @classmethod
    def alternatives(cls) -> list[frozenset[str]]:
        """The fields that name what a call is about, one set for each way to say it."""
        if cls.named_by:
            return [frozenset(fields.split("+")) for fields in cls.named_by]
        return [frozenset(endpoint.placeholders) for endpoint in cls.spec.endpoints]

    async def run(self, gitlab: GitLab) -> Answer | Result:
        """Send the fields to the endpoint. Override where GitLab needs more than that."""
        return await self.completed(gitlab, await gitlab.send(self.request()))

    async def completed(self, gitlab: GitLab, answer: Answer) -> Answer:
        """Override where one more read adds what the answer lacks."""
        return answer

    async def run_with(self, server: Server) -> Answer | Result:
        """Override in place of `run` where GitLab is not enough: the version it has, other tools, the tiers."""
        return await self.run(server.gitlab)

    async def pinned(self, ask: Look) -> Self:
        """Override where the thing can change between a person's yes and the act: the action with the version of it
        that is there now. A yes is to that version, and GitLab refuses another. What is looked at here, `run` is given
        without asking GitLab again."""
        return self

    async def refuse_before_asking(self, ask: Ask) -> None:
        """Override where one look can tell that it will not work: then no person is asked to confirm it."""

    async def overwrites(self, ask: Ask) -> bool:
        """Override where one look can tell that a value takes the place of none: then no person is asked about it."""
        return True

    async def foretold(self, ask: Ask) -> str:
        """Override where the fields do not say what will happen: a sentence for the person who is asked to confirm it,
        with numbers, dates and words of ours, and nothing else that GitLab sent."""
        return ""

    def given(self) -> dict[str, Any]:
        """The fields the caller gave, by our names."""
        return {name: getattr(self, name) for name in self.model_fields_set}

    def risks(self) -> dict[str, Risk]:
        """The fields whose values make this write more dangerous than its action."""
        if not self.spec.writes:
            return {}
        given = [(name, mark) for name, shape in shapes(type(self)).items() for mark in shape.marks]
        return {
            name: mark
            for name, mark in given
            if name in self.model_fields_set and isinstance(mark, Risk) and mark.when(getattr(self, name))
        }

    @property
    def danger(self) -> Danger:
        """The action's own, or that of a value it is given."""
        risks = self.risks().values()
        return (
            max([self.spec.danger, *(risk.danger for risk in risks)], key=_rank)
            if risks
            else self.spec.danger
        )

    def filters_not_asked_for(self) -> Mapping[str, str]:
        """What narrows a list though the caller did not say so: GitLab's own defaults, and what is sent instead. The
        answer names them."""
        defaults = NARROWING_DEFAULTS.get(self.endpoint().path, {})
        return {name: value for name, value in defaults.items() if name not in self.model_fields_set}

    def endpoint(self) -> Endpoint:
        """The endpoint whose path the given fields fill, the most specific first."""
        given = self.model_fields_set
        fitting = [endpoint for endpoint in self.spec.endpoints if given.issuperset(endpoint.placeholders)]
        return max(fitting, key=lambda endpoint: len(endpoint.placeholders))

    def request(self, **changes: Any) -> Request:
        """The request of the default `run`; `changes` replace what is sent, None removes it."""
        return self.request_to(self.endpoint(), **changes)

    def request_to(self, endpoint: Endpoint, **changes: Any) -> Request:
        sent: dict[str, Any] = {}
        for name in sent_fields(type(self)):
            if name not in self.model_fields_set:
                continue
            _no_names_left(type(self), name, getattr(self, name))
            if name in endpoint.placeholders:
                continue
            sent[sent_name(type(self), name)] = _as_sent(type(self), name, getattr(self, name))
        sent.update(changes)
        sent = {key: value for key, value in sent.items() if value is not None}
        files = {key: value for key, value in sent.items() if isinstance(value, File)}
        sent = {key: value for key, value in sent.items() if key not in files}
        in_query = endpoint.method in ("GET", "DELETE")
        return Request(
            method=endpoint.method,
            path=fill(endpoint.path, **{name: getattr(self, name) for name in endpoint.placeholders}),
            query=sent if in_query else {},
            body=None if in_query else sent,
            files=files,
            repeatable=self.spec.repeatable,
            route=endpoint.path,
        )


def _rank(danger: Danger) -> int:
    return danger.rank


def something_to_change(field: str) -> Any:
    """The rule of an update, as a member of its class: more is given than what names the thing. `field` could be."""

    def rule(action: Action) -> Action:
        changes = action.model_fields_set - action.spec.placeholders
        if changes.isdisjoint(sent_fields(type(action))):
            raise broken_rule("a value, or another field to change", field=field)
        return action

    return model_validator(mode="after")(rule)


def fill(path: str, **values: Any) -> str:
    """A path template with each value encoded as one segment: the only place where a path is put together."""
    return _PLACEHOLDER.sub(lambda match: encode_segment(values[match[1]]), path)


def encode_segment(value: Any) -> str:
    return quote(str(value), safe="")


def _no_names_left(action: type[Action], field: str, value: Any) -> None:
    """GitLab takes a word for a number without a complaint, so none may get this far."""
    mark = shapes(action)[field].mark(Names)
    if mark and any(mark.is_to_look_up(each) for each in (value if isinstance(value, list) else [value])):
        raise RuntimeError(f"{field} holds a name that was not looked up")


def _as_sent(action: type[Action], name: str, value: Any) -> Any:
    if isinstance(value, list) and shapes(action)[name].mark(Csv):
        return ",".join(str(item) for item in value)
    if mark := shapes(action)[name].mark(SentAsNumber):
        return mark.numbers[value]
    return _plain(value)


def _plain(value: Any) -> Any:
    if isinstance(value, SentFile):
        return value.as_sent()
    if isinstance(value, BaseModel):
        return value.model_dump(exclude_unset=True)
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value

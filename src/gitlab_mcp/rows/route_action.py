"""The class of a row: an action like those that are written by hand, made of what is known of its endpoint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from typing import Any, ClassVar, Final, Self

from pydantic import ConfigDict, create_model, model_validator

from gitlab_mcp.actions.action import Action, Danger, Endpoint, Role
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.fields import broken_rule
from gitlab_mcp.actions.recovery_lookup import RecoveryLookup
from gitlab_mcp.actions.result import Result
from gitlab_mcp.actions.shape import Shape, sent_name, shapes
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.api.derivation import tokens
from gitlab_mcp.api.endpoints import EndpointFacts, facts_in, known_endpoints, normalised
from gitlab_mcp.api.rows import Row, rows_by_noun
from gitlab_mcp.api.versions import READ
from gitlab_mcp.results.file_contents import download_result
from gitlab_mcp.results.secret_redaction import keep_visible
from gitlab_mcp.rows.places import named
from gitlab_mcp.rows.row_fields import Told, field, members_of, path_field, with_marks

MOST_IN_A_LIST: Final = 14
_OF_ONE_PAGE: Final = ("page", "per_page")
_NOT_SENT: Final = ("file.",)
"""What Workhorse adds to an upload."""


class RouteAction(Action):
    model_config = ConfigDict(protected_namespaces=())

    row: ClassVar[Row]
    rules: ClassVar[tuple[tuple[str, ...], ...]] = ()
    """Which fields go together, by our names, as GitLab checks it."""

    @model_validator(mode="after")
    def _keeps_the_rules(self) -> Self:
        for kind, *names in self.rules:
            check_rule(kind, names, self.model_fields_set)
        if (
            self.rules
            and ("at_least_one_of",) in self.rules
            and self.model_fields_set <= self.spec.placeholders
        ):
            raise broken_rule("at least one thing to change", field=next(reversed(type(self).model_fields)))
        return self

    async def run(self, gitlab: GitLab) -> Answer | Result:
        row = self.row
        if row.raw:
            name = str(self.given().get("filename") or row.verb)
            return await gitlab.stream(self.request(), lambda chunks, _: download_result(chunks, name))
        return await super().run(gitlab)

    async def completed(self, gitlab: GitLab, answer: Answer) -> Answer:
        row = self.row
        if row.once and isinstance(answer.body, Mapping):
            return replace(answer, body=keep_visible(answer.body, *row.once.split()))
        return answer


def check_rule(kind: str, names: Sequence[str], given: Set[str]) -> None:
    """Raises what names the fields of a rule that is not kept."""
    there, listed = given & set(names), " or ".join(names)
    if kind == "mutually_exclusive" and len(there) > 1:
        raise broken_rule(f"only one of {listed}", field=max(there, key=names.index))
    if kind == "exactly_one_of" and len(there) != 1:
        raise broken_rule(f"exactly one of {listed}", field=names[0])
    if kind == "at_least_one_of" and names and not there:
        raise broken_rule(f"at least one of {listed}", field=names[0])
    if kind == "all_or_none_of" and there and there != set(names):
        missing = next(name for name in names if name not in there)
        raise broken_rule(f"all of {', '.join(names)}, or none", field=missing)


def tool_of(noun: str) -> Tool:
    """The tool that is never listed, with all the verbs of a noun."""
    rows = rows_by_noun()[noun]
    first = next(iter(rows.values()))
    tool = Tool(noun, first.does, toolset=first.toolset, of_rows=True)
    for verb, row in rows.items():
        _declare(tool, verb, row)
    return tool


def _declare(tool: Tool, verb: str, row: Row) -> None:
    path, names = named(row.endpoint)
    facts = _facts(row)
    parameters = _parameters(row)
    fields: dict[str, Any] = {}
    for ours, theirs in names.items():
        fields[ours] = (path_field(ours, path, parameters.get(theirs)), ...)
    for theirs, told in parameters.items():
        if theirs in names.values() or "[" in theirs or theirs.startswith(_NOT_SENT):
            continue
        ours = _our_name(theirs, fields)
        inside = members_of(theirs, parameters)
        typed = field(ours, told, endpoint=row.endpoint, path=path, members=inside)
        typed = with_marks(typed, told, theirs if ours != theirs else None)
        fields[ours] = (typed, ...) if told.required else (typed | None, None)
    for name in _OF_ONE_PAGE:
        if name in fields:
            fields[name] = fields.pop(name)
    kind = create_model(
        "".join(word.capitalize() for word in row.name.replace(".", "_").split("_")),
        __base__=RouteAction,
        __doc__=row.does,
        __module__=__name__,
        **fields,
    )
    kind.row = row
    ours_of = {theirs: ours for ours, theirs in names.items()} | {
        sent_name(kind, name): name for name in fields if name not in names
    }
    kind.rules = tuple(
        (rule, *(ours_of[name] for name in told))
        for rule, *told in facts.rules
        if all(name in ours_of for name in told)
    )
    method = row.endpoint.partition(" ")[0]
    endpoint = Endpoint(method, path)
    tool.action(
        verb,
        (endpoint,),
        danger=Danger(row.danger),
        example=_example(shapes(kind), kind.rules),
        docs=facts.docs,
        feature=row.feature,
        switch=facts.switch,
        role=Role[facts.role.upper()] if facts.role else None,
        facts={
            "tokens": tokens([str(endpoint)]),
            "beside": list(facts.beside),
            "tier": row.tier,
            "since": row.since,
            "until": row.until,
        },
        shows=_shows(row, facts.answer if method == "GET" else ()),
        recover_with=_recovery(row) if method == "POST" and row.danger != "read" else None,
        lists=method == "GET" and (verb.startswith("list") or "page" in fields),
    )(kind)


def _shows(row: Row, fields: Sequence[str]) -> str:
    """All that an answer has of one thing; in a list, the first of it where there is much. Of a write what names the
    thing, and the secret that is shown once."""
    if row.once:
        return f"id name {row.once} expires_at scopes"
    if len(fields) <= MOST_IN_A_LIST:
        return " ".join(fields)
    return f"{' '.join(fields[:MOST_IN_A_LIST])} | {' '.join(fields[MOST_IN_A_LIST:])}"


def _facts(row: Row) -> EndpointFacts:
    """In the newest version that has it."""
    told = known_endpoints()[normalised(row.endpoint)]
    return next(found for version in reversed(READ) if (found := facts_in(told, version)) is not None)


def _parameters(row: Row) -> dict[str, Told]:
    """By GitLab's name, over all versions: a field that only some have says so."""
    known = known_endpoints()[normalised(row.endpoint)]
    versions = [version for version in READ if facts_in(known, version) is not None]
    by_version = {version: (facts_in(known, version) or _facts(row)).parameters or {} for version in versions}
    found: dict[str, Told] = {}
    for version in reversed(versions):
        for name, parameter in by_version[version].items():
            if name in found:
                continue
            having = [each for each in versions if name in by_version[each]]
            found[name] = Told(
                parameter.type,
                required=parameter.required and having == versions,
                values=parameter.values,
                since=having[0] if having[0] != versions[0] else None,
                until=having[-1] if having[-1] != versions[-1] else None,
            )
    return found


def _our_name(theirs: str, taken: Mapping[str, Any]) -> str:
    """GitLab's own name; another where that means something else in every call."""
    name = theirs.replace(".", "_").replace("-", "_")
    if name == "action":
        return "event_action"
    return f"{name}_value" if hasattr(RouteAction, name) or name in taken else name


def _recovery(row: Row) -> RecoveryLookup | None:
    if row.look is None:
        return None
    tool, action, *fields = row.look.split()
    then = "If it did, nobody has the secret: take back what was made, and make another." if row.once else ""
    return RecoveryLookup(
        f"{tool} {action}", " ".join(fields), because="nothing in GitLab says who made it, or when", then=then
    )


def _example(fields: Mapping[str, Shape], rules: Sequence[tuple[str, ...]]) -> dict[str, Any]:
    """A call with all that is required, and what the rules demand."""
    wanted = [name for name, shape in fields.items() if shape.required]
    for kind, *names in rules:
        one_is_needed = kind in ("at_least_one_of", "exactly_one_of") and not set(names) & set(wanted)
        if one_is_needed:
            wanted.append(names[0] if names else list(fields)[-1])
    return {name: _sample(name, fields[name]) for name in wanted}


def _sample(name: str, shape: Shape) -> Any:
    if shape.values:
        return int(shape.values[0]) if shape.type == "integer" else shape.values[0]
    if name in _PLACES and shape.type == "string":
        return _PLACES[name]
    if shape.expects.startswith("a date"):
        return "2026-01-31"
    if shape.expects.startswith("a time"):
        return "2026-01-31T12:00:00Z"
    match shape.type:
        case "integer" | "number":
            return 1
        case "boolean":
            return True
        case "array":
            return [_sample(name, shape.items)] if shape.items else []
        case "object":
            if "filename" in dict(shape.members):
                return {"filename": "example.txt", "content": "text"}
            required = {inner: each for inner, each in shape.members if inner in shape.required_members}
            return {inner: _sample(inner, each) for inner, each in required.items()}
    return _NAMED.get(name, "1" if name.endswith("_id") else name)


_PLACES: Final = {"project_id": "acme/website", "group_id": "acme"}
_NAMED: Final[Mapping[str, str]] = {
    "discussion_id": "6a9c1750b37d513a43987b574953fceb50b03ce7",
    "url": "https://example.com",
    "link_url": "https://example.com",
    "image_url": "https://example.com/badge.svg",
}

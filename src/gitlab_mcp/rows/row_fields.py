"""The type of a row's field, from what GitLab's own list of parameters says of it, and what the field can reach.

Where our tools have a type for a name it is that one: a project by its path, a person by the username. What a name does
not tell is left undeclared, and refused where the operator limits places.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, get_args

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, create_model

from gitlab_mcp.actions.fields import (
    BIGGEST_ID,
    Anywhere,
    ChangedVisibility,
    Date,
    DiscussionId,
    Expects,
    Flag,
    FromJson,
    GroupId,
    Id,
    Integer,
    IssueIid,
    Listed,
    MergeRequestIid,
    Names,
    NamesPlace,
    Needs,
    NewVisibility,
    NoLongerConfidential,
    NonEmpty,
    Numbered,
    Only,
    OtherGroup,
    Page,
    PathOrId,
    People,
    PerPage,
    ProjectId,
    ProjectNumber,
    ReachesNothing,
    SentAs,
    Time,
    UserId,
    Visibility,
    Within,
)
from gitlab_mcp.actions.quick_actions import CommentText, DescriptionText, as_text
from gitlab_mcp.actions.sent_files import FileField

_LONGEST: Final = 1024
_DEEPEST: Final = 4


@dataclass(frozen=True, slots=True)
class Told:
    """One parameter of an endpoint, over all versions of GitLab that were read."""

    type: str
    required: bool = False
    values: tuple[str, ...] = ()
    since: str | None = None
    until: str | None = None
    needs: str | None = None
    """The feature of tier_features.yaml that it alone needs."""


def _text_of(value: Any) -> Any:
    """For what takes anything: numbers and true or false are written as GitLab reads them."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value


AnyText = Annotated[str, BeforeValidator(_text_of), Expects("text, a number, or true or false")]
Segment = Annotated[NonEmpty, Field(max_length=_LONGEST)]
"""A name in a path."""
AnyInteger = Annotated[Integer, Field(ge=-BIGGEST_ID, le=BIGGEST_ID)]
Objects = Annotated[list[dict[str, Any]], FromJson, Expects("an array of objects")]
AnyObject = Annotated[dict[str, Any], FromJson, Expects("an object")]

_OURS: Final[Mapping[str, Any]] = {
    "project_id": ProjectId,
    "group_id": GroupId,
    "user_id": UserId,
    "issue_iid": IssueIid,
    "merge_request_iid": MergeRequestIid,
    "discussion_id": DiscussionId,
    "page": Page,
    "per_page": PerPage,
}
"""Fields that mean what they mean in our tools, wherever GitLab takes the same there."""

_NUMBERS: Final = ("integer", "string|integer", "array of integer")
_BY_NAME: Final[Mapping[str, Any]] = {
    "user_id": UserId,
    "user_ids": People,
    "assignee_ids": People,
    "group_id": OtherGroup,
    "project_id": ProjectNumber,
}
"""Outside of the path: GitLab wants numbers there, and names are looked up as in our tools."""

_PLAIN: Final[Mapping[str, Any]] = {
    "string": str,
    "color": str,
    "integer": AnyInteger,
    "boolean": Flag,
    "number": float,
    "bigdecimal": float,
    "datetime": Time,
    "time": Time,
    "date": Date,
    "string|integer": PathOrId,
    "any": AnyText,
    "file": FileField,
    "file|string": FileField,
    "json": AnyObject,
    "object": AnyObject,
    "object|array": AnyObject,
}
_NOTEABLE: Final = re.compile(r"/(?:notes|discussions)(?:/|$)")

_REACH: Final[tuple[tuple[str, Any], ...]] = (
    # What is not in this GitLab, or is the same whatever the place is.
    (r"wildcard_id$|google|gcp_|workload_identity|app_store|access_key_id$|jira_|project_(?:key|keys|url|name)$",
     ReachesNothing()),
    (r"_limit$|\b(?:color_scheme|theme|bundle|client_subscription|run|experiment|purchase_x)_?ids?$|repo_id$",
     ReachesNothing()),
    (r"platform_kubernetes_attributes\.namespace|saml_group_name|group_access|process_mode$|server_project$",
     ReachesNothing()),
    (r"\b(?:\w+_)?(?:user|assignee|member_role|work_item_type|status|custom_field|selected_option|organization"
     r"|contact|crm_contact)_ids?$|\bstatus\.id$", ReachesNothing()),
    (r"destination_namespace|\b(?:target_|new_|root_|csp_)?namespace(?:_id|_ids|_path)?$", NamesPlace("namespace")),
    (r"target_namespace_id$|namespace_ids$", NamesPlace("namespace")),
    (r"\b(?:\w+_)?project(?:_id|_ids|_path|_full_path)?$|projects_to_exclude$", NamesPlace("project")),
    (r"\b(?:\w+_)?groups?(?:_id|_ids|_path)?$|group_id_for_saml$|group_with_project_templates_id$",
     NamesPlace("group")),
    (r"\b(?:\w+_)?(?:label|milestone|iteration|iteration_cadence|todo)_ids?$", Within()),
    (r"\b(?:protected_branch_ids|finding_id|move_(?:after|before)_id|iids)$", Within()),
    (r"\b(?:parent|child|work_items)_ids?$|\bids$", Anywhere("work item")),
    (r"\b(?:connection|agent_identity|ai_catalog_item_\w+|issue|merge_request|\w*topic|registry|upstream|resource|client|caller"
     r"|root_caller|bulk_import_entity|kubernetes_agent|job|pipeline)_id$",
     Anywhere("thing")),
    (r"\b(?:custom_attributes|variables|inputs|metadata|context|optional_stages|parameters)$", ReachesNothing()),
)  # fmt: skip
"""What a field can reach, by its name, with the names of the objects around it. The first that fits decides."""
_IN_ITS_PLACE: Final = re.compile(r"/(?:projects|groups|namespaces)/\{\w+\}/")
_ABOUT_A_PLACE: Final = re.compile(
    r"^/(?:import|projects/(?:import|remote-import)|markdown|code_suggestions|analytics|orbit/graph_status"
    r"|ai/duo_workflows/(?:workflows|direct_access)$|discover-cert-based-clusters)"
)
"""Paths without a place whose fields name it."""
_FOUND_AT: Final[Mapping[str, str]] = {"vulnerability": "/vulnerabilities/{id}"}
_ANYWHERE_IN_A_PATH: Final = frozenset({"child_id"})
"""Numbers of the whole instance, although a place stands before them."""


def path_field(name: str, path: str, told: Told | None) -> Any:
    """The type of a name in the path."""
    if name in _OURS:
        return _OURS[name]
    if name.endswith("project_id"):
        return ProjectId
    if name.endswith("group_id"):
        return GroupId
    if name.endswith("namespace_id"):
        return Annotated[PathOrId, NamesPlace("namespace")]
    kind = told.type if told else "string"
    if told and told.values:
        return _choice(told.values, "string")
    is_number = kind == "integer" or name.endswith(("_iid", "note_id", "event_id"))
    typed = Id if is_number else Segment
    place = _IN_ITS_PLACE.search(path)
    is_inside = place is not None and place.end() <= path.index(f"{{{name}}}")
    if is_inside and name not in _ANYWHERE_IN_A_PATH:
        return Annotated[typed, Within()]
    if not name.endswith(("_id", "_iid", "_identifier")):
        return typed
    what = re.sub(r"_(?:id|iid|identifier)$", "", name).replace("_", " ")
    return Annotated[typed, Anywhere(what, found_at=_FOUND_AT.get(what))]


def field(name: str, told: Told, *, endpoint: str, path: str, members: Mapping[str, Told]) -> Any:
    """The type of a field outside of the path. `members`: the parameters inside of it, by GitLab's names."""
    kind = told.type
    if name in ("page", "per_page"):
        return _OURS[name]
    if kind in _NUMBERS and name in _BY_NAME:
        return _beside(_BY_NAME[name], path)
    if _NOTEABLE.search(path) and name in ("body", "note") and kind == "string":
        return CommentText
    if path.endswith(("/epics", "/work_items")) and name == "description":
        return DescriptionText
    changes = endpoint.startswith(("PUT ", "PATCH "))
    if (
        name == "visibility"
        and set(told.values) <= set(get_args(Visibility))
        and not endpoint.startswith("GET ")
    ):
        return ChangedVisibility if changes else NewVisibility
    if name == "confidential" and changes:
        return NoLongerConfidential
    typed = _typed(name, kind, told.values, members)
    reach = _reach(name)
    return _beside(Annotated[typed, reach], path) if reach is not None else typed


def _beside(typed: Any, path: str) -> Any:
    """A place outside of the path is what the call is about only where it is made there; else it is one more place."""
    marks = get_args(typed)[1:]
    place = next((mark for mark in marks if isinstance(mark, NamesPlace)), None)
    of_group = any(isinstance(mark, Names) and mark.kind == "group" for mark in marks)
    if not (place or of_group) or _IN_ITS_PLACE.search(f"{path}/") or _ABOUT_A_PLACE.search(path):
        return typed
    return Annotated[typed, _one_more(place or NamesPlace("group"))]


def _one_more(reach: Any) -> Any:
    """A place that is judged, and is not the one that the call is about."""
    return NamesPlace(reach.kind, inside="(.+)") if isinstance(reach, NamesPlace) else reach


def with_marks(typed: Any, told: Told, sent_as: str | None) -> Any:
    """The type with what is known of the field beside it."""
    marks: list[Any] = [SentAs(sent_as)] if sent_as else []
    if told.since or told.until:
        marks.append(Only(since=told.since, until=told.until))
    if told.needs:
        marks.append(Needs(told.needs))
    return Annotated[typed, *marks] if marks else typed


def _reach(name: str) -> Any:
    return next((reach for pattern, reach in _REACH if re.search(pattern, name)), None)


def _typed(name: str, kind: str, values: tuple[str, ...], members: Mapping[str, Told]) -> Any:
    of_list = _of_list(kind)
    if members and (kind in ("object", "json", "any") or of_list == "object"):
        model: Any = _object(name, members)
        if of_list == "object":
            return Annotated[list[model], FromJson, Expects("an array of objects")]
        return Annotated[model, FromJson, Expects("an object")]
    if of_list == "object":
        return Objects
    if of_list is not None:
        item: Any = _choice(values, of_list) if values else _PLAIN.get(of_list, NonEmpty)
        item = NonEmpty if item is str else item
        return Annotated[
            list[item], Listed, Expects(f"an array of {'numbers' if of_list == 'integer' else 'strings'}")
        ]
    if values:
        return _choice(values, kind)
    return _PLAIN.get(kind, AnyText)


def _of_list(kind: str) -> str | None:
    """What a list holds; None for what is none. Where GitLab takes one or several, several are taken."""
    if "array of " in kind:
        return kind.partition("array of ")[2].split("|")[0].split(",")[0].strip()
    return "string" if kind == "array" or kind.startswith(("array|", "string|array")) else None


def _choice(values: Iterable[str], kind: str) -> Any:
    values = tuple(values)
    if "integer" in kind and all(re.fullmatch(r"-?\d+", value) for value in values):
        return Annotated[Literal[tuple(map(int, values))], Numbered]
    return Annotated[Literal[values], BeforeValidator(_text_of)]


def _object(name: str, members: Mapping[str, Told], depth: int = 0) -> type[BaseModel]:
    """The model of an object inside of the arguments. `members` by GitLab's names: `token`, `rules[id]`."""
    fields: dict[str, Any] = {}
    for member, told in members.items():
        if "[" in member:
            continue
        inside = members_of(member, members)
        if (
            depth < _DEEPEST
            and inside
            and (told.type in ("object", "json") or _of_list(told.type) == "object")
        ):
            model: Any = _object(f"{name}.{member}", inside, depth + 1)
            several = _of_list(told.type) == "object"
            typed: Any = Annotated[list[model], FromJson] if several else Annotated[model, FromJson]
        else:
            typed = _typed(f"{name}.{member}", told.type, told.values, {})
            if told.type == "string" and member in ("description", "body"):
                # GitLab carries out commands in it, and nobody can say here that they are wanted.
                typed = Annotated[str, AfterValidator(as_text)]
            reach = _one_more(_reach(f"{name}.{member}"))
            typed = Annotated[typed, reach] if reach is not None else typed
        fields[member] = (typed, ...) if told.required else (typed | None, None)
    return create_model(
        "".join(word.capitalize() for word in re.split(r"\W|_", name)),
        __config__=ConfigDict(
            extra="forbid",
            frozen=True,
            coerce_numbers_to_str=True,
            hide_input_in_errors=True,
            regex_engine="python-re",
            protected_namespaces=(),
        ),
        **fields,
    )


def members_of(name: str, parameters: Mapping[str, Told]) -> dict[str, Told]:
    """The parameters inside of one, by their names in it: of `rules[id]` and `rules`, `id`."""
    found = {}
    for each, told in parameters.items():
        if each.startswith(f"{name}["):
            first, _, rest = each.removeprefix(f"{name}[").partition("]")
            found[f"{first}{rest}"] = told
    return found

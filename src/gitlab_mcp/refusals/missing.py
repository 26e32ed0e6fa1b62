"""Which thing is missing, by the name of the caller's field for it.

GitLab's word for a record (`404 Commit Not Found`), a value that its sentence repeats, and the path of the endpoint
say which fields can be meant. Where two are left, one question to GitLab tells them apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final
from urllib.parse import unquote

from gitlab_mcp.actions.action import Action, fill
from gitlab_mcp.actions.ask import Ask
from gitlab_mcp.failures import allowed_words
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import Failure
from gitlab_mcp.refusals.case import Case
from gitlab_mcp.refusals.findings import LOOK_IT_UP, SOMETHING, Confidence, Finding

_REFS: Final = ("ref", "ref_name", "refs", "from_ref", "to_ref", "from", "to")
_FIELDS_OF_RECORD: Final[Mapping[str, tuple[str, ...]]] = {
    "ref": (*_REFS, "branch", "sha"),
    "reference": (*_REFS, "branch", "sha"),
    "commit": (*_REFS, "sha", "commits", "commit_id"),
    "tree": ("ref", "path"),
    "branch": ("branch", "ref", "default_branch", "source_branch", "target_branch"),
    "file": ("file_path", "path", "actions", "artifact_path"),
    "blob": ("sha",),
    "tag": ("tag_name",),
    "user": ("user_id", "username", "id"),
    "label": ("label_id", "name"),
    "variable": ("key",),
    "url variable": ("key",),
    "wiki page": ("slug", "version"),
    "integration": ("slug",),
    "project": ("to_project_id", "target_project_id", "from_project_id", "start_project"),
    "group": ("group_id", "parent_id", "group_access_id"),
    "namespace": ("namespace", "namespace_id", "namespace_path"),
}
_OTHER_REFERENCES: Final = ("token",)
NOT_READABLE_ALONE: Final = ("package_name", "ref_name", "repository_id", "user_id")
"""First fields of a path for which GitLab has no endpoint that reads just that object."""
_SHORTEST_VALUE: Final = 2
_WORDS: Final = re.compile(r"[a-z]+")


_PROJECT: Final = re.compile(r"^/projects/(?P<id>[^/]+)(?P<below>/.*)?$")
_ARTIFACTS_BY_REF: Final = re.compile(r"^/projects/[^/]+/jobs/artifacts/")
_MEMBER: Final = re.compile(r"^/projects/[^/]+/members(?P<all>/all)?/\d+$")
_ARTIFACTS: Final = re.compile(r"^(?P<job>/projects/[^/]+/jobs/\d+)/artifacts(?:/|$)")


async def name_missing(finding: Finding, case: Case, ask: Ask) -> Finding:
    """The same finding of NOT_FOUND, with `missing` and what to do about it."""
    if "missing" in finding.facts:
        return finding
    name = case.body.missing_name
    if found := await _known_absence(case, ask):
        return replace(found, also=finding.also)
    if thing := finding.facts.get("state"):
        # The endpoint is known to mean this; none of the fields of its path.
        missing = ", ".join(references(case)) or thing
    else:
        missing = ", ".join(await missing_fields(case, ask, name)) or allowed_words.record(name)
    if not missing:
        return finding
    facts = {key: value for key, value in finding.facts.items() if key != "state"}
    fix = f"Check {missing}; look it up with a list action." if finding.fix == LOOK_IT_UP else finding.fix
    if _ARTIFACTS_BY_REF.match(case.refused.request.path):
        fix = (
            "By ref only its newest pipeline that succeeded counts, and of that the job named job: check ref_name and "
            "job, or take job_id from browse_jobs list."
        )
    return replace(
        finding,
        message=_naming_the_kind(finding.message, missing),
        facts={**facts, "missing": missing},
        fix=fix,
    )


def _naming_the_kind(message: str, field: str) -> str:
    """The sentence with `file` for `object`, where the field says that it is one."""
    kind = allowed_words.record(re.sub(r"_(?:id|iid|path|name)$", "", field).replace("_", " "))
    return message.replace(f"no such {SOMETHING},", f"no such {kind},") if kind else message


async def _known_absence(case: Case, ask: Ask) -> Finding | None:
    """What is not there as a whole: the project, any commit, the archive of a job."""
    path = case.refused.request.path
    place = _PROJECT.match(path)
    if place is None or case.refused.status != 404 or not place["below"]:
        return None
    project = await ask.project(unquote(place["id"]))
    if project is None and await ask.exists(f"/projects/{place['id']}") is False:
        return missing_place("project", "project_id")
    if project and (member := _MEMBER.match(path)) and not case.body.missing_name:
        return _no_member(directly=member["all"] is None)
    if project and project.get("empty_repo") and place["below"].startswith("/repository/"):
        return Finding(
            Code.NOT_FOUND,
            Confidence.CERTAIN,
            "The repository is empty: it has no commits, and so no branches, tags or files.",
            ("the project says empty_repo",),
            "Make the first commit: manage_file create.",
            {"missing": "repository"},
        )
    if case.body.missing_name == "Signature":
        return Finding(
            Code.NOT_FOUND,
            Confidence.CERTAIN,
            "It is there, and it is not signed.",
            ("GitLab names the signature as what is missing",),
            "Nothing is to be done: there is no signature to read.",
            {"missing": "signature"},
        )
    if job := _ARTIFACTS.match(path):
        found = await ask.look(job["job"])
        if isinstance(found, Mapping) and not found.get("artifacts_file"):
            return Finding(
                Code.NOT_FOUND,
                Confidence.CERTAIN,
                "The job is there, but it has no archive of artifacts: it made none, or they expired or were deleted.",
                ("the job shows no artifacts_file",),
                "Read the job with browse_jobs get: its artifacts lists what it left; its log is browse_jobs log.",
                {"missing": "artifacts"},
            )
    return None


def _no_member(*, directly: bool) -> Finding:
    return Finding(
        Code.NOT_FOUND,
        Confidence.LIKELY,
        f"The person is no {'direct ' if directly else ''}member here.",
        ("the project can be read, and GitLab finds no such member of it",),
        "browse_members list shows who has a role here and from where; manage_member add makes somebody a member.",
        {"missing": "user_id"},
    )


def missing_place(kind: str, field: str) -> Finding:
    """A project, group or namespace that is not there or not shown."""
    such_as = ", such as acme/website," if kind == "project" else ""
    return Finding(
        Code.NOT_FOUND,
        Confidence.LIKELY,
        f"There is no such {kind}, or this user may not see it.",
        (f"GitLab does not find the {kind}",),
        f"Check {field}: give the full path{such_as} or the number; check who the token belongs to.",
        {"missing": field},
        (Code.PERMISSION_DENIED,),
    )


async def missing_place_field(case: Case, ask: Ask, kind: str) -> str:
    """The field that names the project, group or namespace: the one in the path, unless that can be read."""
    others = [name for name in _FIELDS_OF_RECORD[kind] if name in case.given]
    in_path = case.action.endpoint().placeholders if case.action else ()
    own = f"{kind}_id"
    if own not in in_path and in_path and not others:
        return in_path[0]
    if not others or (own in in_path and others == [own]):
        return own
    place = _PROJECT.match(case.refused.request.path) if kind == "project" else None
    if place and await ask.exists(f"/projects/{place['id']}") is not True:
        return own
    return ", ".join(others)


async def missing_fields(case: Case, ask: Ask, name: str | None = None) -> tuple[str, ...]:
    """The fields that can be meant, one where it is certain. `name` is GitLab's word for the record."""
    if repeated := _last_field_repeated(case):
        return (repeated,)
    found = _fields_of_records(case, name)
    if len(found) > 1 and found[0] in _REFS and (narrowed := await _narrowed_by_ref(case, ask, found)):
        return narrowed
    if found:
        return found
    in_path = case.path_fields
    if in_path and case.refused.body() is None:
        # What serves files answers without JSON; it was asked only because everything above the file is there.
        return in_path[-1:]
    if len(in_path) > 1 and (narrowed := await _narrowed_by_parent(case, ask)):
        return narrowed
    if in_path and in_path[0] == "ref_name" and "job" in case.given:
        return await _narrowed_by_ref(case, ask, (*in_path, "job")) or (*in_path, "job")
    return in_path or references(case)


def references(case: Case) -> tuple[str, ...]:
    """The given fields below the path that name another object."""
    in_path = case.action.endpoint().placeholders if case.action else ()
    return tuple(
        name
        for name in case.given
        if name not in in_path and (name.endswith(("_id", "_iid", "_ids")) or name in _OTHER_REFERENCES)
    )


def _last_field_repeated(case: Case) -> str | None:
    """The field whose value GitLab's sentence repeats last: `Failed to create 'new': invalid name 'nosuch'`."""
    found: dict[int, str] = {}
    for name, value in case.given.items():
        if name in ("project_id", "group_id"):
            continue
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, str) and _SHORTEST_VALUE <= len(each) <= len(case.body.message):
                found |= {match.start(): name for match in _as_repeated(each).finditer(case.body.message)}
    return found[max(found)] if found else None


def _as_repeated(text: str) -> re.Pattern[str]:
    # A value such as `branch` stands in sentences of its own accord. Repeated it is quoted or follows a colon.
    value = re.escape(text)
    return re.compile(rf"'{value}'|\"{value}\"|: {value}(?:$|[.\s])|^Target {value} ")


def _fields_of_records(case: Case, name: str | None) -> tuple[str, ...]:
    record = allowed_words.record(name)
    records = [record] if record else list(_records_said(case))
    for each in records:
        own = each.replace(" ", "_")
        names = (*_FIELDS_OF_RECORD.get(each, ()), f"{own}_id", f"{own}_iid", f"{own}_name")
        found = tuple(dict.fromkeys(given for given in names if given in case.given))
        if found:
            return found
    return ()


def _records_said(case: Case) -> Iterator[str]:
    """The records that GitLab's sentences speak of, in their order."""
    for sentence in case.body.sentences:
        if "on a branch" in sentence:
            # `You can only create or edit files when you are on a branch`: the file is not what is missing.
            yield "branch"
        for word in _WORDS.findall(sentence.lower()):
            record = allowed_words.record(word) or allowed_words.record(word.removesuffix("s"))
            if record:
                yield record


async def _narrowed_by_ref(case: Case, ask: Ask, found: tuple[str, ...]) -> tuple[str, ...]:
    """Asks whether the project has what the first field names."""
    project, value = case.given.get("project_id"), case.given.get(found[0])
    if not project or not isinstance(value, str):
        return ()
    has = await ask.has_commit(str(project), value)
    return () if has is None else (found[1:] if has else found[:1])


async def _narrowed_by_parent(case: Case, ask: Ask) -> tuple[str, ...]:
    """Asks whether the object that the first field of the path names is there."""
    path, first = _path_of_first(case)
    there = await ask.exists(path) if path else None
    return () if there is None else (case.path_fields[1:] if there else (first,))


def _path_of_first(case: Case) -> tuple[str, str]:
    first = case.path_fields[0]
    if case.action is None or first in NOT_READABLE_ALONE:
        return "", ""
    template, _, rest = case.action.endpoint().path.partition("{" + first + "}")
    places = {name: case.given.get(name) for name in ("project_id", "group_id", first)}
    return (fill(template + "{" + first + "}", **places), first) if rest.startswith("/") else ("", "")


async def name_the_group(failure: Failure, action: Action | None, ask: Ask) -> Failure:
    """The failure, saying that project_id names a group where it does."""
    path = getattr(action, "project_id", None)
    is_about_it = failure.code == Code.NOT_FOUND and failure.facts.get("missing") == "project_id"
    if action is None or not is_about_it or not isinstance(path, str) or path.isdecimal():
        return failure
    if await ask.group(path) is None:
        return failure
    known = Failure(failure.code, "project_id names a group, not a project.", failure.facts).knowing(
        confidence=Confidence.CERTAIN, evidence=["a group of this path can be read"], also=[]
    )
    if "group_id" in type(action).model_fields:
        return known.knowing(
            suggested_fix="Send the path as group_id in place of project_id.",
            did_you_mean={"project_id": "group_id"},
        )
    return known.knowing(
        suggested_fix="Give a project of the group: browse_projects list with group_id names them.",
        send={"tool": "browse_projects", "arguments": {"action": "list", "group_id": path}},
    )

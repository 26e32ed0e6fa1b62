"""What a 404 means: which part of the path is missing, or what hides it.

GitLab has four kinds:

- `404 X Not Found` says what is missing: the project, the ref, the branch, the file.
- `404 Not found`, small f: a record is missing below a project or group that can be read.
- `404 Not Found`, capital F: refused without a reason. A licence, a switch or a state can be behind it.
- `{"error": "404 Not Found"}`: this GitLab has no such route.
"""

from __future__ import annotations

from typing import Final

from gitlab_mcp.actions.ask import Ask
from gitlab_mcp.api.versions import is_in
from gitlab_mcp.failures import allowed_words
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.refusals import causes
from gitlab_mcp.refusals.case import Case, with_context
from gitlab_mcp.refusals.findings import LOOK_IT_UP, SOMETHING, Confidence, Finding
from gitlab_mcp.refusals.known_sentences import recognise
from gitlab_mcp.refusals.missing import missing_place, missing_place_field
from gitlab_mcp.refusals.sentence_findings import as_sentence_says, rejected

_PROJECTS_AND_GROUPS: Final = ("Project", "Group", "Namespace")


async def not_found(case: Case, ask: Ask) -> Finding:
    name = case.body.missing_name
    if name in _PROJECTS_AND_GROUPS:
        kind = name.lower()
        return missing_place(kind, await missing_place_field(case, ask, kind))
    if name and (sentence := recognise((name,))):
        # A validation error in the place of the name: `404 Award Emoji Name has already been taken Not Found`.
        if sentence.code == Code.REJECTED:
            return rejected(case, sentence)
        said = as_sentence_says(case, sentence)
        if sentence.or_tier and case.requirements:
            case = await with_context(case, ask)
            return causes.most_likely(case, (causes.tier_too_low,), said)
        return said
    case = await with_context(case, ask, who=case.body.is_unexplained_404 or bool(case.requirements))
    if case.body.no_such_route:
        return causes.most_likely(case, causes.CAUSES_OF_404_ROUTE, _missing_route(case))
    if case.body.is_unexplained_404:
        return causes.most_likely(case, causes.CAUSES_OF_404_UNEXPLAINED, missing_record(case, None))
    return causes.most_likely(case, causes.CAUSES_OF_404_RECORD, missing_record(case, name))


def missing_record(case: Case, name: str | None) -> Finding:
    """A record below the project or group: a ref, a branch, an issue. `name` is GitLab's word for it."""
    record = allowed_words.record(name)
    return Finding(
        Code.NOT_FOUND,
        Confidence.POSSIBLE if case.body.is_unexplained_404 else Confidence.LIKELY,
        f"There is no such {record or SOMETHING}, or this user may not see it.",
        ("the project can be read, so what is missing lies below it",) if case.project else (),
        LOOK_IT_UP,
        {},
        (Code.FEATURE_UNAVAILABLE,) if case.body.is_unexplained_404 else (),
    )


def _missing_route(case: Case) -> Finding:
    version = case.instance.version
    since, until = (case.action.spec.since, case.action.spec.until) if case.action else (None, None)
    there = is_in(version, since, until) if version else True
    if there is not True:
        has = f"since {since}" if since else f"up to {until}"
        return Finding(
            Code.FEATURE_UNAVAILABLE,
            Confidence.LIKELY if there is False else Confidence.POSSIBLE,
            f"This version of GitLab does not have it: GitLab {has} is known to.",
            (f"this GitLab is {version}",),
            "Do it another way: no other arguments help on this version.",
            {"version": version, "since": since, "until": until},
        )
    return Finding(
        Code.NOT_FOUND,
        Confidence.POSSIBLE,
        "This GitLab has no such address: an identifier is malformed, or this version does not have it.",
        (f"this GitLab is {version}",) if version else (),
        "Check the identifiers; a newer GitLab may be needed.",
        {"version": version, "edition": case.instance.edition},
        (Code.FEATURE_UNAVAILABLE,),
    )

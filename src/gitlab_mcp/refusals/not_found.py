"""Refusals that are about what is not there, or not to be seen."""

from __future__ import annotations

from typing import Final

from gitlab_mcp.failures import allowed_words as words
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.refusals.case import Case
from gitlab_mcp.refusals.findings import Finding, Proof

PLACES: Final = ("Project", "Group", "Namespace")


def missing_place(case: Case, thing: str) -> Finding:
    field = f"{thing.lower()}_id"
    return Finding(
        Code.NOT_FOUND,
        Proof.LIKELY,
        f"There is no such {thing.lower()}, or this user may not see it.",
        (f"GitLab does not find the {thing.lower()}",),
        f"Check {field}: give the full path, such as acme/website, or the number; check who the token belongs to."
        if thing == "Project"
        else f"Check {field}: give the full path or the number; check who the token belongs to.",
        {"missing": field},
        (Code.PERMISSION_DENIED,),
    )


def missing_record(case: Case, thing: str | None) -> Finding:
    name = words.thing(thing)
    missing = ", ".join(case.placeholders) or name
    return Finding(
        Code.NOT_FOUND,
        Proof.LIKELY if case.said.bare != "404 Not Found" else Proof.POSSIBLE,
        f"There is no such {name or 'object'}, or this user may not see it.",
        ("the project can be read, so what is missing lies below it",) if case.project else (),
        f"Check {missing}; look it up with a list action." if missing else "Look it up with a list action.",
        {"missing": missing} if missing else {},
        (Code.FEATURE_UNAVAILABLE,) if case.said.bare == "404 Not Found" else (),
    )


def no_route(case: Case) -> Finding:
    version = case.instance.version
    return Finding(
        Code.NOT_FOUND,
        Proof.POSSIBLE,
        "This GitLab has no such address: an identifier is malformed, or this version does not have it.",
        (f"this GitLab is {version}",) if version else (),
        "Check the identifiers; a newer GitLab may be needed.",
        {"version": version, "edition": case.instance.edition},
        (Code.FEATURE_UNAVAILABLE,),
    )

"""Refusals of a fine-grained token: it has single permissions for single projects, groups, its user or the instance.

GitLab's sentence names the permission that is missing and where: `... with the following project permissions:
[Work Item: Read].` It says the same where the token has the permission for another place, and where its user is no
member of the place.
"""

from __future__ import annotations

import re
from typing import Final

from gitlab_mcp.actions.token_needs import known_permissions
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.refusals.case import Case
from gitlab_mcp.refusals.findings import Confidence, Finding

LACKS_PERMISSION: Final = "insufficient_granular_scope"
WHERE_TO_MAKE_ONE: Final = (
    "Edit profile > Access > Personal access tokens > Generate token > Fine-grained token"
)

_NEEDED: Final = re.compile(r"\b(project|group|user|instance) permissions: \[([^\[\]]{1,200})\]")
_HERE: Final = {
    "project": "for this project",
    "group": "for this group",
    "user": "for its user",
    "instance": "for the instance",
}
_MEMBERS_ONLY: Final = ("project", "group")


def permission_missing(case: Case) -> Finding:
    """GitLab says which permission it lacks. Nothing more has to be asked."""
    said = _NEEDED.search(" ".join(case.body.sentences))
    declared = case.token_needs
    titles = known_permissions(said[2].split(",")) if said else ()
    titles = titles or (declared.permissions if declared else ())
    boundaries = (said[1],) if said else declared.boundaries if declared else ()
    if declared and declared.no_fine_grained:
        return _takes_none(declared.no_fine_grained)
    named = " and ".join(titles) or "a permission, which gitlab_message names"
    here = f" {' or '.join(_HERE[each] for each in boundaries)}" if boundaries else ""
    member = (
        " Where it has that already, its user is no member there." if {*boundaries} & {*_MEMBERS_ONLY} else ""
    )
    return Finding(
        Code.SCOPE_INSUFFICIENT,
        Confidence.CERTAIN,
        f"The token is fine-grained and lacks {named}{here}.",
        ("GitLab says which permission the token lacks",),
        f"Make a fine-grained token that also has {' and '.join(titles) or 'it'}{here}: {WHERE_TO_MAKE_ONE}.{member}",
        {
            **({"permission_required": list(titles)} if titles else {}),
            **({"permission_boundary": " or ".join(boundaries)} if boundaries else {}),
        },
    )


def _takes_none(why: str) -> Finding:
    return Finding(
        Code.SCOPE_INSUFFICIENT,
        Confidence.CERTAIN,
        f"No fine-grained token opens this. {why}",
        ("the token is fine-grained",),
        "Use a token with the scope api for this.",
        {"scope_required": "api"},
    )


def hidden_from_fine_grained(case: Case) -> Finding | None:
    """GraphQL answers null in place of what a fine-grained token has no permission for, and does not say which."""
    if case.token is None or not case.token.fine_grained:
        return None
    return Finding(
        Code.SCOPE_INSUFFICIENT,
        Confidence.LIKELY,
        "The token is fine-grained, and GraphQL shows nothing of what it has no permission for.",
        ("the token is fine-grained", "GitLab answered with nothing, and without a reason"),
        "Check that the token may read this, or use a token with the scope read_api.",
        {},
        (Code.NOT_FOUND,),
    )

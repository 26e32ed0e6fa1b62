"""The sentences of GitLab that name a cause, and the cause each names. The first row that matches wins.

Rows hold for every status: GitLab uses the same words under many.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from gitlab_mcp.failures.codes import Code
from gitlab_mcp.refusals.findings import LOOK_IT_UP


@dataclass(frozen=True, slots=True)
class KnownSentence:
    code: Code
    pattern: re.Pattern[str]
    message: str
    fix: str = ""
    facts: Mapping[str, str] = field(default_factory=dict)
    or_tier: bool = False
    """Whether GitLab says the same where the tier is too low."""


def _row(
    code: Code, pattern: str, message: str, fix: str = "", *, or_tier: bool = False, **facts: str
) -> KnownSentence:
    return KnownSentence(code, re.compile(pattern, re.IGNORECASE), message, fix, facts, or_tier)


_SWITCH_IT_ON: Final = (
    "Ask somebody who may change the settings of the project, group or instance to switch it on."
)

KNOWN_SENTENCES: Final = (
    # Who calls.
    _row(
        Code.AUTHENTICATION_FAILED,
        r"your account has been|(account|user) is (blocked|banned|deactivated)|api not accessible for user"
        r"|pending approval from your|confirm your email|password (has )?expired|accept the terms",
        "GitLab does not let this token's user in: the account is blocked, deactivated or not confirmed.",
        "An administrator of GitLab, or the user in a browser, has to make the account active again.",
        token_problem="blocked",
    ),
    _row(
        Code.AUTHENTICATION_FAILED,
        r"invalid token|token (is|was) (expired|revoked)|impersonation was disabled",
        "GitLab does not accept this token.",
        "Create a new token in GitLab and give it to the server.",
        token_problem="unknown",
    ),
    # A merge in a group that wants to know which commit is meant, asked before anything else.
    _row(
        Code.REJECTED,
        r"^sha must be provided when merging",
        "GitLab needs the commit to merge.",
        "Send sha, the last commit of the source branch: browse_merge_requests get shows it.",
    ),
    # What the licence lacks.
    _row(
        Code.TIER_RESTRICTED,
        r"not (available|supported) (for|with|by|under) (your |the )?(current )?(license|subscription)"
        r"|licen[sc]ed? (feature|required)|does not support .* licen[sc]e|your license does not support"
        r"|upgrade to a paid tier|requires (premium|ultimate)|not licensed for|milestone does not support burndown"
        r"|scope not supported without elasticsearch|supported only with advanced search"
        r"|access levels (user|group) must be blank|(group )?saml not enabled",
        "This needs a higher tier of GitLab.",
        "Ask for an upgrade, or do without it.",
        upgrade_url="https://about.gitlab.com/pricing/",
    ),
    # What belongs elsewhere.
    _row(
        Code.FEATURE_UNAVAILABLE,
        r"group-level custom roles are deprecated on self-managed",
        "On a GitLab of one's own custom roles belong to the instance, not to groups.",
        "Leave group_id out; for the roles of the instance it takes an administrator.",
    ),
    # What is switched off.
    _row(
        Code.FEATURE_UNAVAILABLE,
        r"(deprecated|no longer supported) on self-managed",
        "This exists on GitLab.com only: self-managed instances have it no longer.",
        "Use what the instance has in its place, for all groups at once.",
    ),
    _row(
        Code.FEATURE_UNAVAILABLE,
        r"\b(is|are|was|been) (disabled|turned off|switched off)\b"
        r"|has been disabled|no longer supported on",
        "This is switched off here.",
        _SWITCH_IT_ON,
    ),
    _row(
        Code.FEATURE_UNAVAILABLE,
        r"\b(is|are|was|been) not available\b|not enabled\b",
        "This is switched off here.",
        _SWITCH_IT_ON,
        or_tier=True,
    ),
    # What is too much at once.
    _row(
        Code.PAYLOAD_TOO_LARGE,
        r"exceeds max (complexity|depth)|recursive query|query too large|(file|payload|request) is too large",
        "GitLab takes no request this large.",
        "Ask for less at a time.",
    ),
    _row(
        Code.RATE_LIMITED,
        r"too many .* (created|requested|sent) in the last minute",
        "GitLab takes no more of these for now: too many came in the last minute.",
    ),
    # A CI file that does not work: what it lacks is not what the caller lacks.
    _row(
        Code.REJECTED,
        r"the pipeline did not run\. review the workflow:rules|resulting pipeline would have been empty"
        r"|(local|remote|template) file .*(does not exist|not found)|missing ci config|included? .*not found"
        r"|yaml|jobs? .*config|job .*(undefined|unknown) need|workflow rules|no (stages|jobs)|prevented any jobs"
        r"|(project|component) .*not found or access denied",
        "The CI/CD configuration does not allow this pipeline.",
        "Read .gitlab-ci.yml with browse_files get, and mend it with manage_file update.",
    ),
    # Work items, whose place under another decides what they may be.
    _row(
        Code.CONFLICT,
        r"type cannot be changed to .* when linked to a parent",
        "It has a parent under which that type has no place.",
        "Take it out first: manage_work_item remove_parent. Then convert it.",
        state="has a parent",
    ),
    _row(
        Code.CONFLICT,
        r"type cannot be changed to .* with .*child",
        "It has children that the type cannot have.",
        "Take them out first: manage_work_item remove_parent of each.",
        state="has children",
    ),
    _row(
        Code.CONFLICT,
        r"cannot be added: .*non-confidential .* to a confidential parent|child items must be confidential",
        "A confidential parent has only confidential children.",
        "Send confidential=true for the children.",
        state="confidential",
    ),
    _row(
        Code.REJECTED,
        r"not allowed to add this type of (parent|child) item|already present in this item's hierarchy",
        "GitLab does not put an item of this type under that one.",
        "Tasks go under issues and incidents, issues under epics, key results under objectives.",
    ),
    _row(
        Code.TIER_RESTRICTED,
        r"not allowed to change the work item type to epic",
        "Epics need GitLab Premium, and a place in a group.",
        "Ask for an upgrade, or do without it.",
        upgrade_url="https://about.gitlab.com/pricing/",
    ),
    # Mistakes that sound like a lack of rights.
    _row(
        Code.REJECTED,
        r"can ?not be (blank|empty) when|runner is an? (group|instance|shared) runner",
        "GitLab does not accept the values.",
    ),
    _row(
        Code.NOT_FOUND,
        r"no environments found for",
        "No environment fits: there is nothing to delete.",
        "Look with browse_environments list: only stopped review apps of the given age are deleted.",
    ),
    _row(
        Code.NOT_FOUND,
        r"^source branch does not exist",
        "The source branch of the merge request is gone.",
        "Make it again with manage_branch create, from the merge request's sha; or leave the merge request closed.",
        missing="source_branch",
    ),
    # Whom GitLab does not let.
    _row(
        Code.PERMISSION_DENIED,
        r"not allowed to create this tag as it is protected",
        "The tag's name is protected: this user may not create it.",
        "Choose a name that no protected pattern fits, or ask a maintainer to create it.",
        state="protected",
    ),
    _row(
        Code.PERMISSION_DENIED,
        r"not allowed to create protected branches",
        "The branch's name is protected: this user may not create it.",
        "Choose a name that no protected pattern fits, or ask a maintainer to create it.",
        state="protected",
    ),
    _row(
        Code.PERMISSION_DENIED,
        r"access level of the token contains permissions not held|could not provision owner access",
        "A token cannot have a higher role than the person who makes it.",
        "Give access_level as the caller's own role or a lower one.",
    ),
    _row(
        Code.PERMISSION_DENIED,
        r"not (allowed|authorized|permitted) to|^not (allowed|authorized)"
        r"|(insufficient|(do|does)(n't| not|nt) have|no) (enough |sufficient )?permission"
        r"|cannot push to|must be (an )?(admin|owner|maintainer)|insufficient (access|rights)"
        r"|only (admins?|administrators?|owners?|maintainers?) (can|may)|access denied"
        r"|(do|does)(n't| not|nt) have (push |enough |sufficient )*(access|rights)|namespace (is )?not valid"
        r"|protected from force push|unauthorized",
        "GitLab does not let this user do that.",
        "Ask a maintainer or owner to do it, or for the role or the exception it needs.",
    ),
    # What is there already, or in another state.
    _row(
        Code.CONFLICT,
        r"has not been marked for deletion|must be marked for deletion first",
        "It is not marked for deletion.",
        "Read it first: restoring and deleting for good are for what is marked; deleting it marks it.",
        state="not marked for deletion",
    ),
    _row(
        Code.CONFLICT,
        r"already (been )?marked for deletion",
        "It is marked for deletion already.",
        "Leave it, or restore it to keep it.",
        state="marked for deletion",
    ),
    _row(
        Code.CONFLICT,
        r"\btaken\b|already (exists|being used|a member|shared|assigned|related|linked|in the job token)|duplicate"
        r"|same (name|path) .*exists",
        "It exists already.",
        "Read what is there: it may be all that is wanted. Else change it, or choose another name.",
        state="exists",
    ),
    _row(
        Code.CONFLICT,
        r"^sha does not match head",
        "The source branch has moved: sha is no longer its last commit.",
        "Look at what was pushed (browse_merge_requests review_bundle); if it is still wanted, send head_sha as sha.",
        state="changed",
    ),
    _row(
        Code.CONFLICT,
        r"reference does not point to expected object|reference update: |could not update refs/"
        r"|please refresh and try again",
        "Somebody else committed to the branch at the same moment, so this commit was not made.",
        "Send the same call again. With last_commit_id it is refused where the same file was changed.",
        state="changed",
    ),
    _row(
        Code.CONFLICT,
        r"resource lock",
        "GitLab is busy with it: something else, such as a rebase, is under way.",
        "Wait a moment, read it again, and repeat only what is still to be done.",
        state="changed",
    ),
    _row(
        Code.CONFLICT,
        r"has changed since|was changed|sha .*(mismatch|does not match)|precondition failed|stale"
        r"|out of date|is locked|state is locked|does not point to expected object"
        r"|could not update .*(please refresh|try again)|cannot lock ref|reference already updated",
        "It changed in the meantime, or somebody else is changing it.",
        "Read it again and repeat the change on what is there now.",
        state="changed",
    ),
    _row(
        Code.CONFLICT,
        r"one of the ancestors is archived|ancestor.* archived",
        "A group above it is archived, and it with the group.",
        "Ask an owner of the group to unarchive the group.",
        state="archived",
    ),
    _row(
        Code.REJECTED,
        r"to apply this suggestion, edit",
        "The merge request is closed: its suggestions cannot be applied.",
        "Reopen it with manage_merge_request update, or make the change itself with manage_file update.",
    ),
    _row(
        Code.CONFLICT,
        r"can't apply (this suggestion|as )",
        "The suggestion cannot be applied: it is applied already, or its lines have changed since.",
        "Read its thread with browse_discussions list; where the change is still wanted, manage_file update makes it.",
        state="not appliable",
    ),
    _row(
        Code.CONFLICT,
        r"^commit (revert|cherry-pick) failed: can't perform this action automatically",
        "It is done already on that branch, or later commits changed the same lines.",
        "See with browse_commits list whether it is there; where it is not, change the files with manage_file commit.",
        state="conflict",
    ),
    _row(
        Code.CONFLICT,
        r"^(the )?ref is ambiguous",
        "A branch and a tag have this name.",
        "Give it whole: refs/heads/NAME for the branch, refs/tags/NAME for the tag.",
        state="ambiguous",
    ),
    _row(
        Code.CONFLICT,
        r"branch cannot be merged|can't perform this action automatically|merge conflict|fast-forward|can't apply",
        "It cannot be merged or applied automatically.",
        "Resolve the conflict on the source branch, or rebase it.",
        state="conflict",
    ),
    _row(
        Code.CONFLICT,
        r"\balready\b|cannot transition|currently deployed|unplayable|writing tree|last owner"
        r"|not (retryable|playable|cancel+able|erasable|stoppable|mergeable|pending|archived|blocked|active|locked)\b"
        r"|(cannot|can't) (be )?(delete|remove|destroy|cancel|retr|play|erase|reopen|unarchive|(un)?block|(de)?activate"
        r"|(un)?ban|approve|reject|revoke)|only one project associated|environment is not protected|not stopped"
        r"|must be (unblocked|stopped|closed|merged)|awaiting|is not open|not ready|\bin use\b|in progress"
        r"|still (running|has|contains)|pending deletion|being deleted|multiple .* with provided",
        "Its present state does not allow this.",
        "Read its present state first.",
        state="wrong",
    ),
    _row(
        Code.REJECTED,
        r"^offset pagination has a maximum allowed offset.* type User\b",
        "GitLab lists no further than this page.",
        "Begin again with pagination=keyset and no page, then give the cursor of each next_page; or narrow the list.",
    ),
    _row(
        Code.REJECTED,
        r"^offset pagination has a maximum allowed offset",
        "GitLab lists no further than this page.",
        "Narrow the list with its filters; pages cannot go beyond 50,000 entries.",
    ),
    # Mistakes that sound like something missing.
    _row(
        Code.REJECTED,
        r"cannot be (shared with|related to|linked to|moved to|transferred|blank|empty)|to itself|same (project|branch)"
        r"|one of its (sub|ancest)|cannot transfer .* to one of|not a fork of|refs? not specified|is not specified"
        r"|no previous tag could be found|not a valid|valid (url|color|email)|sha-1 or sha-256",
        "GitLab does not accept the values.",
    ),
    # What is missing.
    _row(
        Code.NOT_FOUND,
        r"^is ambiguous",
        "There is no such branch or tag; or a branch and a tag share the name.",
        "Look it up with browse_branches list; where both exist, send refs/heads/NAME or refs/tags/NAME.",
    ),
    _row(
        Code.NOT_FOUND,
        r"(does not|doesn't|don't) exist|not[ -]found|(could not|cannot|couldn't|can't) (be )?(find|found)|no such"
        r"|target .* is invalid|invalid reference name|when you are on a branch|commits' sha is not valid"
        r"|unknown (ref|branch|commit|revision)|for nil\b|not found or has expired"
        r"|is not in the job token scope",
        "Something the arguments name does not exist, or this user may not see it.",
        LOOK_IT_UP,
    ),
)


def recognise(texts: Iterable[str]) -> KnownSentence | None:
    """The cause that the sentences of one refusal name; None where one of them only says that a value is wrong."""
    return _common_cause([_first(text) for text in texts if text])


def recognise_field_errors(fields: Mapping[str, Iterable[str]]) -> KnownSentence | None:
    """The same for errors by field. Some name a cause only with the field: `is not valid` does for a namespace."""
    found = [_first(text) or _first(f"{name} {text}") for name, texts in fields.items() for text in texts]
    return _common_cause(found)


def _common_cause(found: list[KnownSentence | None]) -> KnownSentence | None:
    """None where one sentence is unknown: it is about a value, and a wrong value has to be corrected first."""
    known = [sentence for sentence in found if sentence is not None]
    return min(known, key=KNOWN_SENTENCES.index) if known and len(known) == len(found) else None


def _first(text: str) -> KnownSentence | None:
    return next((sentence for sentence in KNOWN_SENTENCES if sentence.pattern.search(text)), None)

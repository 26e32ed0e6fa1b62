"""Prompts: jobs that a person starts from the client's menu. Each is a few lines that name the actions which do it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed, Failure

_LONGEST_VALUE: Final = 500
_ONE_LINE: Final = re.compile(r"[^\x00-\x1f\x7f\u2028\u2029]*")


@dataclass(frozen=True, slots=True)
class Argument:
    name: str
    description: str
    required: bool = False
    instead: str = ""
    """What the text says where it is left out."""


@dataclass(frozen=True, slots=True)
class Prompt:
    name: str
    title: str
    description: str
    arguments: tuple[Argument, ...]
    text: str
    """With the arguments in braces."""

    def filled(self, given: Mapping[str, Any]) -> str:
        """What the model is sent. Raises CallFailed where an argument is missing, unknown or no line of text."""
        names = [argument.name for argument in self.arguments]
        if unknown := sorted(set(given) - set(names)):
            shown = [name[:64] for name in unknown[:5] if name.isidentifier()]
            raise CallFailed(
                Failure(Code.FIELD_NOT_ALLOWED, "The prompt has no such argument.").knowing(
                    unknown_fields=shown or None,
                    suggested_fix=f"Give {', '.join(names)}." if names else "Give no arguments.",
                )
            )
        values: dict[str, str] = {}
        for argument in self.arguments:
            value = str(given.get(argument.name) or "").strip()
            if not value and argument.required:
                failure = Failure(Code.MISSING_REQUIRED_FIELD, f"The prompt needs {argument.name}.")
                fix = f"Give {argument.name}: {argument.description}."
                raise CallFailed(failure.knowing(missing_fields=[argument.name], suggested_fix=fix))
            if len(value) > _LONGEST_VALUE or not _ONE_LINE.fullmatch(value):
                expected = f"one line of at most {_LONGEST_VALUE} characters"
                invalid = {"field": argument.name, "expected": expected, "received": "other text"}
                failure = Failure(Code.INVALID_VALUE, "An argument of the prompt cannot be right.")
                raise CallFailed(
                    failure.knowing(
                        invalid_fields=[invalid], suggested_fix=f"Give {argument.name} as {expected}."
                    )
                )
            values[argument.name] = value or argument.instead
        return self.text.format_map(values)


_PROJECT: Final = Argument("project", "path, number or URL of the project", required=True)

PROMPTS: Final = {
    prompt.name: prompt
    for prompt in (
        Prompt(
            "review_merge_request",
            "Review a merge request",
            "Read a merge request and draft a review with comments at the lines.",
            (
                _PROJECT,
                Argument("merge_request", "its number or URL", required=True),
                Argument(
                    "focus", "what to look at most", instead="correctness, tests, security and readability"
                ),
            ),
            "Review the merge request {merge_request} of the GitLab project {project}.\n"
            "Read it with browse_merge_requests review_bundle; for what the diff does not show use browse_files get,"
            " and browse_files why where you wonder why a line is there.\n"
            "Look at {focus}. Comment only on what should change, at its line, with the reason and a suggestion.\n"
            "Show me the comments and your verdict first. When I agree, send them in one call of manage_review"
            " submit_review.",
        ),
        Prompt(
            "why_is_it_red",
            "Why is main red?",
            "Find out why the newest pipeline of a branch failed.",
            (
                _PROJECT,
                Argument(
                    "ref", "branch or tag; the default branch if left out", instead="the default branch"
                ),
            ),
            "Why is the pipeline of {ref} red in the GitLab project {project}?\n"
            "Ask browse_pipelines failure_digest. Tell me in a few sentences what failed, the line of the log or test"
            " that shows it, since when and by whose change, and whether it looks flaky.\n"
            "Then say what would mend it. Change and retry nothing before I say so.",
        ),
        Prompt(
            "release_notes",
            "Release notes",
            "Draft the next release: its version and notes for the people who use it.",
            (
                _PROJECT,
                Argument(
                    "from_ref", "since which tag; the last version if left out", instead="the last version"
                ),
            ),
            "Draft the release notes of the GitLab project {project} since {from_ref}.\n"
            "Ask browse_releases prepare. Write for the people who use it: what is new, what is mended, what they must"
            " change; leave out what they do not notice, and keep the references.\n"
            "Show me version and notes. When I agree, make the release with manage_release create.",
        ),
        Prompt(
            "triage_inbox",
            "Triage my inbox",
            "What waits for you on GitLab, in the order in which to do it.",
            (),
            "What waits for me on GitLab?\n"
            "Ask browse_users inbox. Put it in an order: first what blocks others (reviews, failed pipelines of mine),"
            " then what is due, then the rest. For each say in one line what I should do, with its URL.\n"
            "Change nothing; at the end offer what you could do for me.",
        ),
        Prompt(
            "standup",
            "Standup",
            "What you did, what is next, and what blocks you, in three short lists.",
            (
                Argument(
                    "since",
                    "a day, as 2026-11-16",
                    instead="the last working day",
                ),
            ),
            "Prepare my standup: what I did on GitLab since {since}, what is next, and what blocks me.\n"
            "Ask browse_users events with after set to the day before it, and browse_users inbox.\n"
            "Three short lists, one line a thing, with references; leave out what is only noise, such as pushes of one"
            " branch after another.",
        ),
    )
}


def prompt_named(name: str) -> Prompt:
    if name in PROMPTS:
        return PROMPTS[name]
    failure = Failure(Code.NOT_FOUND, "This server has no prompt of that name.")
    raise CallFailed(
        failure.knowing(confidence="certain", suggested_fix=f"Take one of {', '.join(PROMPTS)}.")
    )

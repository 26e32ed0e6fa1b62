"""What a call will do, in one sentence for the person who is asked for a confirmation.

Of GitLab's answers the sentence holds numbers, dates and words of fixed vocabularies, never text that people wrote: it
could talk the person into a yes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from gitlab_mcp.actions.action import Action, Endpoint, fill
from gitlab_mcp.actions.arguments.problems import plain
from gitlab_mcp.actions.ask import Ask
from gitlab_mcp.policy.guard import ProposedCall

_SAFE_WORD: Final = re.compile(r"[\w.-]{1,64}")
_SAFE_PATH: Final = re.compile(r"[\w.-]+(/[\w.-]+)*")
_MAX_LENGTH: Final = 200
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_ISSUE_FILTERS: Final = {"label_id": ("labels", "name"), "milestone_id": ("milestone", "title")}
"""By the field that names a label or a milestone: the filter of issues for it, and the attribute to filter by."""


async def what_will_happen(proposed: ProposedCall) -> str:
    action, ask = proposed.call.action, proposed.ask
    endpoint = action.endpoint()
    target = await ask.look(_target_path(action, endpoint)) if endpoint.placeholders else None
    facts = list(_facts_about(target)) if isinstance(target, Mapping) else []
    if isinstance(target, Mapping):
        count = await _open_issues_with(target, action, endpoint, ask)
        facts += [f"on {_plural(count, 'open issue')}"] if count is not None else []
    summary = " ".join((type(action).__doc__ or action.spec.name).split()).rstrip(".")
    named = await _named_target(action, endpoint, ask)
    in_brackets = f" ({', '.join(facts)})" if facts else ""
    commands = " Quick actions in the text are carried out." if proposed.call.options.quick_actions else ""
    return f"{summary}{f': {named}' if named else ''}{in_brackets}.{commands}"


def _target_path(action: Action, endpoint: Endpoint) -> str:
    """The path up to its last id. For a merge that is the merge request."""
    path = endpoint.path[: endpoint.path.rfind("}") + 1]
    return fill(path, **{name: getattr(action, name) for name in endpoint.placeholders})


async def _named_target(action: Action, endpoint: Endpoint, ask: Ask) -> str:
    """`label bug of project acme/website`."""
    words = []
    for name in reversed(endpoint.placeholders):
        value = str(getattr(action, name))
        if name == "project_id":
            value = await _project_path(value, ask)
        words.append(f"{_noun(name)} {_shortened(value)}")
    others = {name for name in action.given() if name not in endpoint.placeholders}
    given = ", ".join(
        f"{name} {_shortened(getattr(action, name))}" for name in sorted(others & _SHOWN_FIELDS)
    )
    return ", ".join(filter(None, [" of ".join(words), given]))


_SHOWN_FIELDS: Final = frozenset(
    {"branch", "group_access", "group_id", "namespace", "sha", "access_level", "name"}
)
"""Fields outside the path that a person should know before a yes."""


async def _project_path(value: str, ask: Ask) -> str:
    if not value.isdecimal():
        return value
    project = await ask.project(value)
    path = str(project.get("path_with_namespace", "")) if project else ""
    return f"{path} ({value})" if _SAFE_PATH.fullmatch(path) else value


def _shortened(value: object) -> str:
    """What the caller sent. The ellipsis tells the person that the rest is missing."""
    text = plain(value)
    return text if len(text) <= _MAX_LENGTH else text[:_MAX_LENGTH] + "…"


def _noun(field: str) -> str:
    return re.sub(r"_(id|iid|name)$", "", field).replace("_", " ")


async def _open_issues_with(
    target: Mapping[str, Any], action: Action, endpoint: Endpoint, ask: Ask
) -> int | None:
    """How many open issues have this label or milestone."""
    for name, (filter, attribute) in _ISSUE_FILTERS.items():
        if name in endpoint.placeholders and isinstance(target.get(attribute), str):
            root = endpoint.path[: endpoint.path.find("}") + 1]
            place = fill(root, **{each: getattr(action, each) for each in endpoint.placeholders})
            counted = await ask.look(f"{place}/issues_statistics", **{filter: target[attribute]})
            match counted:
                case {"statistics": {"counts": {"opened": int(opened)}}}:
                    return opened
    return None


def _facts_about(target: Mapping[str, Any]) -> Iterator[str]:
    commit = target.get("commit")
    if isinstance(commit, Mapping) and _is_safe_word(commit.get("short_id")):
        yield f"last commit {commit['short_id']}{_on_date(commit.get('committed_date'))}"
    if isinstance(target.get("merged"), bool):
        yield "merged" if target["merged"] else "not merged"
    if target.get("protected") is True:
        yield "protected"
    for name in ("state", "status", "visibility"):
        if _is_safe_word(target.get(name)):
            yield str(target[name])
    if isinstance(target.get("sha"), str) and "merge_status" in target and _is_safe_word(target["sha"]):
        yield f"at commit {target['sha'][:8]}"
    author = target.get("author")
    by = (
        f" by {author['username']}"
        if isinstance(author, Mapping) and _is_safe_word(author.get("username"))
        else ""
    )
    if "commit" not in target and (created := _on_date(target.get("created_at"))):
        yield f"created{created}{by}"
    for name, noun in (
        ("open_issues_count", "open issue"),
        ("forks_count", "fork"),
        ("user_notes_count", "comment"),
    ):
        if isinstance(target.get(name), int) and target[name]:
            yield _plural(target[name], noun)
    if last := _on_date(target.get("last_activity_at")):
        yield f"last used{last}"


def _is_safe_word(value: object) -> bool:
    return isinstance(value, str) and _SAFE_WORD.fullmatch(value) is not None


def _on_date(value: object) -> str:
    found = _DATE.match(value) if isinstance(value, str) else None
    return f" on {found[0]}" if found else ""


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"

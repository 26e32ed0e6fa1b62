"""What a call will do to what, in one sentence for the person who must say yes.

The sentence is ours: of what GitLab answers it holds numbers, dates and words of fixed vocabularies, never text that
somebody wrote.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from gitlab_mcp.actions.action import Action, Endpoint, fill
from gitlab_mcp.actions.arguments.problems import plain
from gitlab_mcp.actions.ask import Ask
from gitlab_mcp.policy import Intent

_SAFE_WORD: Final = re.compile(r"[\w.-]{1,64}")
_SAFE_PATH: Final = re.compile(r"[\w.-]+(/[\w.-]+)*")
_LONGEST: Final = 200
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_CARRIED_BY_ISSUES: Final = {"label_id": ("labels", "name"), "milestone_id": ("milestone", "title")}
"""Fields whose things issues carry, how issues are filtered by them, and by which of their words."""


async def effect(intent: Intent) -> str:
    action, ask = intent.call.action, intent.ask
    endpoint = action.endpoint()
    thing = await ask.look(_path_of_thing(action, endpoint)) if endpoint.placeholders else None
    about = list(_known(thing)) if isinstance(thing, Mapping) else []
    if isinstance(thing, Mapping) and (count := await _issues(action, endpoint, thing, ask)) is not None:
        about.append(f"on {_plural(count, 'open issue')}")
    what = " ".join((type(action).__doc__ or action.spec.name).split()).rstrip(".")
    facts = f" ({', '.join(about)})" if about else ""
    commands = " Quick actions in the text are carried out." if intent.call.options.quick_actions else ""
    target = await _target(action, endpoint, ask)
    return f"{what}{f': {target}' if target else ''}{facts}.{commands}"


def _path_of_thing(action: Action, endpoint: Endpoint) -> str:
    """The path up to the last thing it names: of a merge, that is the merge request."""
    path = endpoint.path[: endpoint.path.rfind("}") + 1]
    return fill(path, **{name: getattr(action, name) for name in endpoint.placeholders})


async def _target(action: Action, endpoint: Endpoint, ask: Ask) -> str:
    words = []
    for name in reversed(endpoint.placeholders):
        value = str(getattr(action, name))
        if name == "project_id":
            value = await _path_of_project(value, ask)
        words.append(f"{_noun(name)} {_said(value)}")
    others = {name for name in action.given() if name not in endpoint.placeholders}
    given = ", ".join(f"{name} {_said(getattr(action, name))}" for name in sorted(others & _TELLING))
    return ", ".join(filter(None, [" of ".join(words), given]))


_TELLING: Final = frozenset(
    {"branch", "group_access", "group_id", "namespace", "sha", "access_level", "name"}
)
"""Fields beside the path that a person wants to know before saying yes."""


async def _path_of_project(value: str, ask: Ask) -> str:
    if not value.isdecimal():
        return value
    project = await ask.project(value)
    path = str(project.get("path_with_namespace", "")) if project else ""
    return f"{path} ({value})" if _SAFE_PATH.fullmatch(path) else value


def _said(value: object) -> str:
    """What the caller sent; that something is missing must be seen."""
    said = plain(value)
    return said if len(said) <= _LONGEST else said[:_LONGEST] + "…"


def _noun(field: str) -> str:
    return re.sub(r"_(id|iid|name)$", "", field).replace("_", " ")


async def _issues(action: Action, endpoint: Endpoint, thing: Mapping[str, Any], ask: Ask) -> int | None:
    for name, (filter, word) in _CARRIED_BY_ISSUES.items():
        if name in endpoint.placeholders and isinstance(thing.get(word), str):
            root = endpoint.path[: endpoint.path.find("}") + 1]
            place = fill(root, **{each: getattr(action, each) for each in endpoint.placeholders})
            counted = await ask.look(f"{place}/issues_statistics", **{filter: thing[word]})
            match counted:
                case {"statistics": {"counts": {"opened": int(opened)}}}:
                    return opened
    return None


def _known(thing: Mapping[str, Any]) -> Iterator[str]:
    commit = thing.get("commit")
    if isinstance(commit, Mapping) and _is_word(commit.get("short_id")):
        yield f"last commit {commit['short_id']}{_on(commit.get('committed_date'))}"
    if isinstance(thing.get("merged"), bool):
        yield "merged" if thing["merged"] else "not merged"
    if thing.get("protected") is True:
        yield "protected"
    for name in ("state", "status", "visibility"):
        if _is_word(thing.get(name)):
            yield str(thing[name])
    if isinstance(thing.get("sha"), str) and "merge_status" in thing and _is_word(thing["sha"]):
        yield f"at commit {thing['sha'][:8]}"
    author = thing.get("author")
    by = (
        f" by {author['username']}"
        if isinstance(author, Mapping) and _is_word(author.get("username"))
        else ""
    )
    if "commit" not in thing and (made := _on(thing.get("created_at"))):
        yield f"created{made}{by}"
    for name, noun in (
        ("open_issues_count", "open issue"),
        ("forks_count", "fork"),
        ("user_notes_count", "comment"),
    ):
        if isinstance(thing.get(name), int) and thing[name]:
            yield _plural(thing[name], noun)
    if last := _on(thing.get("last_activity_at")):
        yield f"last used{last}"


def _is_word(value: object) -> bool:
    return isinstance(value, str) and _SAFE_WORD.fullmatch(value) is not None


def _on(value: object) -> str:
    found = _DATE.match(value) if isinstance(value, str) else None
    return f" on {found[0]}" if found else ""


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"

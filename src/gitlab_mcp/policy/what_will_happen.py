"""What a call will do, in a few sentences for the person who is asked for a confirmation.

Of GitLab's answers they hold numbers, dates and words of fixed vocabularies, never text that people wrote: it could
talk the person into a yes. What the agent sent is quoted, so that it does not read as a sentence of ours.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any, Final

from pydantic import BaseModel

from gitlab_mcp.actions.action import Action, Endpoint, fill
from gitlab_mcp.actions.ask import Ask
from gitlab_mcp.actions.call import Call
from gitlab_mcp.actions.fields import KeptBack
from gitlab_mcp.actions.quick_actions import TakesQuickActions, commands_in
from gitlab_mcp.actions.shape import shapes
from gitlab_mcp.failures.invisible_characters import without_invisible
from gitlab_mcp.failures.secret_text import REDACTED, redact_text
from gitlab_mcp.policy.guard import ProposedCall
from gitlab_mcp.policy.names_of_numbers import FieldAndNumber, names_of_numbers

Names = Mapping[FieldAndNumber, str]

_SAFE_WORD: Final = re.compile(r"[\w.-]{1,64}")
_MAX_LENGTH: Final = 100
_MOST_LISTED: Final = 200
"""So many that hiding one behind the others makes a question that nobody says yes to."""
_NAMES_OF_QUOTES: Final = re.compile(
    "QUOTATION|DOUBLE (PRIME|ACUTE|GRAVE|APOSTROPHE)|(TRIPLE|QUADRUPLE) PRIME|DITTO|GERSHAYIM|NIHSHVASA"
)
"""In the Unicode names of characters that look as if a quote ended."""
_SECRET_NAME: Final = re.compile(
    r"token|secret|passw|passphrase|credential|private_?key|api_?key|signing_?key|authorization",
    re.IGNORECASE,
)
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_ISSUE_FILTERS: Final = {"label_id": ("labels", "name"), "milestone_id": ("milestone", "title")}
"""By the field that names a label or a milestone: the filter of issues for it, and the attribute to filter by."""


async def what_will_happen(proposed: ProposedCall) -> str:
    action, ask = proposed.call.action, proposed.ask
    endpoint = action.endpoint()
    target = await look_at_target(action, ask)
    # What the server pinned is what the yes is to; the target may have been read a moment later.
    facts = list(_facts_about({**target, **proposed.call.pinned})) if isinstance(target, Mapping) else []
    if isinstance(target, Mapping):
        count = await _open_issues_with(target, action, endpoint, ask)
        facts += [f"on {_plural(count, 'open issue')}"] if count is not None else []
    # What follows the first paragraph is for whoever makes the call.
    summary = " ".join((type(action).__doc__ or action.spec.name).partition("\n\n")[0].split()).rstrip(".")
    names = await names_of_numbers(action, ask)
    named = _named_target(action, endpoint, names)
    in_brackets = f" ({', '.join(facts)})" if facts else ""
    sentences = [f"{summary}{f': {named}' if named else ''}{in_brackets}."]
    if foretold := await action.foretold(ask):
        sentences.append(foretold)
    if given := _given_values(proposed.call, endpoint, names):
        sentences.append(f"With {given}.")
    sentences += [f"{name}: {risk.because}." for name, risk in action.risks().items()]
    if proposed.call.options.quick_actions:
        commands = _listed([quoted(line) for line in _commands(action)]) or "none found"
        sentences.append(f"Quick actions in the text are carried out: {commands}.")
    return " ".join(sentences)


async def look_at_target(action: Action, ask: Ask) -> Any:
    """GitLab's answer about what the path of the call names; None where it names nothing, or cannot be read.

    The path is taken up to its last id. For a merge that is the merge request.
    """
    endpoint = action.endpoint()
    if not endpoint.placeholders:
        return None
    path = endpoint.path[: endpoint.path.rfind("}") + 1]
    return await ask.look(fill(path, **{name: getattr(action, name) for name in endpoint.placeholders}))


def _named_target(action: Action, endpoint: Endpoint, names: Names) -> str:
    """`label "bug" of project "acme/website"`."""
    return " of ".join(
        f"{_noun(name)} {_with_name(name, getattr(action, name), names)}"
        for name in reversed(endpoint.placeholders)
    )


def _given_values(call: Call, endpoint: Endpoint, names: Names) -> str:
    """Every field outside the path: a person says yes to all of them."""
    action = call.action
    given = {name: value for name, value in action.given().items() if name not in call.pinned}
    return ", ".join(
        f"{name} {REDACTED if shape.mark(KeptBack) else _shown(name, given[name], given, names)}"
        for name, shape in shapes(type(action)).items()
        if name in given and name not in endpoint.placeholders
    )


def _shown(name: str, value: Any, beside: Mapping[str, Any], names: Names) -> str:
    """The value in quotes. A secret is only said to be there: by its own name, or by the `key` beside a `value`."""
    known_by = str(beside.get("key", "")) if name == "value" else name
    if isinstance(value, str) and value and _SECRET_NAME.search(known_by):
        return REDACTED
    named_by_agent = isinstance(value, Mapping)
    if isinstance(value, BaseModel):
        value = value.model_dump(exclude_unset=True)
    if isinstance(value, Mapping):
        if set(value) <= {"key", "value", "variable_type"} and "key" in value:
            return f"{quoted(value['key'])} = {_shown('value', value.get('value'), value, names)}"
        return ", ".join(
            f"{quoted(inner) if named_by_agent else inner} {_shown(inner, each, value, names)}"
            for inner, each in value.items()
        )
    if isinstance(value, list):
        return f"[{_listed([_shown(name, each, beside, names) for each in value])}]"
    return _with_name(name, value, names)


def _with_name(field: str, value: Any, names: Names) -> str:
    """The value in quotes; a number with the name of what it stands for before it."""
    name = names.get((field, str(value)))
    return f"{quoted(name)} ({value})" if name else quoted(value)


def _listed(parts: list[str]) -> str:
    rest = len(parts) - _MOST_LISTED
    return ", ".join(parts[:_MOST_LISTED]) + (f" and {rest} more" if rest > 0 else "")


def _commands(action: Action) -> Iterator[str]:
    for name, shape in shapes(type(action)).items():
        if shape.mark(TakesQuickActions):
            yield from commands_in(getattr(action, name) or "")


def quoted(value: object) -> str:
    """What the agent sent, in one line between quotes that it cannot end. An ellipsis stands for the rest."""
    if value is None or isinstance(value, bool | int):
        return str(value).lower()
    text = " ".join(without_invisible(re.sub(r"\s", " ", redact_text(str(value)))).split())
    text = "".join("'" if _is_quote(character) else character for character in text[: _MAX_LENGTH + 1])
    return f'"{text if len(text) <= _MAX_LENGTH else text[:_MAX_LENGTH] + "…"}"'


def _is_quote(character: str) -> bool:
    return character == '"' or (
        not character.isascii() and _NAMES_OF_QUOTES.search(unicodedata.name(character, "")) is not None
    )


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
    for name in ("protected", "archived"):
        if target.get(name) is True:
            yield name
    if marked := _on_date(target.get("marked_for_deletion_on")):
        yield f"marked for deletion{marked}"
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

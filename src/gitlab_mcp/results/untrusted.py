"""Words of other people: without invisible characters, and never to be taken for ours."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from gitlab_mcp.failures.invisible_characters import INVISIBLE

# Free text, and names that take whole sentences: a branch may be called `ignore-all-previous-instructions`. The last
# lines hold the names under which views show one of the others.
WRITTEN_BY_PEOPLE = frozenset((
    "title", "description", "body", "note", "message", "commit_message", "content", "bio", "text", "summary",
    "name", "labels", "label", "milestone", "author_name", "committer_name",
    "ref", "branch", "source_branch", "target_branch", "tag_name",
    "path", "file_path", "new_path", "old_path", "file_name", "filename",
    "author", "commit", "environment", "epic", "file", "iteration", "job", "last_commit", "last_ref", "milestones",
    "protected_branches", "runner", "rules_left", "scanner", "licenses", "identifiers", "location",
))  # fmt: skip

_LINE_ENDS = re.compile("\r\n|[\u2028\u2029]")
# What JSON in ASCII writes for each of these, and for all that is not ASCII; DEL alone it writes as it is.
_ESCAPED = re.compile(r"\\[urbf]|\x7f")
_NOT_IN_A_SOURCE = re.compile(r'["<>\n\t]')
_NONCE_BYTES = 6
_LONGEST_SOURCE = 100


@dataclass(frozen=True, slots=True)
class Cleaned:
    value: Any
    removed: int
    """How many invisible characters are gone."""


def clean(text: str) -> Cleaned:
    """The text without invisible characters; a line ends with a line feed."""
    if text.isascii() and text.isprintable():
        return Cleaned(text, 0)
    cleaned, removed = INVISIBLE.subn("", _LINE_ENDS.sub("\n", text))
    return Cleaned(cleaned, removed)


def clean_all(value: Any) -> Cleaned:
    """The same for every string inside a JSON value, names of members included."""
    # Most answers hold nothing that JSON would escape, and looking for it there is ten times faster.
    return _clean_all(value) if _ESCAPED.search(json.dumps(value, default=str)) else Cleaned(value, 0)


def _clean_all(value: Any) -> Cleaned:
    if isinstance(value, str):
        cleaned = clean(value)
        # A subclass of str says something about a text that did not have to change.
        return Cleaned(value, 0) if cleaned.value == value else cleaned
    if value is None or isinstance(value, (int, float)):
        return Cleaned(value, 0)
    if isinstance(value, (dict, Mapping)):
        names = [clean(str(name)) for name in value]
        members = [_clean_all(member) for member in value.values()]
        return Cleaned(
            {name.value: member.value for name, member in zip(names, members, strict=True)},
            sum(part.removed for part in (*names, *members)),
        )
    if isinstance(value, (list, tuple)):
        items = [_clean_all(item) for item in value]
        return Cleaned([item.value for item in items], sum(item.removed for item in items))
    return Cleaned(value, 0)


def written_by_people(value: Any) -> list[str]:
    """The names of the members, at any depth, that hold words of other people, in order of appearance."""
    found: dict[str, None] = {}
    _gather(value, found)
    return list(found)


def _gather(value: Any, found: dict[str, None]) -> None:
    if value is None or isinstance(value, (str, int, float)):
        return
    if isinstance(value, (dict, Mapping)):
        for name, member in value.items():
            if name in WRITTEN_BY_PEOPLE and _has_words(member):
                found[name] = None
            _gather(member, found)
    elif isinstance(value, (list, tuple)):
        for item in value:
            _gather(item, found)


def _has_words(member: Any) -> bool:
    if isinstance(member, list | tuple):
        return any(isinstance(item, str) and item for item in member)
    return isinstance(member, str) and bool(member)


def new_nonce() -> str:
    return secrets.token_hex(_NONCE_BYTES)


def wrap(text: str, source: str, nonce: Callable[[], str] = new_nonce) -> str:
    """The text between two lines that it cannot have known."""
    name = _NOT_IN_A_SOURCE.sub(" ", clean(source).value)[:_LONGEST_SOURCE]
    mark = nonce()
    while mark in text or mark in name:
        mark = nonce()
    return f'<untrusted-text id="{mark}" source="{name}">\n{text}\n</untrusted-text id="{mark}">'

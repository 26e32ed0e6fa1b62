"""GitLab's validation errors by field, under the names our actions have for the fields."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from gitlab_mcp.actions.action import Action
from gitlab_mcp.actions.arguments.problems import received
from gitlab_mcp.actions.secret_fields import is_secret
from gitlab_mcp.actions.shape import sent_name, shapes

_FIELD = re.compile(r"[a-z_][a-z0-9_]{0,60}")

_PIECES = re.compile(r" and (?=[A-Z])|: |; |\[\"|\", \"")

# Names of the models behind the API, where they are not the names of its parameters.
_OTHER_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "title": ("name", "title"),
    "visibility_level": ("visibility",),
    "namespace": ("namespace_id", "namespace"),
    "fingerprint": ("key",),
    "fingerprint_sha256": ("key",),
    "fingerprint_md5": ("key",),
    "time_spent": ("duration",),
    "line_code": ("position", "new_line"),
    "filepath": ("filepath", "file_path"),
    "note": ("body", "note"),
    "user": ("user_id",),
    "link_url": ("link_url", "url"),
    "expires_at": ("expires_at",),
}

# What an error asks for, in our words. Other errors stay in gitlab_message alone.
_EXPECTED: Final = (
    (re.compile(r"can't be blank|is empty|too short \(minimum is 1 "), "a value that is not empty"),
    (re.compile(r"too long \(maximum is (\d+) characters?"), "at most {} characters"),
    (re.compile(r"too short \(minimum is (\d+) characters?"), "at least {} characters"),
    (re.compile(r"exceeds the limit of (\d+) bytes"), "at most {} bytes"),
    (re.compile(r"is not allowed (in|since)"), "a level that the group above and what is inside allow"),
    (re.compile(r"mutually exclusive|at the same time"), "only one of them"),
    (re.compile(r"at least one parameter must be provided"), "at least one of them"),
    (re.compile(r"exactly one parameter must be provided"), "exactly one of them"),
    (re.compile(r"already been taken|already exists|already being used"), "a value that is not in use"),
    (re.compile(r"must be greater than start date"), "a date after the start date"),
    (re.compile(r"valid file path"), "a path inside the repository"),
    (re.compile(r"reserved name"), "a name that is not reserved"),
)
_ONE_OF_SEVERAL: Final = "one parameter must be provided"
_MISSING: Final = re.compile(r"is missing$|is required$|must be provided\b")


@dataclass(frozen=True, slots=True)
class FieldErrors:
    missing: tuple[str, ...] = ()
    invalid: tuple[Mapping[str, str], ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.missing, *self.wrong)))

    @property
    def wrong(self) -> tuple[str, ...]:
        return tuple(entry["field"] for entry in self.invalid)

    def facts(self) -> dict[str, Any]:
        facts: dict[str, Any] = {}
        if self.missing:
            facts["missing_fields"] = list(self.missing)
        if self.invalid:
            facts["invalid_fields"] = [dict(entry) for entry in self.invalid]
        return facts


def field_errors(fields: Mapping[str, Iterable[str]], action: Action | None) -> FieldErrors:
    missing: dict[str, None] = {}
    invalid: dict[str, Mapping[str, str]] = {}
    for theirs, texts in fields.items():
        ours = our_name(theirs, action)
        if ours is None:
            continue
        errors = tuple(texts)
        if action and ours not in shapes(type(action)) and any(_ONE_OF_SEVERAL in text for text in errors):
            # GitLab lists every parameter of the endpoint; this action has only some.
            continue
        if any(_MISSING.match(text) for text in errors):
            missing[ours] = None
        elif ours not in invalid:
            expected = _expected(errors, ours, action)
            invalid[ours] = {
                "field": ours,
                **({"expected": expected} if expected else {}),
                **_received(ours, action),
            }
    return FieldErrors(tuple(missing), tuple(entry for name, entry in invalid.items() if name not in missing))


def _received(ours: str, action: Action | None) -> dict[str, str]:
    """What the caller gave for the field, where that is known and no secret."""
    given = action.given() if action else {}
    return {"received": received(given[ours])} if ours in given and not is_secret(ours) else {}


def field_errors_in_sentences(texts: Iterable[str], action: Action | None) -> FieldErrors:
    """Errors that begin with the name of a field of ours: `Expires at cannot be a date in the past`."""
    if action is None:
        return FieldErrors()
    names = sorted(shapes(type(action)), key=len, reverse=True)
    found: dict[str, tuple[str, ...]] = {}
    for piece in (piece.lower() for text in texts for piece in _PIECES.split(text)):
        name = next((name for name in names if f"{piece} ".startswith(f"{name.replace('_', ' ')} ")), None)
        if name:
            found[name] = (*found.get(name, ()), piece.removeprefix(name.replace("_", " ")).strip() or piece)
    return field_errors(found, action)


def our_name(theirs: str, action: Action | None) -> str | None:
    """`project_namespace.path` is `path`, `actions[0][file_path]` is `actions`; None for a field we do not have."""
    name = theirs.rsplit(".", 1)[-1].split("[", 1)[0].lower()
    if name == "base" or not _FIELD.fullmatch(name):
        return None
    ours = list(shapes(type(action))) if action else []
    by_sent_name = {sent_name(type(action), field): field for field in ours} if action else {}
    for candidate in (name, *_OTHER_NAMES.get(name, ())):
        if candidate in by_sent_name:
            return by_sent_name[candidate]
        if candidate in ours:
            return candidate
    return name if name in _OTHER_NAMES else None


def _expected(texts: tuple[str, ...], ours: str, action: Action | None) -> str:
    for pattern, expected in _EXPECTED:
        for text in texts:
            if match := pattern.search(text):
                return expected.format(*match.groups())
    shape = shapes(type(action)).get(ours) if action else None
    if action and shape and action.given().get(ours) in shape.values:
        return "a value that this version and edition of GitLab have"
    return shape.expects if shape else ""

"""What GitLab said in a refusal, out of the half dozen shapes in which it says things."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from gitlab_mcp.failures import allowed_words as words
from gitlab_mcp.gitlab.faults import Refused

LONGEST_MESSAGE = 300

# C0, C1, soft hyphen, zero-width, bidi marks and isolates, variation selectors, BOM, tags, private use, surrogates.
_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\uffff\ue000-\uf8ff\ud800-\udfff"
    "\U000e0000-\U000e0fff\U000f0000-\U0010ffff]"
)
_SPACE = re.compile(r"\s+")
_STATUS = re.compile(
    r"^(?P<status>[1-5]\d\d)(?: \(?(?P<phrase>[^-]*?)\)?)?(?: - (?P<reason>.*))?$", re.DOTALL
)
_RUBY_HASH = re.compile(r":(?P<field>\w+)=>\[(?P<texts>(?:\"(?:[^\"\\]|\\.)*\"(?:, )?)*)\]")
_RUBY_STRING = re.compile(r"\"((?:[^\"\\]|\\.)*)\"")
_NAME = r"[\w\[\]]+"
_GROUPED = re.compile(
    rf"(?:^|(?<=, ))(?P<names>{_NAME}(?:, {_NAME})*) "
    r"(?P<text>are missing, (?:at least|exactly) one parameter must be provided"
    r"|are mutually exclusive|Cannot specify [\w ]+ at the same time)"
)
_SINGLE = re.compile(
    rf"(?P<name>{_NAME}) (?P<text>is missing|is empty|is invalid|does not have a valid value"
    r"|has a value not allowed|should be [^,]+(?:, (?:none|or|however)\b[^,]*)*|must be [^,]+)"
)


def clean(text: str, longest: int = LONGEST_MESSAGE) -> str:
    """Text from outside as one short line that shows everything it holds."""
    # Only the beginning is looked at: a body may be megabytes.
    text = _SPACE.sub(" ", _UNSEEN.sub(" ", text[: 4 * longest])).strip()
    return text if len(text) <= longest else text[: longest - 1] + "…"


@dataclass(frozen=True, slots=True)
class Said:
    """One refusal, read. Everything in it is GitLab's text and stays data."""

    texts: tuple[str, ...] = ()
    """The sentences, without the status in front."""
    fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The complaints by the name GitLab has for the field."""
    error: str = ""
    """The code of an OAuth-style error, such as insufficient_scope."""
    scope: tuple[str, ...] = ()
    bare: str = ""
    """The whole message where it is only a status and its phrase: `403 Forbidden`, `404 Not found`."""
    no_such_route: bool = False
    """Grape's catch-all, which has the key `error`: this build or version has no such route."""
    message: str = ""
    """All of it, fit to be shown as `gitlab_message`."""

    @property
    def thing(self) -> str | None:
        """X of `404 X Not Found`."""
        match = re.fullmatch(r"404 (?P<thing>.*\S) Not Found", self.bare)
        return match["thing"] if match else None


def read(refused: Refused) -> Said:
    body = refused.body()
    if isinstance(body, list | str | int):
        # Some endpoints answer with the bare status: `404`.
        body = {"message": str(body) if isinstance(body, int) else body}
    if not isinstance(body, Mapping):
        return Said()
    if isinstance(body.get("error"), str) and "error_description" in body:
        return _oauth(body)
    if isinstance(body.get("errors"), list):
        texts = tuple(_sentences(body["errors"]))
        return Said(texts=texts, message=clean("; ".join(texts)))
    if body.get("error") == "404 Not Found" and "message" not in body:
        return Said(bare="404 Not Found", no_such_route=True, message="404 Not Found")
    return _message(body["message"] if "message" in body else body.get("error", body))


def _oauth(body: Mapping[str, Any]) -> Said:
    description = body["error_description"] if isinstance(body["error_description"], str) else ""
    scope = body["scope"] if isinstance(body.get("scope"), str) else ""
    return Said(
        texts=(clean(description),),
        error=clean(body["error"], 60),
        scope=words.scopes(scope.split()),
        message=clean(description or body["error"]),
    )


def _message(message: Any) -> Said:
    if isinstance(message, str):
        return _text(message)
    if isinstance(message, Mapping) and set(message) == {"error"} and isinstance(message["error"], str):
        return _text(message["error"])
    if isinstance(message, Mapping):
        fields = {
            clean(str(name), 80): tuple(clean(text) for text in _sentences(texts))
            for name, texts in list(message.items())[:50]
        }
        texts = tuple(text for texts in fields.values() for text in texts)
        shown = "; ".join(f"{name} {text}" for name, texts in fields.items() for text in texts)
        return Said(texts=texts, fields=fields, message=clean(shown))
    texts = tuple(clean(text) for text in _sentences(message))
    return Said(texts=texts, message=clean("; ".join(texts)))


def _text(text: str) -> Said:
    line = clean(text, 4 * LONGEST_MESSAGE)
    status = _STATUS.match(line)
    if status and not status["reason"] and ":" not in line:
        return Said(bare=line, message=clean(line))
    reason = status["reason"] if status and status["reason"] else line
    fields = dict(_ruby_fields(reason)) or dict(_grape_fields(reason))
    texts = tuple(complaint for complaints in fields.values() for complaint in complaints) or (reason,)
    return Said(texts=texts, fields=fields, message=clean(line))


def _ruby_fields(text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """`Note {:note=>["can't be blank"]}`: a Ruby hash printed into a sentence."""
    for match in _RUBY_HASH.finditer(text):
        yield match["field"], tuple(clean(found) for found in _RUBY_STRING.findall(match["texts"]))


def _grape_fields(text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """`name is missing, color is invalid`: what the API framework says of parameters."""
    if _SINGLE.sub("", _GROUPED.sub("", text)).strip(", "):
        # `Target nosuch is invalid` is a sentence, not a list of complaints.
        return
    found: dict[str, list[str]] = {}
    for match in _GROUPED.finditer(text):
        for name in match["names"].split(", "):
            found.setdefault(name, []).append(match["text"])
    for match in _SINGLE.finditer(_GROUPED.sub("", text)):
        found.setdefault(match["name"], []).append(match["text"])
    yield from ((name, tuple(texts)) for name, texts in found.items())


def _sentences(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield clean(value)
    elif isinstance(value, Mapping):
        for inner in value.get("message", ""), *value.values():
            if isinstance(inner, str) and inner:
                yield clean(inner)
                return
    elif isinstance(value, list):
        for inner in value[:20]:
            yield from _sentences(inner)
    elif value is not None:
        yield clean(str(value))

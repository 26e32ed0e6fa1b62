"""The body of a refusal, read: GitLab writes its errors in half a dozen shapes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from gitlab_mcp.failures import allowed_words
from gitlab_mcp.failures.invisible_characters import INVISIBLE
from gitlab_mcp.gitlab.faults import Refused

LONGEST_MESSAGE = 300

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
    rf"(?P<name>{_NAME}) (?P<text>is missing|is required|is empty|is invalid|does not have a valid value"
    r"|has a value not allowed|must be one of: \w+(?:, \w+)*"
    r"|should be [^,]+(?:, (?:none|or|however)\b[^,]*)*|must be [^,]+)"
)


def one_line(text: str, longest: int = LONGEST_MESSAGE) -> str:
    """Text from outside as one short line without invisible characters."""
    # Only the beginning is looked at: a body may be megabytes.
    text = _SPACE.sub(" ", INVISIBLE.sub(" ", text[: 4 * longest])).strip()
    return text if len(text) <= longest else text[: longest - 1] + "…"


@dataclass(frozen=True, slots=True)
class RefusalBody:
    """Everything in it is GitLab's text and stays data."""

    sentences: tuple[str, ...] = ()
    """Without the status in front."""
    field_errors: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """What is wrong with each field, by GitLab's name for it."""
    oauth_error: str = ""
    """The code of an OAuth error, such as insufficient_scope."""
    oauth_scopes: tuple[str, ...] = ()
    """The scopes that an insufficient_scope error names."""
    status_only: str = ""
    """The whole message where it is only a status and its phrase: `403 Forbidden`, `404 Not found`."""
    no_such_route: bool = False
    """Grape's answer to an unknown path, under the key `error`: this edition or version has no such route."""
    message: str = ""
    """All of it, fit to be shown as `gitlab_message`."""

    @property
    def is_unexplained_404(self) -> bool:
        """`404 Not Found`, capital F."""
        return self.status_only == "404 Not Found"

    @property
    def missing_name(self) -> str | None:
        """X of `404 X Not Found`."""
        match = re.fullmatch(r"404 (?P<name>.*\S) Not Found", self.status_only)
        return match["name"] if match else None


def read_body(refused: Refused) -> RefusalBody:
    body = refused.body()
    if isinstance(body, list | str | int):
        # Some endpoints answer with a number: `404`.
        body = {"message": str(body) if isinstance(body, int) else body}
    if not isinstance(body, Mapping):
        return RefusalBody()
    if isinstance(body.get("error"), str) and "error_description" in body:
        return _oauth(body)
    if isinstance(body.get("errors"), list):
        sentences = tuple(_sentences(body["errors"]))
        return RefusalBody(sentences, message=one_line("; ".join(sentences)))
    if body.get("error") == "404 Not Found" and "message" not in body:
        return RefusalBody(status_only="404 Not Found", no_such_route=True, message="404 Not Found")
    return _message(body["message"] if "message" in body else body.get("error", body))


def _oauth(body: Mapping[str, Any]) -> RefusalBody:
    description = body["error_description"] if isinstance(body["error_description"], str) else ""
    scope = body["scope"] if isinstance(body.get("scope"), str) else ""
    return RefusalBody(
        sentences=(one_line(description),),
        oauth_error=one_line(body["error"], 60),
        oauth_scopes=allowed_words.scopes(scope.split()),
        message=one_line(description or body["error"]),
    )


def _message(message: Any) -> RefusalBody:
    if isinstance(message, str):
        return _text(message)
    if isinstance(message, Mapping) and set(message) == {"error"} and isinstance(message["error"], str):
        return _text(message["error"])
    if isinstance(message, Mapping):
        errors = {
            one_line(str(name), 80): tuple(_sentences(value)) for name, value in list(message.items())[:50]
        }
        shown = "; ".join(f"{name} {text}" for name, texts in errors.items() for text in texts)
        return RefusalBody(_all_of(errors), errors, message=one_line(shown))
    sentences = tuple(_sentences(message))
    return RefusalBody(sentences, message=one_line("; ".join(sentences)))


def _text(text: str) -> RefusalBody:
    line = one_line(text, 4 * LONGEST_MESSAGE)
    status = _STATUS.match(line)
    if status and not status["reason"] and ":" not in line:
        return RefusalBody(status_only=line, message=one_line(line))
    reason = status["reason"] if status and status["reason"] else line
    errors = dict(_ruby_field_errors(reason)) or dict(_grape_field_errors(reason))
    return RefusalBody(_all_of(errors) or (reason,), errors, message=one_line(line))


def _all_of(field_errors: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(text for texts in field_errors.values() for text in texts)


def _ruby_field_errors(text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """`Note {:note=>["can't be blank"]}`: a Ruby hash printed into a sentence."""
    for match in _RUBY_HASH.finditer(text):
        yield match["field"], tuple(one_line(found) for found in _RUBY_STRING.findall(match["texts"]))


def _grape_field_errors(text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """`name is missing, color is invalid`: what Grape, GitLab's API framework, says of parameters."""
    if _SINGLE.sub("", _GROUPED.sub("", text)).strip(", "):
        # `Target nosuch is invalid` is a sentence, not a list of field errors.
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
        yield one_line(value)
    elif isinstance(value, Mapping):
        for inner in value.get("message", ""), *value.values():
            if isinstance(inner, str) and inner:
                yield one_line(inner)
                return
    elif isinstance(value, list):
        for inner in value[:20]:
            yield from _sentences(inner)
    elif value is not None:
        yield one_line(str(value))

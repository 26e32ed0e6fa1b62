"""A client's file with the server in it, or without it.

What is made is parsed again and held against what was meant. So a form of writing that is not understood here is
refused, and never damages a file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from gitlab_mcp.clients.all_clients import ASKED_TOKEN
from gitlab_mcp.clients.client import Client, File, Refused, Syntax

_BYTE_ORDER_MARK = "\ufeff"
_TOKENS = ("GITLAB_TOKEN", "GITLAB_TOKEN_FILE")
_QUESTIONS = "inputs"
QUESTION = {
    "type": "promptString",
    "id": ASKED_TOKEN,
    "description": "Token for GitLab, with the scope api, or read_api to only read",
    "password": True,
}


@dataclass(frozen=True, slots=True)
class Document:
    """The text of a client's file, and what was found in it."""

    client: Client
    file: File
    place: str
    """For messages."""
    text: str

    def merged(self, name: str, entry: Mapping[str, Any]) -> Mapping[str, Any]:
        """The entry with what a person added to the one that is there. Refused where another server has this name."""
        before = self._entry(name)
        if before is None:
            return entry
        if not _starts_this_server(before):
            raise Refused(
                f"{self.place} has another server named {name}.",
                f"Choose a name for this one with --name, or take the other out of {self.place} first.",
            )
        variables = self.client.variables
        kept = _kept(before.get(variables), entry.get(variables, {}))
        return {**before, **entry, **({variables: kept} if kept else {})}

    def with_server(self, name: str, entry: Mapping[str, Any]) -> str:
        path, text = (*self.file.servers, name), self._bare()
        expected = deepcopy(self._parsed())
        if self._entry(name) != entry:
            text = self._changed("with_value", text, path, entry)
            _set(expected, path, entry)
        if f"${{input:{ASKED_TOKEN}}}" in entry.get(self.client.variables, {}).values():
            questions = expected.setdefault(_QUESTIONS, [])
            if not isinstance(questions, list):
                raise self._unlike(_QUESTIONS, "a list")
            if not any(isinstance(each, dict) and each.get("id") == ASKED_TOKEN for each in questions):
                questions.append(QUESTION)
                text = self._changed("with_item", text, (_QUESTIONS,), QUESTION)
        return self._checked(text, expected)

    def without_server(self, name: str) -> str:
        entry = self._entry(name)
        if entry is None:
            return self.text
        if not _starts_this_server(entry):
            raise Refused(
                f"The server named {name} in {self.place} is another one.",
                "Name the one that is meant with --name.",
            )
        expected = deepcopy(self._parsed())
        text = self._changed("without", self._bare(), (*self.file.servers, name))
        _remove(expected, (*self.file.servers, name))
        return self._checked(text, expected)

    def _entry(self, name: str) -> Mapping[str, Any] | None:
        place = self._parsed()
        for depth, key in enumerate(self.file.servers):
            place = {} if place.get(key) is None and self.file.syntax == "yaml" else place.get(key, {})
            if not isinstance(place, dict):
                raise self._unlike(".".join(self.file.servers[: depth + 1]), "an object")
        entry = place.get(name)
        if entry is not None and not isinstance(entry, dict):
            raise self._unlike(".".join((*self.file.servers, name)), "an object")
        return entry

    def _parsed(self) -> dict[str, Any]:
        try:
            found = self._module().parsed(self._bare())
        except RecursionError:
            raise self._broken("it is nested too deep") from None
        except ValueError as error:
            raise self._broken(_first_line(error)) from None
        if not isinstance(found, dict):
            raise self._broken("there should be an object at its top")
        return found

    def _changed(self, how: str, *of: Any) -> str:
        try:
            changed: str = getattr(self._module(), how)(*of)
        except (ValueError, LookupError, TypeError, AttributeError):
            raise self._cannot_be_changed() from None
        return changed

    def _checked(self, text: str, expected: Any) -> str:
        try:
            as_meant = self._module().parsed(text) == expected
        except ValueError:
            as_meant = False
        if not as_meant:
            raise self._cannot_be_changed()
        return (_BYTE_ORDER_MARK if self.text.startswith(_BYTE_ORDER_MARK) else "") + text

    def _cannot_be_changed(self) -> Refused:
        return Refused(
            f"{self.place} is written in a way that could not be changed without harm.",
            "Use --print, and put what it prints into the file by hand; or take the entry out there.",
        )

    def _bare(self) -> str:
        return self.text.removeprefix(_BYTE_ORDER_MARK)

    def _module(self) -> Any:
        return _module_of(self.file.syntax)

    def _broken(self, why: str) -> Refused:
        return Refused(
            f"{self.place} is no valid {self.file.syntax.upper()}: {why}.",
            f"Mend it so that {self.client.title} can read it, then try again.",
        )

    def _unlike(self, keys: str, expected: str) -> Refused:
        return Refused(
            f"In {self.place}, {keys} is not {expected}.",
            f"Mend it so that {self.client.title} can read it, then try again.",
        )


def _module_of(syntax: Syntax) -> ModuleType:
    from importlib import import_module

    return import_module(f"gitlab_mcp.clients.{syntax}_text")


def _kept(before: Any, now: Mapping[str, str]) -> dict[str, str]:
    """The variables with those a person added. A new token takes the place of the old one."""
    there = before if isinstance(before, dict) else {}
    if any(name in now for name in _TOKENS):
        there = {name: value for name, value in there.items() if name not in _TOKENS}
    return {**there, **now}


def _starts_this_server(entry: Mapping[str, Any]) -> bool:
    command = entry.get("command", entry.get("cmd"))
    words = [*(command if isinstance(command, list) else [command]), *(entry.get("args") or [])]
    return any(isinstance(word, str) and _names_this_server(word) for word in words)


def _names_this_server(word: str) -> bool:
    """A bare `gitlab-mcp` may be the package of that name, which is somebody else's."""
    _, _, program = word.replace("\\", "/").rpartition("/")
    is_path = program != word
    return "gitlab-mcp-server" in word or (is_path and program.removesuffix(".exe") == "gitlab-mcp")


def _set(document: dict[str, Any], path: Sequence[str], value: Any) -> None:
    *parents, name = path
    for key in parents:
        if document.get(key) is None:
            document[key] = {}
        document = document[key]
    document[name] = value


def _remove(document: dict[str, Any], path: Sequence[str]) -> None:
    *parents, name = path
    for key in parents:
        document = document[key]
    del document[name]


def _first_line(error: Exception) -> str:
    return " ".join(str(error).split())[:200].rstrip(".")

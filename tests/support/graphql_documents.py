"""Every GraphQL document this server may send, and a reader that holds one to a schema of names and types."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator, Mapping
from typing import Any

import gitlab_mcp

Schema = Mapping[str, Mapping[str, Any]]

_DOCUMENT = re.compile(r"\s*(query|mutation)\b[^{]*\{")
_TOKEN = re.compile(r"\.\.\.|[A-Za-z_]\w*|\$\w+|\"[^\"]*\"|-?\d+(?:\.\d+)?|[{}()\[\]:!=@]")


def documents() -> Iterator[tuple[str, str]]:
    """By the name of the constant. A document that is put together while a call runs would not be found."""
    for info in pkgutil.walk_packages(gitlab_mcp.__path__, "gitlab_mcp."):
        if info.name.split(".")[1] not in ("tools", "workflows", "gitlab", "actions"):
            continue
        for name, value in vars(importlib.import_module(info.name)).items():
            constants = value if isinstance(value, Mapping) else {"": value}
            for key, text in constants.items():
                if isinstance(text, str) and _DOCUMENT.match(text):
                    yield f"{info.name.removeprefix('gitlab_mcp.')}.{name}{f'[{key}]' if key else ''}", text


class Checked:
    """One document, read against a schema. `problems` says what GitLab would refuse, `ee_only` what CE would."""

    def __init__(self, text: str, schema: Schema) -> None:
        self._schema = schema
        self._tokens: list[str] = _TOKEN.findall(text)
        self._at = 0
        self._used: set[str] = set()
        self.problems: list[str] = []
        self.ee_only: list[str] = []
        operation = self._next()
        if self._peek() not in ("(", "{"):
            self._next()
        self._variables = self._declared() if self._peek() == "(" else {}
        self._selection({"query": "Query", "mutation": "Mutation"}[operation])
        self._expect(None)
        self.problems += [f"${name} is not used" for name in self._variables.keys() - self._used]

    def _peek(self) -> str | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def _next(self) -> str:
        self._at += 1
        return self._tokens[self._at - 1]

    def _expect(self, token: str | None) -> None:
        if self._peek() != token:
            raise AssertionError(f"{token or 'the end'} is expected, not {self._peek()}")
        self._at += 1

    def _declared(self) -> dict[str, str]:
        declared = {}
        self._expect("(")
        while self._peek() != ")":
            name = self._next().removeprefix("$")
            self._expect(":")
            declared[name] = self._type()
            if _named(declared[name]) not in self._schema:
                self.problems.append(f"there is no type {declared[name]}")
            elif self._schema[_named(declared[name])].get("ee"):
                self.ee_only.append(declared[name])
        self._expect(")")
        return declared

    def _type(self) -> str:
        token = self._next()
        if token == "[":
            token = f"[{self._type()}]"
            self._expect("]")
        if self._peek() == "!":
            token += self._next()
        return token

    def _selection(self, kind: str) -> None:
        self._expect("{")
        while self._peek() != "}":
            if self._peek() == "...":
                self._fragment(kind)
            else:
                self._field(kind)
        self._expect("}")

    def _fragment(self, kind: str) -> None:
        self._expect("...")
        self._expect("on")
        on = self._next()
        if on not in self._schema[kind].get("possible", ()):
            self.problems.append(f"{kind} is never {on}")
        self._selection(on)

    def _field(self, kind: str) -> None:
        name = self._next()
        if self._peek() == ":":
            self._next()
            name = self._next()
        known = self._schema[kind]
        field = known.get("fields", {}).get(name)
        where = f"{kind}.{name}"
        if field is None:
            raise AssertionError(f"there is no {where}")
        if known.get("ee") or name in known.get("ee_fields", ()):
            self.ee_only.append(where)
        self._arguments(where, field.get("args", {}))
        inner = self._schema[_named(field["type"])]
        composite = inner["kind"] in ("OBJECT", "INTERFACE", "UNION")
        if composite is not (self._peek() == "{"):
            raise AssertionError(f"{where} is {field['type']}: what is to be shown of it?")
        if composite:
            self._selection(_named(field["type"]))

    def _arguments(self, where: str, known: Mapping[str, str]) -> None:
        given: set[str] = set()
        if self._peek() == "(":
            self._next()
            while self._peek() != ")":
                name = self._next()
                self._expect(":")
                given.add(name)
                self._value(f"{where}({name})", known.get(name))
            self._expect(")")
        missing = {name for name, kind in known.items() if kind.endswith("!")} - given
        self.problems += [f"{where} needs {name}" for name in sorted(missing)]

    def _value(self, where: str, kind: str | None) -> None:
        value = self._next()
        if kind is None:
            self.problems.append(f"there is no {where}")
        elif value.startswith("$"):
            self._used.add(value[1:])
            declared = self._variables.get(value[1:])
            if declared is None or declared.rstrip("!") != kind.rstrip("!"):
                self.problems.append(f"{where} is {kind}, {value} is {declared}")
            elif kind.endswith("!") and not declared.endswith("!"):
                self.problems.append(f"{where} must be given, {value} need not be")
        elif (named := self._schema[_named(kind)])["kind"] == "ENUM" and value not in named["values"]:
            self.problems.append(f"{where} cannot be {value}")


def _named(kind: str) -> str:
    return kind.strip("[]!")

"""What is known of a client: where its file is, and what an entry for a server looks like in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

System = Literal["linux", "macos", "windows"]
Syntax = Literal["json", "toml", "yaml"]


@dataclass(frozen=True, slots=True)
class Launch:
    """How a client starts the server."""

    command: str
    arguments: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class File:
    """Where a client keeps its servers."""

    syntax: Syntax
    places: Mapping[System, tuple[str, ...]]
    """The first that exists is meant, else the first. In braces: a folder of `places.py`."""
    servers: tuple[str, ...]
    """The keys that lead to the servers."""


@dataclass(frozen=True, slots=True)
class Commands:
    """What the client's own command is called with, in place of editing its file."""

    add: Callable[[str, Launch], list[str]]
    remove: Callable[[str], list[str]]


@dataclass(frozen=True, slots=True)
class Client:
    name: str
    """As on the command line."""
    title: str
    entry: Callable[[str, Launch], dict[str, Any]]
    """What stands under the server's name."""
    variables: str
    """The key of the variables in an entry."""
    file: File | None = None
    commands: Commands | None = None
    asks_for_token: bool = False
    """Whether it asks its person for the token and keeps it, so that no file has to."""
    where: str = ""
    """The way to the file, or to where the entry is pasted, in the client itself."""
    afterwards: str = ""


class Refused(Exception):
    """Nothing was changed, why, and what to do."""

    def __init__(self, wrong: str, fix: str) -> None:
        super().__init__(wrong)
        self.wrong = wrong
        self.fix = fix

"""What goes to GitLab and what comes back, without saying how."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Protocol, TypeVar

from gitlab_mcp.actions.result import Notice, Omission

T = TypeVar("T")
Report = Callable[[float, float | None, str], None]
"""How much is done, of how much, and what: for whoever waits for a call."""


@dataclass(frozen=True, slots=True)
class File:
    """A file on its way to GitLab. What it holds is never shown."""

    name: str
    content: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Request:
    """One request below `/api/v4`. Each segment of `path` is already encoded; `query` and `body` are not."""

    method: str
    path: str
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    files: Mapping[str, File] = field(default_factory=dict)
    """By field. With any, the body goes beside them as a form."""
    content: bytes | None = field(default=None, repr=False)
    """The whole body, where GitLab takes a file as it is."""
    repeatable: bool = False
    """Whether sending a write again does no harm when its answer was lost. Reads always are."""
    route: str = field(default="", compare=False)
    """The path without what it is about, where that is known: `/projects/{project_id}/issues`."""

    @property
    def reads(self) -> bool:
        return self.method in ("GET", "HEAD")


@dataclass(frozen=True, slots=True)
class Answer:
    """What GitLab answered: 2xx or 304. Header names are lower case; `body` is parsed JSON, or None."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    recovered: bool = False
    """The answer to a write was lost, and what it did was found again by looking."""
    left_out: tuple[Omission, ...] = ()
    """What an action took out of GitLab's list because nobody asked for it."""
    warnings: tuple[Notice, ...] = ()
    """What the action found out beside it."""
    before: Mapping[str, Any] | None = None
    """Of an update: the thing as it was, where it was read just before."""

    @property
    def already(self) -> bool:
        """304: nothing had to change."""
        return self.status == 304

    @property
    def total(self) -> int | None:
        """How many items the list has on all its pages; None where GitLab does not count them."""
        return whole_number(self.headers.get("x-total", ""))


def whole_number(text: str) -> int | None:
    """The number in a header; None for what is none. Python takes more for digits than a header may hold."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS else None


_MOST_DIGITS = 18


class GitLab(Protocol):
    """GitLab as one caller sees it. Everything else an action may know comes through here."""

    async def send(self, request: Request) -> Answer: ...

    async def get(self, path: str, **query: Any) -> Answer: ...

    async def stream(self, request: Request, read: Callable[[Iterator[bytes], Mapping[str, str]], T]) -> T:
        """Hand the body to `read` in chunks, with the headers, in a worker thread; never whole in memory."""
        ...

    async def graphql(self, document: str, variables: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
        """The `data` of the answer; errors in a 200 are failures."""
        ...

    def with_deadline(self, seconds: float) -> GitLab:
        """The same caller with that much time from now, whatever the call has left."""
        ...

    @property
    def today(self) -> date:
        """The day it is in UTC, by which GitLab says what is overdue."""
        ...

    @property
    def seconds_left(self) -> float:
        """How long this call may still take."""
        ...

    async def pause(self, seconds: float) -> bool:
        """Wait before asking again. False, at once, where the call has no time left for it."""
        ...

    @property
    def base_url(self) -> str:
        """Where people see this GitLab, without a slash at the end: `https://gitlab.example.com/gitlab`."""
        ...

    def report(self, done: float, total: float | None = None, what: str = "") -> None:
        """Announce steps, and then tell each that is done, to whoever waits for the call.

        Begin with 0. A call that announces none tells of each answer of GitLab by itself.
        """
        ...

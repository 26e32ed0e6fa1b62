"""CODEOWNERS, read as GitLab reads it: sections, default owners, optional approvals, and whose a path is."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

PLACES: Final = ("CODEOWNERS", "docs/CODEOWNERS", ".gitlab/CODEOWNERS")
"""Where GitLab looks. The first file that is there counts, the others are ignored."""

_UNNAMED: Final = "codeowners"
"""What GitLab calls the section of the rules before the first heading."""
_HEADING = re.compile(
    r"(?P<optional>\^)?\[(?P<name>[^\]]*)\](?:\[(?P<approvals>[^\]]*)\])?(?P<owners>(?:\s.*)?)$"
)
_OWNER = re.compile(r"@@?[\w./-]*\w|[^\s@]+@[^\s@]+\.[^\s@]+")
_SPACE = re.compile(r"(?<!\\)\s+")


@dataclass(frozen=True, slots=True)
class Rule:
    line: int
    pattern: str
    owners: tuple[str, ...]
    excludes: bool = False
    """`!pattern`: such paths have no owner in this section, whatever other rules say."""

    def fits(self, path: str) -> bool:
        return _expression(self.pattern).fullmatch("/" + path.lstrip("/")) is not None


@dataclass(frozen=True, slots=True)
class Section:
    name: str
    optional: bool = False
    approvals: int = 1
    rules: tuple[Rule, ...] = ()

    def rule_for(self, path: str) -> Rule | None:
        """The last rule that fits; None where an exclusion fits too."""
        fitting = [rule for rule in self.rules if rule.fits(path)]
        if not fitting or any(rule.excludes for rule in fitting):
            return None
        return fitting[-1]


@dataclass(frozen=True, slots=True)
class Problem:
    line: int
    what: str


@dataclass(frozen=True, slots=True)
class CodeOwners:
    sections: tuple[Section, ...]
    problems: tuple[Problem, ...] = ()

    def of(self, path: str) -> list[tuple[Section, Rule]]:
        """In each section the rule that decides about the path, where one names owners."""
        decided = ((section, section.rule_for(path)) for section in self.sections)
        return [(section, rule) for section, rule in decided if rule is not None and rule.owners]


def parse(text: str) -> CodeOwners:
    reader = _Reader()
    for number, line in enumerate(text.splitlines(), start=1):
        stripped = line.strip()
        if stripped and not stripped.startswith("#"):
            reader.read(number, stripped)
    return CodeOwners(
        tuple(draft.section() for draft in reader.drafts.values() if draft.rules), tuple(reader.problems)
    )


@dataclass(slots=True)
class _Draft:
    """A section while the file is being read. A name that comes again goes on with the first."""

    name: str
    optional: bool = False
    approvals: int = 1
    rules: list[Rule] = field(default_factory=list)

    def section(self) -> Section:
        return Section(self.name, self.optional, self.approvals, tuple(self.rules))


class _Reader:
    def __init__(self) -> None:
        self._current = _Draft(_UNNAMED)
        self._defaults: tuple[str, ...] = ()
        self.drafts: dict[str, _Draft] = {_UNNAMED: self._current}
        self.problems: list[Problem] = []

    def read(self, number: int, line: str) -> None:
        heading = _HEADING.match(line)
        if heading is not None and heading["name"].strip():
            self._open(number, heading)
            return
        if heading is not None or line.startswith(("[", "^[")):
            # GitLab takes a heading that it cannot read for a path.
            self.problems.append(Problem(number, "a section heading that GitLab does not understand"))
        self._add(number, line)

    def _open(self, number: int, heading: re.Match[str]) -> None:
        name = heading["name"].strip()
        optional = heading["optional"] is not None
        self._defaults = self._owners(number, heading["owners"])
        # Names are the same in capitals and in small letters; the first heading decides the rest.
        draft = _Draft(name, optional, 1 if optional else self._approvals(number, heading["approvals"]))
        self._current = self.drafts.setdefault(name.casefold(), draft)

    def _approvals(self, number: int, given: str | None) -> int:
        if given is None:
            return 1
        if not given.isdecimal() or int(given) < 1:
            self.problems.append(Problem(number, "the number of approvals is not 1 or more"))
            return 1
        return int(given)

    def _add(self, number: int, line: str) -> None:
        pattern, *rest = _SPACE.split(line, maxsplit=1)
        if pattern.startswith("!"):
            self._current.rules.append(Rule(number, pattern[1:], (), excludes=True))
            return
        owners = self._owners(number, rest[0]) if rest else self._defaults
        if not owners:
            self.problems.append(Problem(number, "no owner: nobody need approve these paths"))
        self._current.rules.append(Rule(number, pattern, owners))

    def _owners(self, number: int, text: str) -> tuple[str, ...]:
        words = text.split()
        if strange := [word for word in _before_remark(words) if not _OWNER.fullmatch(word)]:
            self.problems.append(Problem(number, f"no owner, and ignored: {', '.join(strange)}"))
        return tuple(dict.fromkeys(word for word in words if _OWNER.fullmatch(word)))


def _before_remark(words: list[str]) -> Iterable[str]:
    """GitLab knows no remarks behind owners: names in them count, and only the other words do not."""
    for word in words:
        if word.startswith("#"):
            return
        yield word


def _expression(pattern: str) -> re.Pattern[str]:
    """The paths a pattern stands for, each with a slash before it. A directory counts only with one behind it."""
    pattern = re.sub(r"^\\#", "#", re.sub(r"\\\s+", " ", pattern))
    if pattern == "*":
        pattern = "/**/*"
    if not pattern.startswith("/"):
        pattern = "/**/" + pattern
    if pattern.endswith("/"):
        pattern += "**/*"
    return re.compile("".join(_pieces(pattern)), re.DOTALL)


def _pieces(pattern: str) -> Iterable[str]:
    position = 0
    while position < len(pattern):
        rest = pattern[position:]
        if rest.startswith("**/") and (position == 0 or pattern[position - 1] == "/"):
            yield "(?:[^/]+/)*"
            position += 3
        elif rest[0] == "*":
            stars = len(rest) - len(rest.lstrip("*"))
            yield "[^/]*"
            position += stars
        elif rest[0] == "?":
            yield "[^/]"
            position += 1
        elif rest[0] == "[" and (listed := re.match(r"\[([!^]?)((?:\\.|[^\]\\])+)\]", rest)):
            yield f"(?!/)[{'^' if listed[1] else ''}{_characters(listed[2])}]"
            position += len(listed[0])
        elif rest[0] == "\\" and len(rest) > 1:
            yield re.escape(rest[1])
            position += 2
        else:
            yield re.escape(rest[0])
            position += 1


def _characters(listed: str) -> str:
    """What stands between brackets; a dash still means a range."""
    escaped = re.sub(r"[\[\]\\^&~|]", lambda found: "\\" + found[0], re.sub(r"\\(.)", r"\1", listed))
    # A range that ends before it begins holds nothing in GitLab, and is an error in Python.
    return re.sub(
        r"([^\\])-(.)",
        lambda found: found[0] if found[1] <= found[2] else found[0].replace("-", r"\-"),
        escaped,
    )

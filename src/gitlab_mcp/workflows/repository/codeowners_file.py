"""Parses a CODEOWNERS file as GitLab does, and says who owns a path."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from gitlab_mcp.workflows.repository.path_patterns import PathPattern, TooMuchWork, Work, path_pattern

PATHS: Final = ("CODEOWNERS", "docs/CODEOWNERS", ".gitlab/CODEOWNERS")
"""Where GitLab looks for the file. The first that exists counts, the others are ignored."""

MOST_LINES: Final = 20_000
MOST_CHARACTERS: Final = 1_000_000
MOST_COMPARISONS: Final = 2_000_000
"""Of a name in a pattern with a name in a path, for all paths of one call."""

_DEFAULT_SECTION: Final = "codeowners"
"""GitLab's name for the section before the first heading."""
_HEADING = re.compile(
    r"(?P<optional>\^)?\[(?P<name>[^\]]*)\](?:\[(?P<approvals>[^\]]*)\])?(?P<owners>(?:\s.*)?)$"
)
_OWNER = re.compile(r"@@?[\w./-]*\w|[^\s@]+@[^\s@]+\.[^\s@]+")
_LONGEST_OWNER: Final = 320
"""As long as an address can be."""
_UNESCAPED_SPACE = re.compile(r"(?<!\\)\s+")


@dataclass(frozen=True, slots=True)
class Rule:
    line: int
    pattern: str
    owners: tuple[str, ...]
    excludes: bool = False
    """`!pattern`: such paths have no owner in this section, whatever other rules say."""

    def matches(self, path: str, work: Work | None = None) -> bool:
        names = path.lstrip("/").split("/")
        return _compiled(self.pattern).matches(names, work or Work(MOST_COMPARISONS))


@dataclass(frozen=True, slots=True)
class Section:
    name: str
    optional: bool = False
    approvals: int = 1
    rules: tuple[Rule, ...] = ()

    def rule_for(self, path: str, work: Work) -> Rule | None:
        """The last rule that matches; None where an exclusion matches too."""
        matching = [rule for rule in self.rules if rule.matches(path, work)]
        if not matching or any(rule.excludes for rule in matching):
            return None
        return matching[-1]


@dataclass(frozen=True, slots=True)
class Problem:
    line: int
    what: str
    words: tuple[str, ...] = ()
    """Those of the file that it is about."""


@dataclass(frozen=True, slots=True)
class CodeOwners:
    sections: tuple[Section, ...]
    problems: tuple[Problem, ...] = ()

    def rules_for(self, path: str, work: Work | None = None) -> list[tuple[Section, Rule]]:
        """The rule that decides in each section, where it names owners. Raises TooMuchWork."""
        work = work or Work(MOST_COMPARISONS)
        rules = ((section, section.rule_for(path, work)) for section in self.sections)
        return [(section, rule) for section, rule in rules if rule is not None and rule.owners]


def parse_codeowners(text: str) -> CodeOwners:
    """Raises TooMuchWork for a file of more than `MOST_LINES` lines or `MOST_CHARACTERS` characters."""
    lines = text.splitlines() if len(text) <= MOST_CHARACTERS else []
    if len(text) > MOST_CHARACTERS or len(lines) > MOST_LINES:
        raise TooMuchWork
    reader = _Reader()
    for number, line in enumerate(lines, start=1):
        stripped = line.strip()
        if stripped and not stripped.startswith("#"):
            reader.read(number, stripped)
    return CodeOwners(
        tuple(opened.section() for opened in reader.open_sections.values() if opened.rules),
        tuple(reader.problems),
    )


@dataclass(slots=True)
class _OpenSection:
    """A section that is being read. A heading that comes again continues it."""

    name: str
    optional: bool = False
    approvals: int = 1
    rules: list[Rule] = field(default_factory=list)

    def section(self) -> Section:
        return Section(self.name, self.optional, self.approvals, tuple(self.rules))


class _Reader:
    def __init__(self) -> None:
        self._current = _OpenSection(_DEFAULT_SECTION)
        self._defaults: tuple[str, ...] = ()
        self.open_sections: dict[str, _OpenSection] = {_DEFAULT_SECTION: self._current}
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
        # Names are compared without case. A heading that comes again changes only the default owners.
        opened = _OpenSection(
            name, optional, 1 if optional else self._approvals(number, heading["approvals"])
        )
        self._current = self.open_sections.setdefault(name.casefold(), opened)

    def _approvals(self, number: int, given: str | None) -> int:
        if given is None:
            return 1
        if not re.fullmatch(r"[0-9]{1,9}", given) or int(given) < 1:
            self.problems.append(Problem(number, "the number of approvals is not 1 or more"))
            return 1
        return int(given)

    def _add(self, number: int, line: str) -> None:
        pattern, *rest = _UNESCAPED_SPACE.split(line, maxsplit=1)
        if pattern.startswith("!"):
            self._current.rules.append(Rule(number, pattern[1:], (), excludes=True))
            return
        owners = self._owners(number, rest[0]) if rest else self._defaults
        if not owners:
            self.problems.append(Problem(number, "no owner: nobody need approve these paths"))
        self._current.rules.append(Rule(number, pattern, owners))

    def _owners(self, number: int, text: str) -> tuple[str, ...]:
        words = text.split()
        if unknown := [word for word in _before_comment(words) if not _is_owner(word)]:
            self.problems.append(Problem(number, "no owner, and ignored", tuple(unknown)))
        return tuple(dict.fromkeys(word for word in words if _is_owner(word)))


def _is_owner(word: str) -> bool:
    return len(word) <= _LONGEST_OWNER and _OWNER.fullmatch(word) is not None


def _before_comment(words: list[str]) -> Iterable[str]:
    """The words before a `#`. GitLab knows no comments after owners: names in them count, other words are ignored."""
    for word in words:
        if word.startswith("#"):
            return
        yield word


@lru_cache(maxsize=MOST_LINES)
def _compiled(pattern: str) -> PathPattern:
    """A directory needs a slash at its end."""
    pattern = re.sub(r"^\\#", "#", re.sub(r"\\\s+", " ", pattern))
    if pattern == "*":
        pattern = "/**/*"
    if not pattern.startswith("/"):
        pattern = "/**/" + pattern
    if pattern.endswith("/"):
        pattern += "**/*"
    return path_pattern(pattern)

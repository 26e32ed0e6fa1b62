"""Where a failed job went wrong: the place in its log that a person would scroll to.

A failed test or a compiler's error counts most, and the first one. Then any other error, and the last one
that nothing recovered from, since a script ends where it fails. At last what the runner itself says.
"""

from __future__ import annotations

import re
from collections import deque
from enum import IntEnum

from gitlab_mcp.results.log_lines import Excerpt, Line

AROUND = 10
_SOON = 6
_LOOKED_AT = 500

_HINTS = (
    "rror", "err!", "fail", "exception", "traceback", "fatal", "panic", "segmentation", "undefined ref", "not found",
    "no such file", "denied", "killed", "memory", "no space", "resolve host", "refused", "*** ", "because",
)  # fmt: skip
"""In small letters: a line without any of these is no error, unless it begins like one."""
_BEGINS = re.compile(
    r"E {3,}\S"  # pytest
    r"|(?:FAILED|FAIL)\b[: \t]|--- FAIL: |\s*not ok \d|\s*● \S|(?:fatal )?error\[E\d+\]"
    r"|[^\s:]+\.\w+[:(]\d+(?:[:,]\d+\)?)?:? (?:fatal )?error\b"  # compilers
    r"|[^\s:]+\.\w+:\d+:\d+:? [A-Z]{1,4}\d{3,4}\b"  # linters
    r"|\[ERROR\] .*\.\w+:\[\d+,\d+\]"  # Maven
)
_DEFINITE = re.compile(
    r"\bERROR at (?:setup|teardown) of |\bpanic: |\berror (?:TS|CS|MSB)\d+\b|\bundefined reference to "
    r"|Segmentation fault"
)
_LIKELY = re.compile(
    r"(?:Error|Exception): |^Traceback \(most recent call last\)|\b(?:npm (?:ERR!|error)|fatal:)"
    r"|(?:^|\s)(?:error|ERROR|Error)(?::|\])|\bFATAL\b|\bcommand not found\b|: not found$"
    r"|No such file or directory|[Pp]ermission denied|BUILD FAILED|Build FAILED|\bFAILURE: |^Killed$"
    r"|[Oo]ut of memory|No space left on device|Could not resolve host|[Cc]onnection refused"
)
_BY_THE_RUNNER = re.compile(
    r"^(?:ERROR: (?:Job|Preparation) failed|make(?:\[\d+\])?: \*\*\* )|could not run to completion because"
)
_NO_ERROR = re.compile(
    r"\b(?:0|no) (?:errors?|problems?|failures?|failed|issues?)\b"
    r"|^\s*\[?(?:PASSED|ok|INFO|DEBUG|NOTICE|WARN(?:ING)?)\b"
    r"|\b(?:harmless|(?:is|as) expected|ignor(?:ed|ing)|non-fatal|optional dependency)\b"
    r"|\b(?:allowed to fail|retrying)\b",
    re.IGNORECASE,
)
_RECOVERED = re.compile(
    r"\b(?:handled|recovered|fell back|falling back|ignor(?:ed|ing)|continu(?:es|ing)|will retry|retrying)\b",
    re.IGNORECASE,
)
# What the runner does after the script has ended, whatever it ended with.
_AFTERWARDS = re.compile(r"^(?:after_script|upload_artifacts|cleanup|archive_cache)")


class _Weight(IntEnum):
    RUNNER = 1
    LIKELY = 2
    DEFINITE = 3


class _Candidate:
    def __init__(self, before: deque[Line], line: Line) -> None:
        self._lines = [*before, line]
        self._anchor = len(before)

    def take(self, line: Line) -> None:
        self._lines.append(line)

    @property
    def complete(self) -> bool:
        return len(self._lines) - self._anchor > AROUND

    @property
    def recovered(self) -> bool:
        soon = self._lines[self._anchor + 1 : self._anchor + 1 + _SOON]
        return any(_RECOVERED.search(line.text[:_LOOKED_AT]) for line in soon)

    def excerpt(self) -> Excerpt:
        return Excerpt(self._lines[0].number, tuple(line.text for line in self._lines))


class FirstError:
    """Fed line by line; holds no more than a few excerpts."""

    def __init__(self) -> None:
        self._before: deque[Line] = deque(maxlen=AROUND)
        self._best: dict[_Weight, _Candidate] = {}
        self._growing: list[tuple[_Weight, _Candidate]] = []

    def take(self, line: Line) -> None:
        if _Weight.DEFINITE in self._best:
            return
        for _, candidate in self._growing:
            candidate.take(line)
        self._settle(everything=False)
        weight = _weigh(line)
        if weight and not any(growing is weight for growing, _ in self._growing):
            first_counts = weight is not _Weight.LIKELY
            if not (first_counts and weight in self._best):
                self._growing.append((weight, _Candidate(self._before, line)))
        self._before.append(line)

    def _settle(self, *, everything: bool) -> None:
        for weight, candidate in [*self._growing]:
            if everything or candidate.complete:
                self._growing.remove((weight, candidate))
                if weight is not _Weight.LIKELY or not candidate.recovered:
                    self._best[weight] = candidate

    def excerpt(self) -> Excerpt | None:
        """The lines around the error, or None when nothing looks like one."""
        self._settle(everything=True)
        return self._best[max(self._best)].excerpt() if self._best else None


def _weigh(line: Line) -> _Weight | None:
    # Nothing says "error" only after that much, and a stranger's line must not keep a pattern busy.
    text = line.text[:_LOOKED_AT]
    small = text.lower()
    hinted = any(hint in small for hint in _HINTS)
    if hinted and _BY_THE_RUNNER.search(text):
        return _Weight.RUNNER
    if _AFTERWARDS.match(line.section):
        return None
    if _BEGINS.match(text) or (hinted and _DEFINITE.search(text)):
        return _Weight.DEFINITE
    return _Weight.LIKELY if hinted and _LIKELY.search(text) and not _NO_ERROR.search(text) else None

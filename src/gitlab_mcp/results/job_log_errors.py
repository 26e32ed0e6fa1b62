"""Finds the error in the log of a failed job.

The best is the first failed test or compiler error. Next is any other error, and of these the last from which the
script did not recover, since a script ends where it fails. The last resort is what the runner itself says.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import deque
from collections.abc import Iterator
from enum import IntEnum
from itertools import accumulate

from gitlab_mcp.results.job_log_lines import Excerpt, LogBlock, LogLine

CONTEXT_LINES = 10
_RECOVERY_LINES = 6
"""Where the script recovers from an error, one of so many lines after it says so."""
_LONGEST_SEARCHED = 500
"""Only the beginning of a line is searched: a long line of a stranger must not keep a pattern busy."""

_HINTS = (
    "rror", "err!", "fail", "exception", "traceback", "fatal", "panic", "segmentation", "undefined ref", "not found",
    "no such file", "denied", "killed", "memory", "no space", "resolve host", "refused", "*** ", "because",
)  # fmt: skip
"""In lower case. A line without any of these is no error, unless `_DEFINITE_START` matches it."""
_DEFINITE_START = re.compile(
    r"E {3,}\S"  # pytest
    r"|(?:FAILED|FAIL)\b[: \t]|--- FAIL: |\s*not ok \d|\s*● \S|(?:fatal )?error\[E\d+\]"
    r"|[^\s:]+\.\w+[:(]\d+(?:[:,]\d+\)?)?:? (?:fatal )?error\b"  # compilers
    r"|[^\s:]+\.\w+:\d+:\d+:? [A-Z]{1,4}\d{3,4}\b"  # linters
    r"|\[ERROR\] .*\.\w+:\[\d+,\d+\]"  # Maven
)
_UNHINTED = ("E   ", "not ok ", "● ")
_LINTER = re.compile(r":\d+:\d+:? [A-Z]{1,4}\d{3,4}\b")
"""What `_DEFINITE_START` finds in lines without a hint is in these."""
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
# Sections that the runner adds after the script, whether it failed or not.
_AFTER_THE_SCRIPT = re.compile(r"^(?:after_script|upload_artifacts|cleanup|archive_cache)")


class _Rank(IntEnum):
    """How well a line tells why the job failed."""

    RUNNER = 1
    LIKELY = 2
    DEFINITE = 3


class _Candidate:
    """A line that may be the error, with the lines around it."""

    def __init__(self, before: deque[LogLine], line: LogLine) -> None:
        self._lines = [*before, line]
        self._error_index = len(before)

    def take(self, line: LogLine) -> None:
        self._lines.append(line)

    @property
    def is_complete(self) -> bool:
        return len(self._lines) - self._error_index > CONTEXT_LINES

    @property
    def is_recovered(self) -> bool:
        after = self._lines[self._error_index + 1 : self._error_index + 1 + _RECOVERY_LINES]
        return any(_RECOVERED.search(line.text[:_LONGEST_SEARCHED]) for line in after)

    def excerpt(self) -> Excerpt:
        return Excerpt(self._lines[0].number, tuple(line.text for line in self._lines))


class ErrorFinder:
    """Takes the lines of a log, and holds no more than a few excerpts."""

    def __init__(self) -> None:
        self._before: deque[LogLine] = deque(maxlen=CONTEXT_LINES)
        self._best: dict[_Rank, _Candidate] = {}
        self._growing: list[tuple[_Rank, _Candidate]] = []

    def take(self, block: LogBlock) -> None:
        if _Rank.DEFINITE in self._best:
            return
        index, count = 0, len(block.lines)
        for candidate in (*_may_be_errors(block.lines), count):
            while index < count and self._growing and index < candidate:
                self._take(block.line(index))
                index += 1
            # Between two candidates, only what stands before the second one is looked at.
            for before in range(max(index, candidate - CONTEXT_LINES), candidate):
                self._before.append(block.line(before))
            index = max(index, candidate)
            if index < count and index == candidate:
                self._take(block.line(index))
                index += 1

    def _take(self, line: LogLine) -> None:
        for _, candidate in self._growing:
            candidate.take(line)
        self._settle(everything=False)
        rank = _rank(line)
        # Of likely errors the last counts, of the others the first.
        if rank and (rank is _Rank.LIKELY or rank not in self._best) and not self._is_growing(rank):
            self._growing.append((rank, _Candidate(self._before, line)))
        self._before.append(line)

    def _is_growing(self, rank: _Rank) -> bool:
        return any(growing is rank for growing, _ in self._growing)

    def _settle(self, *, everything: bool) -> None:
        for rank, candidate in [*self._growing]:
            if everything or candidate.is_complete:
                self._growing.remove((rank, candidate))
                if rank is not _Rank.LIKELY or not candidate.is_recovered:
                    self._best[rank] = candidate

    def excerpt(self) -> Excerpt | None:
        """The lines around the error, or None when nothing looks like one."""
        self._settle(everything=True)
        return self._best[max(self._best)].excerpt() if self._best else None


def _may_be_errors(lines: list[str]) -> list[int]:
    """The lines that `_rank` could say something about, in order, and perhaps some more."""
    text = "\n".join(lines)
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    found: set[int] = set()
    lower = text.lower()
    # Some letters have two in lower case. Then places in the one text are not those in the other.
    places = starts if len(lower) == len(text) else [0, *accumulate(len(line.lower()) + 1 for line in lines)]
    for hint in _HINTS:
        found.update(_lines_with(hint, lower, places))
    for start in _UNHINTED:
        found.update(_lines_with(start, text, starts))
    found.update(bisect_right(starts, match.start()) - 1 for match in _LINTER.finditer(text))
    return sorted(found)


def _lines_with(wanted: str, text: str, starts: list[int]) -> Iterator[int]:
    place = text.find(wanted)
    while place >= 0:
        line = bisect_right(starts, place) - 1
        yield line
        place = text.find(wanted, starts[line + 1])


def _rank(line: LogLine) -> _Rank | None:
    text = line.text[:_LONGEST_SEARCHED]
    lower = text.lower()
    hinted = any(hint in lower for hint in _HINTS)
    if hinted and _BY_THE_RUNNER.search(text):
        return _Rank.RUNNER
    if _AFTER_THE_SCRIPT.match(line.section):
        return None
    if _DEFINITE_START.match(text) or (hinted and _DEFINITE.search(text)):
        return _Rank.DEFINITE
    return _Rank.LIKELY if hinted and _LIKELY.search(text) and not _NO_ERROR.search(text) else None

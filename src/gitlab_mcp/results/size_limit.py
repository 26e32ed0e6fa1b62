"""Limits the size of a result to `max_bytes`, and says in `truncated` what was left out and how to get it.

A list loses items at its end. Other data loses the ends of long strings, then of long inner lists, and at last
whole members. Text is cut at the end of a line.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gitlab_mcp.actions.call import MOST_BYTES
from gitlab_mcp.actions.result import DiffText, Notice, Omission, Result, TailText, Text
from gitlab_mcp.results.content_blocks import is_well_within, text_size
from gitlab_mcp.results.metadata import add_metadata

_READABLE_STRING = 500
_SHORTEST_STRING = 40
_READABLE_LIST = 3
_MOST_OMISSIONS = 4
_LARGEST_PAGE = 100
_FILE_START = re.compile(r"\n(?=diff --git )")
_FILE_NAME = re.compile(r"^diff --git a/.* b/")


def limit_size(
    result: Result,
    max_bytes: int,
    *,
    items_before: int | None = None,
    arguments: frozenset[str] = frozenset(),
) -> Result:
    """The result with its metadata, cut to `max_bytes`.

    `items_before` is how many items of the list come before this page, where GitLab numbers its pages.
    `arguments` are the names of those that the action takes.
    """
    complete = add_metadata(result)
    if is_well_within(complete, max_bytes):
        return complete
    needed = text_size(complete)
    if needed <= max_bytes:
        return complete
    return add_metadata(_TooLarge(result, max_bytes, needed, items_before, arguments).cut())


@dataclass(frozen=True, slots=True)
class _TooLarge:
    """A result that needs more than `max_bytes`."""

    result: Result
    max_bytes: int
    needed: int
    items_before: int | None
    arguments: frozenset[str]

    def cut(self) -> Result:
        return self._cut_data() if self.result.text is None else self._cut_data_and_text()

    def _cut_data(self) -> Result:
        items = self.result.data.get("items")
        if isinstance(items, list) and len(items) > 1:
            return (
                self._drop_items()
                or replace(self, result=self._keep_items(1))._shorten_members()
                or self._drop_members()
            )
        return self._shorten_members() or self._drop_members()

    def _cut_data_and_text(self) -> Result:
        """The data may take half of the bytes, and the text takes what the data leaves."""
        text, half = self.result.text, self.max_bytes // 2
        without_text = replace(self.result, text=None)
        if text_size(add_metadata(without_text)) > half:
            without_text = replace(self, result=without_text, max_bytes=half)._cut_data()
        return replace(self, result=replace(without_text, text=text))._cut_text() or self._drop_members()

    def _fits(self, result: Result) -> bool:
        return text_size(add_metadata(result)) <= self.max_bytes

    def _largest_that_fits(self, least: int, most: int, cut: Callable[[int], Result]) -> Result | None:
        """What `cut` makes of the largest number from `least` to `most` with which the result fits."""
        largest = None
        while least <= most:
            middle = (least + most) // 2
            result = cut(middle)
            if self._fits(result):
                largest, least = result, middle + 1
            else:
                most = middle - 1
        return largest

    def _cut_text(self) -> Result | None:
        text = self.result.text
        assert text is not None
        if isinstance(text, DiffText) and (fewer := self._drop_files(text)) is not None:
            return fewer
        lines = self._lines_that_may_fit(text)
        # The one at the far end may be cut already.
        line = lines[-1] if isinstance(text, TailText) else lines[0]
        whole = len(lines) if len(text.content) <= self.max_bytes else len(lines) - 1
        return self._largest_that_fits(
            1, whole, lambda count: self._keep_lines(lines, count)
        ) or self._largest_that_fits(0, len(line), lambda length: self._keep_part_of_line(line, length))

    def _lines_that_may_fit(self, text: Text) -> list[str]:
        """No more than can be shown: a list of all lines takes many times the memory of the text."""
        most = self.max_bytes
        if isinstance(text, TailText):
            return text.content[-most:].split("\n")
        return text.content[:most].split("\n")

    def _drop_files(self, text: DiffText) -> Result | None:
        """Keeps whole files in their order. One that is too long does not hide those after it."""
        files = _FILE_START.split(text.content)
        room = self.max_bytes - text_size(add_metadata(replace(self.result, text=replace(text, content=""))))
        while room > 0:
            kept, size = list[int](), 0
            for index, file in enumerate(files):
                if size + len(file.encode()) + 1 <= room:
                    kept.append(index)
                    size += len(file.encode()) + 1
            if not kept:
                return None
            result = self._keep_files(text, files, kept)
            if self._fits(result):
                return result
            room = size - 1
        return None

    def _keep_files(self, text: DiffText, files: Sequence[str], kept: Sequence[int]) -> Result:
        shown = set(kept)
        omitted = [file for index, file in enumerate(files) if index not in shown]
        if not omitted:
            return self.result
        first_omitted = _FILE_NAME.sub("", omitted[0].partition("\n")[0])[:200]
        omission = Omission("diffs of files", len(omitted), self._more_bytes(), first_omitted)
        content = "\n".join(files[index] for index in kept)
        return _with_omissions(replace(self.result, text=replace(text, content=content)), omission)

    def _keep_lines(self, lines: Sequence[str], count: int) -> Result:
        text = self.result.text
        assert text is not None
        omitted = text.content.count("\n") + 1 - count
        data = self.result.data
        start = data.get("start_line")
        if isinstance(text, TailText):
            kept = lines[len(lines) - count :]
            if isinstance(start, int):
                start += omitted
                data = {**data, "start_line": start}
            how = self._lines_before(start)
        else:
            kept = lines[:count]
            how = self._lines_from(start + count if isinstance(start, int) else None)
        result = replace(self.result, data=data, text=replace(text, content="\n".join(kept)))
        return _with_omissions(result, Omission("lines of text", omitted, how)) if omitted else result

    def _lines_before(self, line: Any) -> str:
        if isinstance(line, int) and {"start_line", "end_line"} <= self.arguments:
            return f"end_line={line - 1}"
        return self._more_bytes()

    def _lines_from(self, line: int | None) -> str:
        if line is not None and "start_line" in self.arguments:
            return f"start_line={line}"
        return self._more_bytes()

    def _keep_part_of_line(self, line: str, length: int) -> Result:
        text = self.result.text
        assert text is not None
        kept = f"{line[:length]}…" if length < len(line) else line
        omission = Omission("characters of text", len(text.content) - length, self._more_bytes())
        return _with_omissions(replace(self.result, text=replace(text, content=kept)), omission)

    def _drop_items(self) -> Result | None:
        """Drops items at the end, and names the page at which they begin."""
        fullest = self._largest_that_fits(1, len(self.result.data["items"]), self._keep_items)
        if fullest is None:
            return None
        most = len(fullest.data["items"])
        well_paged = self._keep_items(self._count_before_a_large_page(most), most)
        return well_paged if self._fits(well_paged) else fullest

    def _count_before_a_large_page(self, most: int) -> int:
        """From two thirds of `most` to `most`: the count after which the largest page can begin."""
        if self.items_before is None:
            return most
        before = self.items_before
        fewest = max(1, math.ceil(most * 2 / 3))
        return max(range(fewest, most + 1), key=lambda count: (_page_size(before + count, most), count))

    def _keep_items(self, count: int, largest_page: int = 0) -> Result:
        data = dict(self.result.data)
        omitted = len(data["items"]) - count
        data["items"] = data["items"][:count]
        if self.items_before is not None and {"page", "per_page"} <= self.arguments:
            shown = self.items_before + count
            size = _page_size(shown, max(count, largest_page))
            data["next_page"], data["per_page"] = shown // size + 1, size
            how = f"page={shown // size + 1}, per_page={size}"
        elif "per_page" in self.arguments:
            # A cursor leads behind the whole page: only a smaller page shows what is missing.
            data.pop("next_page", None)
            how = f"per_page={count}"
        else:
            how = self._more_bytes()
        return _with_omissions(replace(self.result, data=data), Omission("items", omitted, how))

    def _shorten_members(self) -> Result | None:
        """Shortens strings, then lists, as long as they stay readable; then both further."""
        longest_string, longest_list = _longest(self.result.data)
        steps: Sequence[tuple[int, int, Callable[[int], Result]]] = (
            (_READABLE_STRING, longest_string, lambda most: self._shorten(most, longest_list)),
            (_READABLE_LIST, longest_list, lambda most: self._shorten(_READABLE_STRING, most)),
            (_SHORTEST_STRING, _READABLE_STRING, lambda most: self._shorten(most, _READABLE_LIST)),
            # Never to nothing: an empty list would read as "there are none".
            (1, _READABLE_LIST, lambda most: self._shorten(_SHORTEST_STRING, most)),
        )
        for least, most, shorten in steps:
            shortened = self._largest_that_fits(least, most, shorten)
            if shortened is not None:
                return shortened
        return None

    def _shorten(self, longest_string: int, longest_list: int) -> Result:
        omitted: Counter[str] = Counter()
        data = _shorten(self.result.data, longest_string, longest_list, "", omitted)
        omissions = [Omission(what, count, self._more_bytes()) for what, count in omitted.most_common()]
        return _with_omissions(replace(self.result, data=data), *omissions)

    def _drop_members(self) -> Result:
        """The last resort: drops members at the end, and if need be all of them and the warnings."""
        data = self._shorten(_SHORTEST_STRING, 1).data
        names = list(data)
        what = "members" if self.result.text is None else "members and the text"

        def keep(count: int, warnings: Sequence[Notice]) -> Result:
            kept = {name: data[name] for name in names[:count]}
            omission = Omission(what, len(names) - count, self._more_bytes())
            result = Result(data=kept, image=self.result.image, warnings=warnings, truncated=(omission,))
            return replace(result, undo=self.result.undo)

        return (
            self._largest_that_fits(0, len(names), lambda count: keep(count, self.result.warnings))
            or self._largest_that_fits(0, len(names), lambda count: keep(count, ()))
            or replace(keep(0, ()), undo=None)
        )

    def _more_bytes(self) -> str:
        if self.needed <= MOST_BYTES:
            return f"max_bytes={min(MOST_BYTES, math.ceil((self.needed + 500) / 1000) * 1000)}"
        if self.max_bytes < MOST_BYTES:
            return f"max_bytes={MOST_BYTES} (not all of it)"
        return "ask for less at once"


def _with_omissions(result: Result, *omissions: Omission) -> Result:
    every = [*result.truncated, *omissions]
    if len(every) > _MOST_OMISSIONS:
        rest = every[_MOST_OMISSIONS - 1 :]
        every = [
            *every[: _MOST_OMISSIONS - 1],
            Omission("more places", len(rest), rest[0].how_to_get_it),
        ]
    return replace(result, truncated=tuple(every))


def _plain(path: str) -> str:
    """The names of members on the way: in a sentence of ours only as names, whatever GitLab called them."""
    return re.sub(r"[^\w.]+", "_", path[-80:])


def _shorten(value: Any, longest_string: int, longest_list: int, path: str, omitted: Counter[str]) -> Any:
    """The value with shorter strings and lists. What is cut is counted in `omitted`."""
    if isinstance(value, str) and len(value) > longest_string:
        omitted[f"characters of {_plain(path)}"] += len(value) - longest_string
        return f"{value[:longest_string]}…"
    if isinstance(value, list):
        if len(value) > longest_list:
            omitted[f"entries of {_plain(path)}"] += len(value) - longest_list
        return [_shorten(item, longest_string, longest_list, path, omitted) for item in value[:longest_list]]
    if isinstance(value, Mapping):
        return {
            name: _shorten(member, longest_string, longest_list, f"{path}.{name}" if path else name, omitted)
            for name, member in value.items()
        }
    return value


def _longest(value: Any) -> tuple[int, int]:
    """The length of the longest string and of the longest list inside."""
    if isinstance(value, str):
        return len(value), 0
    inner: list[tuple[int, int]] = []
    if isinstance(value, Mapping):
        inner = [_longest(member) for member in value.values()]
    elif isinstance(value, list):
        inner = [(0, len(value)), *map(_longest, value)]
    return max((length for length, _ in inner), default=0), max((length for _, length in inner), default=0)


def _page_size(items_before: int, most: int) -> int:
    """The largest page size, at most `most`, with which a page begins right after `items_before` items."""
    return next(size for size in range(min(most, _LARGEST_PAGE), 0, -1) if items_before % size == 0)

"""No answer is longer than was asked for, and none is cut in silence.

Items go from the end of a list; then long strings, long inner lists and at last whole members of an object;
text goes at a line end. What was left out, and how to get it, is said in `truncated`.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gitlab_mcp.actions.call import MOST_BYTES
from gitlab_mcp.actions.result import Notice, Result
from gitlab_mcp.results.blocks import weight
from gitlab_mcp.results.envelope import seal
from gitlab_mcp.results.texts import Diff, Tail

_GOOD_STRING = 500
_POOR_STRING = 40
_GOOD_LIST = 3
_MOST_ENTRIES = 4
_FILE_START = re.compile(r"\n(?=diff --git )")
_FILE_NAME = re.compile(r"^diff --git a/.* b/")


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a numbered list the items are, so that what was cut off can be asked for."""

    before: int
    """How many items come before the first one."""
    per_page: int


def fit(
    result: Result, max_bytes: int, *, place: Place | None = None, asks: frozenset[str] = frozenset()
) -> Result:
    """The result cut to `max_bytes`, and sealed. `asks` are the arguments the action knows."""
    sealed = seal(result)
    needed = weight(sealed)
    if needed <= max_bytes:
        return sealed
    cut = _Cut(result, max_bytes, needed, place, asks)
    return seal(cut.payload_and_text() if result.text is not None else cut.payload())


@dataclass(frozen=True, slots=True)
class _Cut:
    result: Result
    max_bytes: int
    needed: int
    place: Place | None
    asks: frozenset[str]

    def fits(self, result: Result) -> bool:
        return weight(seal(result)) <= self.max_bytes

    def payload(self) -> Result:
        items = self.result.data.get("items")
        if isinstance(items, list) and len(items) > 1:
            return (
                self._fewer_items()
                or replace(self, result=self._with_items(1))._shorter_members()
                or self._next_to_nothing()
            )
        return self._shorter_members() or self._next_to_nothing()

    def payload_and_text(self) -> Result:
        """The text takes what the JSON leaves; a JSON larger than half of the room is cut to that half."""
        text, half = self.result.text, self.max_bytes // 2
        alone = replace(self.result, text=None)
        if weight(seal(alone)) > half:
            alone = replace(self, result=alone, max_bytes=half).payload()
        return replace(self, result=replace(alone, text=text))._shorter_text() or self._next_to_nothing()

    def _shorter_text(self) -> Result | None:
        text = self.result.text
        assert text is not None
        if isinstance(text, Diff) and (fewer := self._fewer_files(text)) is not None:
            return fewer
        lines = text.content.split("\n")
        count = _largest(1, len(lines), lambda count: self.fits(self._with_lines(lines, count)))
        if count is not None:
            return self._with_lines(lines, count)
        line = lines[-1] if isinstance(text, Tail) else lines[0]
        length = _largest(0, len(line), lambda length: self.fits(self._with_line(line, length)))
        return None if length is None else self._with_line(line, length)

    def _fewer_files(self, text: Diff) -> Result | None:
        """Whole files in their order; one that is too long for the room does not hide those after it."""
        files = _FILE_START.split(text.content)
        room = self.max_bytes - weight(seal(replace(self.result, text=replace(text, content=""))))
        while room > 0:
            kept, size = list[int](), 0
            for index, file in enumerate(files):
                if size + len(file.encode()) + 1 <= room:
                    kept.append(index)
                    size += len(file.encode()) + 1
            if not kept:
                return None
            result = self._with_files(text, files, kept)
            if self.fits(result):
                return result
            room = size - 1
        return None

    def _with_files(self, text: Diff, files: Sequence[str], kept: Sequence[int]) -> Result:
        omitted = len(files) - len(kept)
        if not omitted:
            return self.result
        entry = _entry("diffs of files", omitted, self._more_bytes())
        entry["first_omitted"] = next(
            _FILE_NAME.sub("", file.partition("\n")[0])[:200]
            for index, file in enumerate(files)
            if index not in kept
        )
        content = "\n".join(files[index] for index in kept)
        return _saying(replace(self.result, text=replace(text, content=content)), entry)

    def _with_lines(self, lines: Sequence[str], count: int) -> Result:
        text, omitted = self.result.text, len(lines) - count
        assert text is not None
        data = self.result.data
        if isinstance(text, Tail):
            kept = lines[omitted:]
            if isinstance(first := data.get("start_line"), int):
                data = {**data, "start_line": first + omitted}
            how = self._more_lines(data.get("start_line"), before=True)
        else:
            kept = lines[:count]
            first = data.get("start_line")
            how = self._more_lines(first + count if isinstance(first, int) else None, before=False)
        result = replace(self.result, data=data, text=replace(text, content="\n".join(kept)))
        return _saying(result, _entry("lines of text", omitted, how)) if omitted else result

    def _more_lines(self, line: Any, *, before: bool) -> str:
        if isinstance(line, int) and before and {"start_line", "end_line"} <= self.asks:
            return f"end_line={line - 1}"
        if isinstance(line, int) and not before and "start_line" in self.asks:
            return f"start_line={line}"
        return self._more_bytes()

    def _with_line(self, line: str, length: int) -> Result:
        text = self.result.text
        assert text is not None
        kept = f"{line[:length]}…" if length < len(line) else line
        entry = _entry("characters of text", len(text.content) - length, self._more_bytes())
        return _saying(replace(self.result, text=replace(text, content=kept)), entry)

    def _fewer_items(self) -> Result | None:
        """Cut items from the end, and say the page at which they begin."""
        items = self.result.data["items"]
        most = _largest(1, len(items), lambda count: self.fits(self._with_items(count)))
        if most is None:
            return None
        well_paged = self._with_items(self._well_paged(most), most)
        return well_paged if self.fits(well_paged) else self._with_items(most)

    def _well_paged(self, most: int) -> int:
        """The count, not much below the most, after which a page of decent size begins."""
        if self.place is None:
            return most
        before = self.place.before
        fewest = max(1, math.ceil(most * 2 / 3))
        return max(range(fewest, most + 1), key=lambda count: (_page_size(before + count, most), count))

    def _with_items(self, count: int, largest_page: int = 0) -> Result:
        data = dict(self.result.data)
        omitted = len(data["items"]) - count
        data["items"] = data["items"][:count]
        paged = self.place is not None and {"page", "per_page"} <= self.asks
        if paged and self.place is not None:
            shown = self.place.before + count
            size = _page_size(shown, max(count, largest_page))
            data["next_page"], data["per_page"] = shown // size + 1, size
            how = f"page={shown // size + 1}, per_page={size}"
        elif "per_page" in self.asks:
            # A cursor leads behind the whole page: only a smaller page shows what is missing.
            data.pop("next_page", None)
            how = f"per_page={count}"
        else:
            how = self._more_bytes()
        return _saying(replace(self.result, data=data), _entry("items", omitted, how))

    def _shorter_members(self) -> Result | None:
        """Shorten what is inside: strings, then lists, then strings and lists more than one would like."""
        data = self.result.data
        longest_string, longest_list = _longest(data)
        stages: Sequence[tuple[int, int, Callable[[int], Result]]] = (
            (_GOOD_STRING, longest_string, lambda most: self._within(most, longest_list)),
            (_GOOD_LIST, longest_list, lambda most: self._within(_GOOD_STRING, most)),
            (_POOR_STRING, _GOOD_STRING, lambda most: self._within(most, _GOOD_LIST)),
            (0, _GOOD_LIST, lambda most: self._within(_POOR_STRING, most)),
        )
        for least, most, within in stages:
            found = _largest(least, most, lambda size, within=within: self.fits(within(size)))  # type: ignore[misc]
            if found is not None:
                return within(found)
        return None

    def _within(self, string: int, array: int) -> Result:
        omitted: Counter[str] = Counter()
        data = _shorten(self.result.data, string, array, "", omitted)
        entries = [_entry(what, count, self._more_bytes()) for what, count in omitted.most_common()]
        return _saying(replace(self.result, data=data), *entries)

    def _next_to_nothing(self) -> Result:
        """Members from the end, and at the very last all but the fact that something was cut."""
        payload = self._within(_POOR_STRING, 1).data
        names = list(payload)
        also = " and the text" if self.result.text is not None else ""

        def first(count: int, warnings: Sequence[Notice]) -> Result:
            kept = {name: payload[name] for name in names[:count]}
            entry = _entry(f"members{also}", len(names) - count, self._more_bytes())
            return Result(data=kept, image=self.result.image, warnings=warnings, truncated=(entry,))

        for warnings in (self.result.warnings, ()):
            count = _largest(0, len(names), lambda count, said=warnings: self.fits(first(count, said)))  # type: ignore[misc]
            if count is not None:
                return first(count, warnings)
        return first(0, ())

    def _more_bytes(self) -> str:
        if self.needed <= MOST_BYTES:
            return f"max_bytes={min(MOST_BYTES, math.ceil((self.needed + 500) / 1000) * 1000)}"
        if self.max_bytes < MOST_BYTES:
            return f"max_bytes={MOST_BYTES} (not all of it)"
        return "ask for less at once"


def _saying(result: Result, *entries: Mapping[str, Any]) -> Result:
    said = [*result.truncated, *entries]
    if len(said) > _MOST_ENTRIES:
        rest = said[_MOST_ENTRIES - 1 :]
        said = [*said[: _MOST_ENTRIES - 1], _entry("more places", len(rest), rest[0]["how_to_get_it"])]
    return replace(result, truncated=tuple(said))


def _entry(what: str, omitted: int, how: str) -> dict[str, Any]:
    return {"what": what, "omitted": omitted, "how_to_get_it": how}


def _shorten(value: Any, string: int, array: int, path: str, omitted: Counter[str]) -> Any:
    if isinstance(value, str) and len(value) > string:
        omitted[f"characters of {path[-80:]}"] += len(value) - string
        return f"{value[:string]}…"
    if isinstance(value, list):
        if len(value) > array:
            omitted[f"entries of {path[-80:]}"] += len(value) - array
        return [_shorten(item, string, array, path, omitted) for item in value[:array]]
    if isinstance(value, Mapping):
        return {
            name: _shorten(member, string, array, f"{path}.{name}" if path else name, omitted)
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


def _largest(least: int, most: int, good: Callable[[int], bool]) -> int | None:
    """The largest number for which `good` holds, if it holds for small ones and not for large ones."""
    found = None
    while least <= most:
        middle = (least + most) // 2
        if good(middle):
            found, least = middle, middle + 1
        else:
            most = middle - 1
    return found


def _page_size(before: int, most: int) -> int:
    """The largest size of a page, at most `most`, with which a page begins right after `before` items."""
    return next(size for size in range(min(most, 100), 0, -1) if before % size == 0)

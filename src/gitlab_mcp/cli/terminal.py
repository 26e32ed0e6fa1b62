"""Writing to a terminal, a pipe or a file: tables, colours, a progress bar."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TextIO

from gitlab_mcp.cli import exit_codes
from gitlab_mcp.failures.failure import Failure

_COLORS = {"red": "31", "green": "32", "yellow": "33", "bold": "1", "dim": "2"}
_NARROWEST_COLUMN = 8
_SHORT_ENOUGH = 24
"""A wider column is cut on a terminal, unless it identifies the row."""
_IDENTIFYING = (
    "iid",
    "id",
    "name",
    "tag_name",
    "username",
    "path_with_namespace",
    "full_path",
    "path",
    "key",
    "slug",
)


def write_line(text: str = "", stream: TextIO | None = None) -> None:
    stream = stream or sys.stdout
    encoding = stream.encoding or "utf-8"
    stream.write(text.encode(encoding, "replace").decode(encoding) + "\n")


def write_json(value: Any) -> None:
    # Escapes where the encoding lacks characters, as on a Windows console: a program must get what was answered.
    is_unicode = (sys.stdout.encoding or "utf-8").lower().startswith("utf")
    indent = 2 if sys.stdout.isatty() else None
    text = json.dumps(value, ensure_ascii=not is_unicode, indent=indent, default=str)
    write_line(printable(text))


def printable(text: str) -> str:
    """Without invisible characters: text from GitLab must not move the cursor or retitle the window."""
    from gitlab_mcp.failures.invisible_characters import without_invisible

    return without_invisible(text)


def colored(text: str, color: str, stream: TextIO, *, no_color: bool) -> str:
    if no_color or not stream.isatty():
        return text
    return f"\x1b[{_COLORS[color]}m{text}\x1b[0m"


def width(at_most: int = 120) -> int:
    """The columns of the terminal, at most `at_most`: longer lines of text are hard to read."""
    # Here, not above: what is written to a file or a pipe needs neither this nor textwrap.
    import shutil

    return min(shutil.get_terminal_size((100, 24)).columns, at_most)


def wrapped(text: str, indent: str = "") -> str:
    import textwrap

    lines = (
        textwrap.fill(line, width(), initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)
        for line in text.splitlines()
    )
    return "\n".join(lines)


def table(rows: Sequence[Sequence[str]], headings: Sequence[str]) -> str:
    """Aligned columns. On a terminal long cells are cut to fit its width; a file or a pipe gets them whole."""
    lines = [headings, *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    if sys.stdout.isatty():
        widths = _fit(widths, width(at_most=1000))
    return "\n".join(
        "  ".join(_truncate(text, size).ljust(size) for text, size in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def _fit(widths: list[int], whole: int) -> list[int]:
    """Narrows the widest column first."""
    widths = list(widths)
    while sum(widths) + 2 * (len(widths) - 1) > whole and max(widths) > _NARROWEST_COLUMN:
        widths[widths.index(max(widths))] -= 1
    return widths


def _truncate(text: str, size: int) -> str:
    return text if len(text) <= size else text[: size - 1] + "…"


def format_answer(data: Mapping[str, Any]) -> str:
    """An answer for a person: a table of its items, then the other keys with their values."""
    rest = {key: value for key, value in data.items() if key not in ("items", "untrusted")}
    parts = []
    items = data.get("items")
    if items and isinstance(items, list) and all(isinstance(item, Mapping) for item in items):
        columns = list(dict.fromkeys(key for item in items for key in item))
        parts.append(_table_of_items(items, columns))
    elif items is not None:
        parts.append("\n".join(_cell(item) for item in items) or "Nothing found.")
    if rest:
        parts.append("\n".join(_named_lines(rest)))
    return "\n\n".join(parts)


def _table_of_items(items: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> str:
    """On a terminal without the columns for which there is no room; what identifies a row stays, and stays whole."""
    rows = [[_cell(item.get(column)) for column in columns] for item in items]
    if not sys.stdout.isatty():
        return table(rows, [column.upper() for column in columns])
    widths = [
        max(len(name), *map(len, cells)) for name, cells in zip(columns, zip(*rows, strict=True), strict=True)
    ]
    room = width(at_most=1000)
    kept = [index for index, name in enumerate(columns) if name in _IDENTIFYING]
    room -= sum(widths[index] + 2 for index in kept)
    if room < 0:
        return table(rows, [column.upper() for column in columns])
    for index in range(len(columns)):
        needed = min(widths[index], _SHORT_ENOUGH) + 2
        if index not in kept and needed <= room:
            kept.append(index)
            room -= needed
    kept.sort()
    narrow = [
        widths[index] if columns[index] in _IDENTIFYING else min(widths[index], _SHORT_ENOUGH)
        for index in kept
    ]
    lines = [[columns[index].upper() for index in kept], *([row[index] for index in kept] for row in rows)]
    shown = [
        "  ".join(_truncate(text, size).ljust(size) for text, size in zip(line, narrow, strict=True)).rstrip()
        for line in lines
    ]
    left_out = [name for index, name in enumerate(columns) if index not in kept]
    note = [f"No room for: {', '.join(left_out)} (--json has all)."] if left_out else []
    return "\n".join([*shown, *note])


def _named_lines(values: Mapping[str, Any], indent: str = "") -> Iterator[str]:
    """One line a value, aligned; nested values follow on indented lines."""
    longest = max((len(key) for key, value in values.items() if _is_flat(value)), default=0)
    for key, value in ((_cell(name), value) for name, value in values.items()):
        if _is_flat(value):
            yield _fold(f"{indent}{key.ljust(longest)}  ", _cell(value))
        else:
            yield f"{indent}{key}"
            yield from _nested_lines(value, indent + "  ")


def _nested_lines(value: Any, indent: str) -> Iterator[str]:
    if isinstance(value, Mapping):
        yield from _named_lines(value, indent)
        return
    for each in value:
        if _is_flat(each):
            yield _fold(f"{indent}- ", _cell(each))
        else:
            first, *more = _nested_lines(each, indent + "  ")
            yield f"{indent}- {first[len(indent) + 2 :]}"
            yield from more


def _is_flat(value: Any) -> bool:
    if isinstance(value, Mapping):
        return not value
    return not isinstance(value, list) or not any(isinstance(each, Mapping | list) for each in value)


def _fold(beginning: str, text: str) -> str:
    """On a terminal, long text is wrapped and indented below `beginning`; elsewhere it stays one line."""
    room = width() - len(beginning)
    if not sys.stdout.isatty() or len(text) <= room or room < _NARROWEST_COLUMN:
        return (beginning + text).rstrip()
    import textwrap

    return textwrap.fill(
        text,
        width(),
        initial_indent=beginning,
        subsequent_indent=" " * len(beginning),
        break_long_words=False,
        break_on_hyphens=False,
    )


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list) and _is_flat(value):
        return ", ".join(_cell(each) for each in value)
    if isinstance(value, Mapping | list):
        return printable(json.dumps(value, ensure_ascii=False, default=str))
    return printable(str(value)).replace("\n", " ")


def show_failure(failure: Failure, *, no_color: bool = True) -> int:
    """Writes a failure to stderr, for a person, and returns its exit code."""
    from gitlab_mcp.failures.render import as_text

    head, _, rest = printable(as_text(failure)).replace("**", "").partition("\n")
    write_line(colored(head, "red", sys.stderr, no_color=no_color), sys.stderr)
    if rest.strip():
        write_line(rest.rstrip(), sys.stderr)
    return exit_codes.for_failure(failure.code)


class ProgressBar:
    """Drawn only where the stream is a terminal."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream if stream.isatty() else None
        self._shown = False

    def __call__(self, done: float, total: float | None, what: str) -> None:
        if self._stream is None:
            return
        bar = f"{done:g}"
        if total:
            full = round(20 * min(done / total, 1))
            bar = f"[{'#' * full}{'.' * (20 - full)}] {done:g}/{total:g}"
        self._stream.write(f"\r\x1b[K{_truncate(f'{bar} {printable(what)}', width() - 1)}")
        self._stream.flush()
        self._shown = True

    def clear(self) -> None:
        if self._stream is not None and self._shown:
            self._stream.write("\r\x1b[K")
            self._stream.flush()

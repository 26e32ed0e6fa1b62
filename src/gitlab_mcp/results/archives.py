"""Lists the files in an archive without unpacking them."""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Iterator
from typing import Any, BinaryIO, cast

from gitlab_mcp.actions.result import Omission, Result

LARGEST_ARCHIVE = 100 * 1024 * 1024
MOST_FILES = 2_000
MOST_ENTRIES = 20_000
"""For each of them the standard library keeps an object, of all at once."""
_SMALLEST_ENTRY = 46
"""In the list of files at the end of an archive."""
_IN_MEMORY = 256 * 1024
"""A larger archive is kept in a temporary file while it is read."""


def archive_result(chunks: Iterator[bytes]) -> Result:
    """The files in a zip archive. The archive must be read whole, since its list of files is at its end."""
    with tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY) as archive:
        size = 0
        for chunk in chunks:
            size += len(chunk)
            if size > LARGEST_ARCHIVE:
                return Result(
                    data={
                        "larger_than": LARGEST_ARCHIVE,
                        "why_empty": "The archive is too large to look into.",
                    }
                )
            archive.write(chunk)
        try:
            if (entries := _most_entries(cast(BinaryIO, archive))) > MOST_ENTRIES:
                return _too_many(entries, size)
            return _list_files(cast(BinaryIO, archive), size)
        except (zipfile.BadZipFile, NotImplementedError, ValueError, OverflowError):
            return Result(data={"size": size, "why_empty": "The archive is not a zip file."})


def _most_entries(archive: BinaryIO) -> int:
    """How many entries the list at the end can hold, by its own length: the number beside it may be a lie."""
    # The standard library finds the end of an archive, of both formats, and has no public name for it.
    end = zipfile._EndRecData(archive)  # type: ignore[attr-defined]
    if not end:
        raise zipfile.BadZipFile
    return int(end[_LENGTH_OF_LIST]) // _SMALLEST_ENTRY


_LENGTH_OF_LIST = 5


def _too_many(entries: int, size: int) -> Result:
    how = "read a file by its path: browse_jobs artifact_file"
    why = "The archive holds more files than are listed."
    return Result(
        data={"items": [], "archive_size": size, "why_empty": why},
        truncated=[Omission("files", entries, how)],
    )


def _list_files(archive: BinaryIO, size: int) -> Result:
    with zipfile.ZipFile(archive) as opened:
        files = [entry for entry in opened.infolist() if not entry.is_dir()]
    items = [{"path": file.filename, "size": file.file_size} for file in files[:MOST_FILES]]
    data: dict[str, Any] = {"items": items, "total": len(files), "archive_size": size}
    omitted = len(files) - len(items)
    how = "read a file by its path: browse_jobs artifact_file"
    return Result(data=data, truncated=[Omission("files", omitted, how)] if omitted else [])

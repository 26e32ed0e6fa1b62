"""Lists the files in an archive without unpacking them."""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Iterator
from typing import Any, BinaryIO, cast

from gitlab_mcp.actions.result import Omission, Result

LARGEST_ARCHIVE = 100 * 1024 * 1024
MOST_FILES = 2_000
_IN_MEMORY = 1024 * 1024
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
            return _list_files(cast(BinaryIO, archive), size)
        except zipfile.BadZipFile:
            return Result(data={"size": size, "why_empty": "The archive is not a zip file."})


def _list_files(archive: BinaryIO, size: int) -> Result:
    with zipfile.ZipFile(archive) as opened:
        files = [entry for entry in opened.infolist() if not entry.is_dir()]
    items = [{"path": file.filename, "size": file.file_size} for file in files[:MOST_FILES]]
    data: dict[str, Any] = {"items": items, "total": len(files), "archive_size": size}
    omitted = len(files) - len(items)
    how = "read a file by its path: browse_jobs artifact_file"
    return Result(data=data, truncated=[Omission("files", omitted, how)] if omitted else [])

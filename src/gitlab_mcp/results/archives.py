"""Archives: which files they hold, without unpacking any."""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Iterator
from typing import Any, BinaryIO, cast

from gitlab_mcp.actions.result import Result

LARGEST = 100 * 1024 * 1024
MOST_FILES = 2_000
_IN_MEMORY = 1024 * 1024


def archive_result(chunks: Iterator[bytes]) -> Result:
    """The files in a zip archive. Its directory is at its end, so it must be read whole, though not kept."""
    with tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY) as kept:
        size = 0
        for chunk in chunks:
            size += len(chunk)
            if size > LARGEST:
                return Result(
                    data={"larger_than": LARGEST, "why_empty": "The archive is too large to look into."}
                )
            kept.write(chunk)
        try:
            return _listed(cast(BinaryIO, kept), size)
        except zipfile.BadZipFile:
            return Result(data={"size": size, "why_empty": "The archive is not a zip file."})


def _listed(archive: BinaryIO, size: int) -> Result:
    with zipfile.ZipFile(archive) as opened:
        files = [entry for entry in opened.infolist() if not entry.is_dir()]
    shown: list[dict[str, Any]] = [{"path": file.filename, "size": file.file_size} for file in files]
    data: dict[str, Any] = {"items": shown[:MOST_FILES], "total": len(files), "archive_size": size}
    left_out = len(files) - MOST_FILES
    how = "read a file by its path: browse_jobs artifact_file"
    truncated = [{"what": "files", "omitted": left_out, "how_to_get_it": how}] if left_out > 0 else []
    return Result(data=data, truncated=truncated)

"""Files that GitLab makes on request: exports, read as text as far as an answer can hold them."""

from __future__ import annotations

from collections.abc import Iterator

from gitlab_mcp.actions.exchange import GitLab, Request
from gitlab_mcp.actions.result import Notice, Result, Text
from gitlab_mcp.failures.codes import NoticeCode

LARGEST = 2_000_000


async def downloaded(gitlab: GitLab, request: Request, name: str) -> Result:
    content, whole = await gitlab.stream(request, lambda chunks, _: _beginning(chunks))
    text = content.decode("utf-8", "replace")
    message = f"Only the first {LARGEST} bytes were read."
    return Result(
        data={"size": len(content), "lines": text.count("\n")} if whole else {"larger_than": LARGEST},
        text=Text(text, name),
        warnings=[] if whole else [Notice(NoticeCode.TRUNCATED, message)],
    )


def _beginning(chunks: Iterator[bytes]) -> tuple[bytes, bool]:
    read = bytearray()
    for chunk in chunks:
        read += chunk
        if len(read) > LARGEST:
            return bytes(read[:LARGEST]), False
    return bytes(read), True

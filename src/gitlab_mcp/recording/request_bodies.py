"""The body of a request as it is recorded: of a file its name and size, never what it holds."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from gitlab_mcp.gitlab.transport import Outgoing

FILES: Final = "_multipart"
"""The member that names the files of a form: `{"_multipart": {"file": ["note.txt", "8 bytes"]}}`."""
CONTENT: Final = "_content"
"""The only member of a body that is a file as it is: `{"_content": "8 bytes"}`."""
_BOUNDARY: Final = re.compile(r"multipart/form-data; boundary=(\S+)")
_NAME: Final = re.compile(rb'; name="([^"]*)"')
_FILENAME: Final = re.compile(rb'; filename="([^"]*)"')


def recorded_body(request: Outgoing) -> str | None:
    return next(recorded_bodies(request))


def recorded_bodies(request: Outgoing) -> Iterator[str | None]:
    """As it is recorded; then as recordings of other programs have it: a form without its files, a file as text."""
    kind = str(request.headers.get("Content-Type", ""))
    body = request.body
    form = _BOUNDARY.fullmatch(kind)
    if form and isinstance(body, bytes):
        fields, files = _parts(body, form[1].encode())
        yield json.dumps({FILES: files, **fields})
        yield json.dumps(fields)
    elif kind == "application/octet-stream":
        yield json.dumps({CONTENT: f"{len(body or b'')} bytes"})
        yield _text(body)
    else:
        yield _text(body)


def _parts(body: bytes, boundary: bytes) -> tuple[dict[str, Any], dict[str, list[str]]]:
    """Its fields, and its files with their sizes."""
    fields: dict[str, Any] = {}
    files: dict[str, list[str]] = {}
    for part in body.split(b"--" + boundary)[1:-1]:
        head, _, data = part[2:-2].partition(b"\r\n\r\n")
        name, filename = _NAME.search(head), _FILENAME.search(head)
        key = name[1].decode() if name else ""
        if filename:
            files[key] = [filename[1].decode(), f"{len(data)} bytes"]
        elif key.endswith("[]"):
            fields.setdefault(key.removesuffix("[]"), []).append(data.decode())
        else:
            fields[key] = data.decode()
    return fields, files


def _text(body: Any) -> str | None:
    return body.decode("utf-8", "surrogateescape") if isinstance(body, bytes) else body

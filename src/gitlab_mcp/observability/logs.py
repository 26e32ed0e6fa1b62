"""Log lines as text or JSON, to standard error: standard output belongs to the protocol."""

from __future__ import annotations

import json
import logging
import sys
import traceback
from contextvars import ContextVar
from datetime import UTC, datetime

from gitlab_mcp.failures.secret_text import redact_trace
from gitlab_mcp.observability.log_redaction import allowed_fields, quiet_libraries

REQUEST_ID: ContextVar[str | None] = ContextVar("request_id", default=None)
"""The HTTP request being served. Lines of libraries carry it too."""
_MOST_FRAMES = 40
_LONGEST_TRACE = 200


def configure(level: str, format: str) -> None:
    """Must come before the MCP SDK is used, which otherwise sets up the root logger itself."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines() if format == "json" else TextLines())
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    quiet_libraries()


def _fields(record: logging.LogRecord) -> dict[str, object]:
    request_id = REQUEST_ID.get()
    fields = {
        name: redact_trace(value) if isinstance(value, str) else value
        for name, value in allowed_fields(record).items()
    }
    return {"request_id": request_id, **fields} if request_id else fields


class JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": redact_trace(record.getMessage()),
            **_fields(record),
        }
        if record.exc_info:
            line["trace"] = "\n".join(trace(record.exc_info[1]))
        return json.dumps(line, ensure_ascii=True)


class TextLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        fields = " ".join(f"{name}={value}" for name, value in _fields(record).items())
        line = f"{record.levelname.lower():<8}{record.getMessage()} {fields}".rstrip()
        return "\n".join([_escaped(redact_trace(line)), *self._trace(record)])

    def _trace(self, record: logging.LogRecord) -> list[str]:
        lines = trace(record.exc_info[1]) if record.exc_info else []
        return ["    | " + _escaped(line) for line in lines]


def trace(error: BaseException | None) -> list[str]:
    """Where it was raised: file, line and function of each frame, and the types of the errors. Their texts may quote
    what GitLab or a caller sent, and are left out."""
    lines: list[str] = []
    while error is not None and len(lines) < _LONGEST_TRACE:
        frames = traceback.extract_tb(error.__traceback__)[-_MOST_FRAMES:]
        lines += [f"{frame.filename}:{frame.lineno} in {frame.name}" for frame in frames]
        lines.append(f"{type(error).__module__}.{type(error).__qualname__}")
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return lines


def _escaped(text: str) -> str:
    """A line break or an escape sequence in a name must not start a new log line or colour the terminal."""
    return text.encode("unicode_escape").decode("ascii")

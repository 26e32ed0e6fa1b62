"""Where log lines go and how they look. Standard error only: standard output belongs to the protocol."""

from __future__ import annotations

import json
import logging
import sys
from contextvars import ContextVar
from datetime import UTC, datetime

from gitlab_mcp.failures.secret_text import redact_trace

REQUEST_ID: ContextVar[str | None] = ContextVar("request_id", default=None)
"""The request being served, where there are several at once: lines of libraries carry it too."""

FIELDS = (
    "component",
    "operation",
    "error_code",
    "http_status",
    "exception_type",
    "event_id",
    "duration_ms",
    "method",
    "path",
)
"""What a line may carry beside its sentence. Nothing else is ever written: no arguments, no bodies, no tokens."""


def configure(level: str, format: str) -> None:
    """Before anything of the SDK is built: it sets up the root logger itself where nobody has."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines() if format == "json" else TextLines())
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    # Their lines name URLs, and with them projects.
    for name in ("urllib3", "httpx", "mcp.server", "uvicorn"):
        logging.getLogger(name).setLevel(max(logging.WARNING, logging.getLogger().level))


def _known(record: logging.LogRecord) -> dict[str, object]:
    found = {name: value for name in FIELDS if (value := getattr(record, name, None)) is not None}
    served = REQUEST_ID.get()
    return {"request_id": served, **found} if served else found


class JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **_known(record),
        }
        if record.exc_info:
            line["trace"] = redact_trace(self.formatException(record.exc_info))
        return json.dumps(line, ensure_ascii=True)


class TextLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        known = " ".join(f"{name}={value}" for name, value in _known(record).items())
        line = f"{record.levelname.lower():<8}{record.getMessage()} {known}".rstrip()
        return "\n".join([_escaped(line), *self._trace(record)])

    def _trace(self, record: logging.LogRecord) -> list[str]:
        """Set in, so that no line of it, whatever an exception says, can be taken for a line of the log."""
        trace = redact_trace(self.formatException(record.exc_info)) if record.exc_info else ""
        return ["    | " + _escaped(line) for line in trace.splitlines()]


def _escaped(text: str) -> str:
    """A line break or a colour in a name somebody chose must not begin a line of the log, or paint it."""
    return text.encode("unicode_escape").decode("ascii")

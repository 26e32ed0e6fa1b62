"""How tokens, and what callers and GitLab sent, are kept out of logs, audit and Sentry:

- A token is a `Secret` (`callers.py`), whose str, repr and format show nothing.
- A log line carries its sentence and the fields named here. Arguments, bodies and headers are never written.
- Libraries that log URLs are quiet below warnings.
- Sentry gets stack traces without the texts of exceptions, which may quote what somebody sent, and without variables.
- A stack trace in the log names files, lines, functions and types (`logs.py`).
- What looks like a secret, and the caller's own token, is replaced in log lines (`logs.py`), in failures
  (`calls/dispatch.py`) and in audit lines (`app.py`). What a secret is stands in `failures/secret_text.py`.
"""

from __future__ import annotations

import logging
from typing import Any, Final

CAUSE_FIELDS: Final = (
    "confidence",
    "missing",
    "missing_fields",
    "state",
    "switch",
    "role_required",
    "scope_required",
    "tier_required",
    "token_problem",
    "network_problem",
    "attempts",
    "limit_type",
    "gitlab_request_id",
)
"""The facts of a failure that say why, in words of ours alone: no value that a caller or GitLab chose."""
FIELDS: Final = (
    "component",
    "operation",
    "error_code",
    "http_status",
    "exception_type",
    "event_id",
    *CAUSE_FIELDS,
    "duration_ms",
    "method",
    "path",
)


def allowed_fields(record: logging.LogRecord) -> dict[str, object]:
    """Of what was passed as `extra=`, only the known fields."""
    return {name: value for name in FIELDS if (value := getattr(record, name, None)) is not None}


def quiet_libraries() -> None:
    for name in ("urllib3", "httpx", "mcp.server", "uvicorn"):
        logging.getLogger(name).setLevel(max(logging.WARNING, logging.getLogger().level))


def without_exception_texts(sentry_exception: Any) -> Any:
    for each in sentry_exception["values"]:
        each["value"] = ""
    return sentry_exception

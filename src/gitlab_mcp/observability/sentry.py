"""Reports failures with a status of 500 or more to Sentry, if a DSN is set and the SDK is installed."""

from __future__ import annotations

import logging
from importlib import import_module
from typing import Any

from gitlab_mcp import __version__
from gitlab_mcp.callers import Secret
from gitlab_mcp.observability.log_redaction import CAUSE_FIELDS, without_exception_texts
from gitlab_mcp.observability.outcome import Outcome

log = logging.getLogger("gitlab_mcp.sentry")


class Sentry:
    """A client of its own: nothing global, no integrations, no local variables, no request data."""

    def __init__(self, dsn: Secret, **options: Any) -> None:
        self._dsn = dsn
        self._options = options
        self._client: Any = None
        self._not_installed = False

    def __call__(self, outcome: Outcome, bug: Exception | None) -> str | None:
        """Sentry's event id; None where nothing was reported."""
        failure = outcome.failure
        client = self._client_if_installed() if failure is not None else None
        if client is None or failure is None:
            return None
        event: dict[str, Any] = {
            "level": "error",
            "message": f"{outcome.operation} failed with {failure.code}",
            "logger": log.name,
            "fingerprint": [failure.code, outcome.operation, type(bug).__name__],
            "tags": {
                "error_code": failure.code,
                "operation": outcome.operation,
                "http_status": str(outcome.http_status),
            },
            "extra": {name: value for name in CAUSE_FIELDS if (value := failure.facts.get(name)) is not None},
        }
        if bug is not None:
            event["exception"] = _stack_trace(bug, client)
        captured: str | None = client.capture_event(event)
        return captured

    def close(self) -> None:
        if self._client is not None:
            self._client.close(timeout=2.0)

    def _client_if_installed(self) -> Any:
        if self._client is None and not self._not_installed:
            try:
                sdk = import_module("sentry_sdk")
            except ImportError:
                self._not_installed = True
                log.warning("a Sentry DSN is set, but the package sentry-sdk is not installed")
                return None
            self._client = sdk.Client(
                dsn=self._dsn.reveal(),
                release=__version__,
                default_integrations=False,
                include_local_variables=False,
                include_source_context=False,
                max_breadcrumbs=0,
                auto_session_tracking=False,
                send_client_reports=False,
                server_name="",
                **self._options,
            )
        return self._client


def _stack_trace(bug: Exception, client: Any) -> Any:
    event, _ = import_module("sentry_sdk.utils").event_from_exception(bug, client_options=client.options)
    return without_exception_texts(event["exception"])

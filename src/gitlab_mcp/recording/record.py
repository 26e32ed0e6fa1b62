"""Sends requests to GitLab and writes each with its answer to a cassette, without secrets."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from itertools import count
from pathlib import Path
from tempfile import mkstemp
from threading import Lock, Timer
from typing import Any

import requests
from requests.adapters import BaseAdapter

from gitlab_mcp.gitlab.address import parse_address
from gitlab_mcp.gitlab.in_flight import current_request
from gitlab_mcp.gitlab.transport import LiveAdapter
from gitlab_mcp.recording.cassette import (
    RECORDED_URL,
    Interaction,
    dump_cassette,
    dump_interaction,
    load_cassettes,
)
from gitlab_mcp.recording.matching import token_of
from gitlab_mcp.recording.request_bodies import recorded_body
from gitlab_mcp.recording.scrub import Scrubber

MAX_BODY_BYTES = 16 * 1024 * 1024
"""Of a longer body only the beginning is kept."""
# They describe the bytes of the connection. A cassette holds the decoded body.
_CONNECTION_HEADERS = frozenset(
    {"connection", "content-encoding", "content-length", "keep-alive", "transfer-encoding"}
)


class CassetteWriter:
    """Adds interactions to a cassette. The file is replaced as a whole, so that it is valid even if we are killed."""

    def __init__(self, path: Path) -> None:
        if path.suffix != ".json":
            raise ValueError("a recording is written as JSON: its name must end in .json")
        self._path = path
        existing = list(load_cassettes(path)) if path.exists() else []
        self._lines = [dump_interaction(interaction) for interaction in existing]
        self.aliases = {interaction.alias for interaction in existing}
        self._seconds_between_writes = 1.0
        self._lock = Lock()
        self._timer: Timer | None = None
        self._write()

    def add(self, interaction: Interaction) -> None:
        with self._lock:
            self._lines.append(dump_interaction(interaction))
            self.aliases.add(interaction.alias)
            if self._timer is None:
                self._timer = Timer(self._seconds_between_writes, self.flush)
                self._timer.daemon = True
                self._timer.start()

    def flush(self) -> None:
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
            started = time.monotonic()
            self._write()
            # A large file is written less often, so that writing takes at most a tenth of the time.
            self._seconds_between_writes = max(
                self._seconds_between_writes, 10 * (time.monotonic() - started)
            )

    def _write(self) -> None:
        # Made new under a name that nobody can foresee, for the owner alone; a symbolic link is replaced, not followed.
        descriptor, name = mkstemp(prefix=f".{self._path.name}.", dir=self._path.parent)
        temporary = Path(name)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                if self._path.is_file() and not self._path.is_symlink():
                    temporary.chmod(stat.S_IMODE(self._path.stat().st_mode))
                file.write(dump_cassette(self._lines))
            temporary.replace(self._path)
        except BaseException:
            with suppress(OSError):
                temporary.unlink()
            raise


class RecordingAdapter(BaseAdapter):
    """`aliases` maps tokens to the names of callers. Other callers are named caller-1, caller-2, … as they appear."""

    def __init__(
        self,
        path: Path,
        base_url: str,
        *,
        aliases: Mapping[str, str] | None = None,
        scrub_emails: bool = False,
    ) -> None:
        super().__init__()
        self._cassette = CassetteWriter(path)
        self._address = parse_address(base_url)
        self._live = LiveAdapter()
        self._scrub_emails = scrub_emails
        self._aliases = dict(aliases or {})
        self._lock = Lock()

    def send(self, request: requests.PreparedRequest, *args: Any, **kwargs: Any) -> requests.Response:
        in_flight = current_request()
        response = self._live.send(request, *args, **kwargs)

        def record(content: bytes) -> None:
            if not in_flight.aborted:
                self._record(request, response, content)

        response.raw = _CopiedBody(response.raw, record)
        return response

    def close(self) -> None:
        self._live.close()
        self._cassette.flush()

    def _record(self, request: requests.PreparedRequest, response: requests.Response, content: bytes) -> None:
        with self._lock:
            alias = self._alias(token_of(request.headers) or "")
            scrubber = Scrubber(self._aliases, emails=self._scrub_emails)
        body = recorded_body(request)
        text = self._hide_url(content.decode("utf-8", "surrogateescape"))
        self._cassette.add(
            Interaction(
                alias=alias,
                method=request.method or "",
                uri=scrubber.uri(self._hide_url(request.url or "")),
                request_body=scrubber.request_body(request.url or "", body) if body else None,
                status=response.status_code,
                reason=response.reason or "",
                headers={
                    name: self._hide_url(value)
                    for name, value in scrubber.headers(response.headers).items()
                    if name.lower() not in _CONNECTION_HEADERS
                },
                content=scrubber.body(text).encode("utf-8", "surrogateescape"),
            )
        )

    def _alias(self, token: str) -> str:
        if token not in self._aliases:
            taken = self._cassette.aliases | set(self._aliases.values())
            self._aliases[token] = next(
                name for number in count(1) if (name := f"caller-{number}") not in taken
            )
        return self._aliases[token]

    def _hide_url(self, text: str) -> str:
        return text.replace(self._address.root, RECORDED_URL)


class _CopiedBody:
    """The raw body of a response. Copies what is read, and passes the copy on when the connection is released."""

    def __init__(self, raw: Any, on_release: Callable[[bytes], None]) -> None:
        self._raw = raw
        self._on_release: Callable[[bytes], None] | None = on_release
        self._copy = bytearray()

    def stream(self, amount: int, decode_content: bool = True) -> Iterator[bytes]:
        try:
            for chunk in self._raw.stream(amount, decode_content=decode_content):
                self._copy += chunk[: MAX_BODY_BYTES - len(self._copy)]
                yield chunk
        except Exception:
            # An answer that broke off is not recorded.
            self._on_release = None
            raise

    def close(self) -> None:
        self._raw.close()

    def release_conn(self) -> None:
        self._raw.release_conn()
        on_release, self._on_release = self._on_release, None
        if on_release is not None:
            on_release(bytes(self._copy))

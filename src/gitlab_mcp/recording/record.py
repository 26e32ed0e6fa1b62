"""Writes what passes to a cassette, without its secrets."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from itertools import count
from pathlib import Path
from threading import Lock, Timer
from typing import Any

import requests
from requests.adapters import BaseAdapter

from gitlab_mcp.gitlab.address import Address, parse_address
from gitlab_mcp.gitlab.in_flight import current
from gitlab_mcp.gitlab.transport import LiveAdapter
from gitlab_mcp.recording.cassette import HOST, Interaction, dump_cassette, dump_interaction, load_cassettes
from gitlab_mcp.recording.replay import body_of, token_of
from gitlab_mcp.recording.scrub import Scrubber

LONGEST_BODY = 16 * 1024 * 1024
"""Of a longer answer only the beginning is kept."""
# These describe the bytes on the wire; a cassette holds the decoded body.
_OF_THE_WIRE = frozenset(
    {"connection", "content-encoding", "content-length", "keep-alive", "transfer-encoding"}
)


class Tape:
    """A cassette that grows. The file is replaced as a whole, so that killing us leaves a good one."""

    def __init__(self, path: Path) -> None:
        if path.suffix != ".json":
            raise ValueError("a recording is written as JSON: its name must end in .json")
        self._path = path
        kept = list(load_cassettes(path)) if path.exists() else []
        self._lines = [dump_interaction(interaction) for interaction in kept]
        self.aliases = {interaction.alias for interaction in kept}
        self._every = 1.0
        self._lock = Lock()
        self._timer: Timer | None = None
        self._write()

    def add(self, interaction: Interaction) -> None:
        with self._lock:
            self._lines.append(dump_interaction(interaction))
            self.aliases.add(interaction.alias)
            if self._timer is None:
                self._timer = Timer(self._every, self.flush)
                self._timer.daemon = True
                self._timer.start()

    def flush(self) -> None:
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
            begun = time.monotonic()
            self._write()
            # A file that has grown large is rewritten less often: a tenth of the time at most.
            self._every = max(self._every, 10 * (time.monotonic() - begun))

    def _write(self) -> None:
        unfinished = self._path.with_name(f".{self._path.name}.{os.getpid()}")
        unfinished.write_text(dump_cassette(self._lines), encoding="utf-8")
        unfinished.replace(self._path)


class RecordingAdapter(BaseAdapter):
    """`aliases` names callers by their token; the others are caller-1, caller-2, … as they appear."""

    def __init__(
        self,
        tape: Tape,
        address: Address,
        *,
        aliases: Mapping[str, str] | None,
        scrub_emails: bool,
    ) -> None:
        super().__init__()
        self._tape = tape
        self._address = address
        self._live = LiveAdapter()
        self._scrub_emails = scrub_emails
        self._aliases = dict(aliases or {})
        self._lock = Lock()

    def send(self, request: requests.PreparedRequest, *args: Any, **kwargs: Any) -> requests.Response:
        exchange = current()
        response = self._live.send(request, *args, **kwargs)

        def keep(content: bytes) -> None:
            if not exchange.aborted:
                self._keep(request, response, content)

        response.raw = _Listening(response.raw, keep)
        return response

    def close(self) -> None:
        self._live.close()
        self._tape.flush()

    def _keep(self, request: requests.PreparedRequest, response: requests.Response, content: bytes) -> None:
        with self._lock:
            alias = self._alias(token_of(request.headers) or "")
            scrubber = Scrubber(self._aliases, emails=self._scrub_emails)
        body = body_of(request)
        self._tape.add(
            Interaction(
                alias=alias,
                method=request.method or "",
                uri=scrubber.uri(self._elsewhere(request.url or "")),
                request_body=scrubber.body(body) if body else None,
                status=response.status_code,
                reason=response.reason or "",
                headers={
                    name: self._elsewhere(value)
                    for name, value in scrubber.headers(response.headers).items()
                    if name.lower() not in _OF_THE_WIRE
                },
                content=_through(content, lambda text: scrubber.body(self._elsewhere(text))),
            )
        )

    def _alias(self, token: str) -> str:
        if token not in self._aliases:
            taken = self._tape.aliases | set(self._aliases.values())
            self._aliases[token] = next(
                name for number in count(1) if (name := f"caller-{number}") not in taken
            )
        return self._aliases[token]

    def _elsewhere(self, text: str) -> str:
        return text.replace(self._address.root, HOST)


def recording(
    path: Path, base_url: str, *, aliases: Mapping[str, str] | None = None, scrub_emails: bool = False
) -> RecordingAdapter:
    return RecordingAdapter(Tape(path), parse_address(base_url), aliases=aliases, scrub_emails=scrub_emails)


class _Listening:
    """A response's raw body that keeps a copy of what is read from it and hands it over when it is let go."""

    def __init__(self, raw: Any, keep: Callable[[bytes], None]) -> None:
        self._raw = raw
        self._keep: Callable[[bytes], None] | None = keep
        self._heard = bytearray()

    def stream(self, amount: int, decode_content: bool = True) -> Iterator[bytes]:
        try:
            for chunk in self._raw.stream(amount, decode_content=decode_content):
                self._heard += chunk[: LONGEST_BODY - len(self._heard)]
                yield chunk
        except Exception:
            # What broke off on the way is not what GitLab answers.
            self._keep = None
            raise

    def close(self) -> None:
        self._raw.close()

    def release_conn(self) -> None:
        self._raw.release_conn()
        keep, self._keep = self._keep, None
        if keep is not None:
            keep(bytes(self._heard))


def _through(content: bytes, change: Callable[[str], str]) -> bytes:
    return change(content.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")

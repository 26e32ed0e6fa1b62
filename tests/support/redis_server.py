"""A real Redis on a port of its own, which keeps nothing on disk."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Self

import pytest

PROGRAM = shutil.which("redis-server")

needs_redis = pytest.mark.skipif(
    PROGRAM is None, reason="there is no redis-server here (Debian: redis-server)"
)


class RedisServer:
    def __init__(self, *flags: str, certificate: Path | None = None, key: Path | None = None) -> None:
        """`flags` are redis-server's own. With a certificate it speaks TLS alone."""
        self._flags = flags
        self._over_tls = certificate is not None
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = int(free.getsockname()[1])
        if self._over_tls:
            files = (
                "--tls-cert-file",
                str(certificate),
                "--tls-key-file",
                str(key),
                "--tls-auth-clients",
                "no",
            )
            self._flags += ("--port", "0", "--tls-port", str(self.port), *files)
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"{'rediss' if self._over_tls else 'redis'}://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        assert PROGRAM is not None
        self._process = subprocess.Popen(
            [
                *(
                    PROGRAM,
                    "--port",
                    str(self.port),
                    "--bind",
                    "127.0.0.1",
                    "--save",
                    "",
                    "--appendonly",
                    "no",
                ),
                *self._flags,
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
        )
        ends = time.monotonic() + 10
        while time.monotonic() < ends:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                time.sleep(0.02)
        raise AssertionError("redis-server did not start")

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

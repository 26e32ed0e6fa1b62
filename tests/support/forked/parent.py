"""The process that has everything imported and forks for each start. Ends when its input does."""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import pkgutil
import runpy
import selectors
import signal
import socket
import sys
import warnings
from dataclasses import dataclass

import gitlab_mcp

LATER = (
    "gitlab",
    "redis",
    "uvicorn.lifespan.on",
    "uvicorn.protocols.http.h11_impl",
    "anyio._backends._asyncio",
)
"""What is imported only when it is needed, by us or by others."""


@dataclass(frozen=True)
class Start:
    words: list[str]
    environ: dict[str, str]
    folder: str
    streams: list[int]

    def run(self) -> None:
        """What `python -m gitlab_mcp.cli` does once it is imported. Returns to the end of the program."""
        for number in (0, 1, 2):
            os.dup2(self.streams[number], number)
            os.close(self.streams[number])
        os.chdir(self.folder)
        os.environ.clear()
        os.environ.update(self.environ)
        if filter_ := self.environ.get("PYTHONWARNINGS"):
            warnings.simplefilter(filter_)  # type: ignore[arg-type]
        sys.argv = ["gitlab-mcp", *self.words]
        runpy.run_module("gitlab_mcp.cli", run_name="__main__", alter_sys=True)


class Parent:
    def __init__(self, address: str) -> None:
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(address)
        self._listener.listen(64)
        self._ended, wake = os.pipe()
        os.set_blocking(wake, False)
        os.set_blocking(self._ended, False)
        signal.set_wakeup_fd(wake)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self._forks: dict[int, socket.socket] = {}
        self._events = selectors.DefaultSelector()
        for source in (self._listener, self._ended, 0):
            self._events.register(source, selectors.EVENT_READ)

    def wait(self) -> Start | None:
        """In a fork: what it is to run. In the parent: None, at the end."""
        while True:
            for key, _ in self._events.select():
                if key.fileobj is self._listener:
                    if start := self._fork():
                        return start
                elif key.fileobj == self._ended:
                    os.read(self._ended, 4096)
                    self._reap()
                elif key.fileobj == 0:
                    self._kill(*self._forks)
                    return None
                else:
                    # Who started it was killed, and so is the fork.
                    self._events.unregister(key.fileobj)
                    self._kill(*(pid for pid, line in self._forks.items() if line is key.fileobj))

    def _fork(self) -> Start | None:
        line, _ = self._listener.accept()
        length, streams, _, _ = socket.recv_fds(line, 4, 3)
        message = line.recv(int.from_bytes(length, "big"), socket.MSG_WAITALL)
        start = Start(**json.loads(message.decode("utf-8", "surrogateescape")), streams=streams)
        if pid := os.fork():
            for stream in streams:
                os.close(stream)
            self._forks[pid] = line
            self._events.register(line, selectors.EVENT_READ)
            line.sendall(pid.to_bytes(4, "big"))
            return None
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self._events.close()
        for inherited in (self._listener, line, *self._forks.values()):
            inherited.close()
        return start

    def _reap(self) -> None:
        while self._forks:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            line = self._forks.pop(pid)
            if line in self._events.get_map():
                self._events.unregister(line)
                # Who started it may have been killed a moment ago.
                with contextlib.suppress(OSError):
                    line.sendall(os.waitstatus_to_exitcode(status).to_bytes(4, "big", signed=True))
            line.close()

    def _kill(self, *forks: int) -> None:
        for pid in forks:
            os.kill(pid, signal.SIGKILL)


def main() -> None:
    for module in pkgutil.walk_packages(gitlab_mcp.__path__, "gitlab_mcp."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    for name in LATER:
        importlib.import_module(name)
    gc.freeze()
    parent = Parent(sys.argv[1])
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    if start := parent.wait():
        start.run()


if __name__ == "__main__":
    main()

"""`python -m tests.support.windows_like …`: gitlab-mcp where what only POSIX has is missing.

As far as that can be shown on another system: modules, functions and flags of `os`, signals, and an event loop that
watches neither files nor signals. It is no Windows: paths, consoles, locks of files and the ends of processes are those
of this machine.
"""

from __future__ import annotations

import asyncio
import os
import select
import signal
import sys
import types
from typing import Any

MODULES = ("fcntl", "grp", "pty", "pwd", "resource", "syslog", "termios", "tty")
OF_OS = (
    *("fchmod", "fchown", "fork", "forkpty", "getegid", "geteuid", "getgid", "getpgid", "getuid", "killpg"),
    *(
        "mkfifo",
        "setsid",
        "sysconf",
        "uname",
        "wait4",
        "O_CLOEXEC",
        "O_DIRECTORY",
        "O_NOFOLLOW",
        "O_NONBLOCK",
    ),
)
SIGNALS = ("SIGALRM", "SIGCHLD", "SIGHUP", "SIGKILL", "SIGPIPE", "SIGQUIT", "SIGUSR1", "SIGUSR2")
OF_THE_LOOP = (
    *("add_reader", "remove_reader", "add_writer", "remove_writer"),
    *("add_signal_handler", "remove_signal_handler"),
)


def not_there(*_: Any) -> Any:
    raise NotImplementedError


class Policy(asyncio.DefaultEventLoopPolicy):
    _loop_factory = type("Loop", (asyncio.SelectorEventLoop,), dict.fromkeys(OF_THE_LOOP, not_there))


def take_away() -> None:
    # What others wrote asks on which system it is. Only what is ours has to do without.
    import gitlab
    import mcp
    import uvicorn

    from gitlab_mcp.transports import standard_streams

    assert gitlab and mcp and uvicorn
    vars(standard_streams)["sys"] = types.SimpleNamespace(platform="win32")
    vars(os)["O_BINARY"] = 0
    windows = types.ModuleType("msvcrt")
    vars(windows)["setmode"] = lambda descriptor, mode: os.fstat(descriptor)
    sys.modules["msvcrt"] = windows
    for name in MODULES:
        vars(sys)["modules"][name] = None
    for name in OF_OS:
        delattr(os, name)
    for name in SIGNALS:
        delattr(signal, name)
    del select.PIPE_BUF
    os.supports_dir_fd.clear()
    asyncio.set_event_loop_policy(Policy())


if __name__ == "__main__":
    take_away()
    from gitlab_mcp.cli import main

    sys.exit(main())

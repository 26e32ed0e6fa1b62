"""Hands a start over to the process that forks, passes signals on to the fork, and ends as it ends.

Runs without site-packages, so that it starts fast.
"""

import json
import os
import signal
import socket
import sys

PASSED_ON = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP}


def main() -> None:
    # A signal that comes before there is anybody to pass it on to waits.
    signal.pthread_sigmask(signal.SIG_BLOCK, PASSED_ON)
    line = socket.socket(socket.AF_UNIX)
    line.connect(sys.argv[1])
    start = {"words": sys.argv[2:], "environ": dict(os.environ), "folder": os.getcwd()}  # noqa: PTH109 (pathlib is slow to import)
    message = json.dumps(start).encode("utf-8", "surrogateescape")
    socket.send_fds(line, [len(message).to_bytes(4, "big")], [0, 1, 2])
    line.sendall(message)
    # The streams are the fork's alone: who waits for the end of one must not wait for us.
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    fork = int.from_bytes(line.recv(4, socket.MSG_WAITALL), "big")
    for number in PASSED_ON:
        signal.signal(number, lambda number, _: os.kill(fork, number))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, PASSED_ON)
    code = int.from_bytes(line.recv(4, socket.MSG_WAITALL), "big", signed=True)
    if code < 0:
        signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    sys.exit(code)


main()

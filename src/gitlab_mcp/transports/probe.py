"""`python -m gitlab_mcp.transports.probe PORT`: is the server beside us alive? For containers without a shell."""

from __future__ import annotations

import sys
from http.client import HTTPConnection, HTTPException


def alive(port: int) -> bool:
    # Straight to the port: proxy variables are meant for the way to GitLab.
    connection = HTTPConnection("127.0.0.1", port, timeout=3)
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().status == 200
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()


if __name__ == "__main__":
    sys.exit(0 if alive(int(sys.argv[1])) else 1)

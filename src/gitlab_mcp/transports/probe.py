"""`python -m gitlab_mcp.transports.probe PORT`: the health check of a container that has no shell and no curl."""

from __future__ import annotations

import sys
from http.client import HTTPConnection, HTTPException


def alive(port: int) -> bool:
    # http.client ignores proxy variables, which are meant for GitLab.
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

"""A secret for a server that holds a GitLab token of its own and was given none: whoever can reach the port, a web page
or another user of this machine, could otherwise act with that token."""

from __future__ import annotations

import secrets
import socket
import sys
from dataclasses import replace

from gitlab_mcp.callers import Secret
from gitlab_mcp.transports.http.asgi_application import PATH
from gitlab_mcp.transports.http.options import HttpOptions
from gitlab_mcp.transports.http.uvicorn_server import local_url


def with_generated_secret(options: HttpOptions, port: socket.socket) -> HttpOptions:
    """The options with a new secret. It is printed this once and is in no log."""
    secret = Secret(secrets.token_urlsafe(32))
    url = (options.public_url or local_url(port)) + PATH
    header = f"Authorization: Bearer {secret.reveal()}"
    sys.stderr.write(
        "This server holds a GitLab token of its own. So every request must bring a secret, made for this run:\n"
        f"    {header}\n"
        "To connect Claude Code:\n"
        f'    claude mcp add --transport http gitlab {url} --header "{header}"\n'
        "For a secret that stays the same: openssl rand -hex 32 > FILE, and start with --require-bearer-file FILE.\n"
    )
    sys.stderr.flush()
    return replace(options, bearer=lambda: secret)

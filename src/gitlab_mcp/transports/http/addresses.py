"""Under which names this server may be spoken to. Closed by default: a web page that points a name of its own at
this machine must not reach it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.datastructures import Headers

from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import Failure
from gitlab_mcp.transports.http.refusals import Rejected

_THIS_MACHINE = re.compile(r"(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?")
METADATA = "/.well-known/oauth-protected-resource"


def is_this_machine(host: str) -> bool:
    return _THIS_MACHINE.fullmatch(host) is not None


@dataclass(frozen=True, slots=True)
class Names:
    public_url: str | None
    path: str
    """Where MCP is below the root of the server."""

    def check(self, headers: Headers) -> None:
        """Raises Turned."""
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        if len(hosts) != 1 or not (is_this_machine(hosts[0].lower()) or self._is_public(hosts[0])):
            raise Rejected(_wrong_host(), 421)
        # Clients that are no browsers send none, and a browser is only welcome from our own address.
        if origins and (len(origins) != 1 or origins[0].lower() != self._public_origin()):
            raise Rejected(_wrong_origin(), 403)

    def resource(self, host: str) -> str:
        """The address of this MCP server as the client knows it. `host` has been checked."""
        root = self.public_url if self.public_url and self._is_public(host) else f"http://{host.lower()}"
        return root + self.path

    def metadata_url(self, host: str) -> str:
        parts = urlsplit(self.resource(host))
        return f"{parts.scheme}://{parts.netloc}{METADATA}{parts.path}"

    def _is_public(self, host: str) -> bool:
        if self.public_url is None:
            return False
        parts = urlsplit(self.public_url)
        default = {"https": 443, "http": 80}[parts.scheme]
        names = {parts.netloc, f"{parts.hostname}:{parts.port or default}"}
        if parts.port == default:
            names.add(parts.netloc.rpartition(":")[0])
        return host.lower() in names

    def _public_origin(self) -> str | None:
        if self.public_url is None:
            return None
        parts = urlsplit(self.public_url)
        return f"{parts.scheme}://{parts.netloc}"


def _wrong_host() -> Failure:
    return Failure(
        Code.HOST_NOT_ALLOWED, "This server does not answer under the name in the Host header."
    ).knowing(
        suggested_fix="Use the address the operator gave out; the operator opens one name with --public-url."
    )


def _wrong_origin() -> Failure:
    return Failure(Code.HOST_NOT_ALLOWED, "This server does not answer web pages of this origin.").knowing(
        suggested_fix="Connect from a client that is no web page; the operator opens one origin with --public-url."
    )

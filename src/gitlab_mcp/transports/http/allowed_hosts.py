"""Under which `Host` and `Origin` the server answers. By default only as localhost, against DNS rebinding: a web page
can point a name of its own at this machine."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.datastructures import Headers

from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import Failure
from gitlab_mcp.transports.http.rejection import Rejected

_LOCALHOST = re.compile(r"(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?")
METADATA_PATH = "/.well-known/oauth-protected-resource"


def is_localhost(host: str) -> bool:
    return _LOCALHOST.fullmatch(host) is not None


@dataclass(frozen=True, slots=True)
class AllowedHosts:
    public_url: str | None
    path: str
    """The path of the MCP endpoint."""

    def check(self, headers: Headers) -> None:
        """Raises Rejected."""
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        if len(hosts) != 1 or not (is_localhost(hosts[0].lower()) or self._is_public(hosts[0])):
            raise Rejected(_wrong_host(), 421)
        # Only browsers send an origin.
        if origins and (len(origins) != 1 or origins[0].lower() not in self._own_origins(hosts[0].lower())):
            raise Rejected(_wrong_origin(), 403)

    def resource(self, host: str) -> str:
        """The URL of the MCP endpoint as the client knows it. `host` has been checked."""
        root = self.public_url if self.public_url and self._is_public(host) else f"http://{host.lower()}"
        return root + self.path

    def address(self, host: str) -> str:
        """The URL to tell people: the public one where there is one."""
        return self.public_url + self.path if self.public_url else self.resource(host)

    def metadata_url(self, host: str) -> str:
        parts = urlsplit(self.resource(host))
        return f"{parts.scheme}://{parts.netloc}{METADATA_PATH}{parts.path}"

    def _is_public(self, host: str) -> bool:
        if self.public_url is None:
            return False
        parts = urlsplit(self.public_url)
        default_port = {"https": 443, "http": 80}[parts.scheme]
        hosts = {parts.netloc, f"{parts.hostname}:{parts.port or default_port}"}
        if parts.port == default_port:
            hosts.add(parts.netloc.rpartition(":")[0])
        return host.lower() in hosts

    def _own_origins(self, host: str) -> Iterator[str]:
        """Of pages that come from this server itself. Another port of this machine is another origin."""
        if is_localhost(host):
            yield f"http://{host}"
        if self.public_url is not None:
            parts = urlsplit(self.public_url)
            yield f"{parts.scheme}://{parts.netloc}"


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

"""Where a request comes from: the address of the connection, or what a proxy says that the operator trusts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Final

from starlette.datastructures import Headers

Network = IPv4Network | IPv6Network

_FORWARDING_HEADERS: Final = re.compile(
    r"via|.*forward.*|.*(client|real|remote|originating|connecting|user)-?ip|.*proxy.*|x-original-.*|x-amzn-trace-id"
    r"|(cf|cdn|fly|fastly|akamai|tailscale|x-envoy|x-azure|x-appengine|x-vercel|x-amz-cf)-.*"
)
"""What proxies, tunnels and content networks add. The last line: names that begin like a product's."""


def is_forwarded(headers: Headers) -> bool:
    """Whether a proxy passed the request on. Then it does not come from this machine, though the connection may."""
    return any(_FORWARDING_HEADERS.fullmatch(name.lower().replace("_", "-")) for name in headers)


def counted_as(host: str) -> str:
    """The name under which an address is counted. Whoever has one IPv6 address has the whole /64."""
    address = _address(host)
    if isinstance(address, IPv6Address) and not address.is_loopback:
        return str(IPv6Network((address, 64), strict=False))
    return host if address is None else str(address)


def is_trusted(host: str, proxies: Sequence[Network]) -> bool:
    address = _address(host) if proxies else None
    return address is not None and any(address in network for network in proxies)


def forwarded_client(headers: Headers, proxies: Sequence[Network]) -> str | None:
    """The last address in `X-Forwarded-For` that is no proxy of the operator's, as it is counted. What stands before
    it anybody may have written."""
    hops = [hop.strip() for value in headers.getlist("x-forwarded-for") for hop in value.split(",")]
    client = next((hop for hop in reversed(hops) if not is_trusted(hop, proxies)), "")
    return counted_as(client) if _address(client) is not None else None


def _address(host: str) -> IPv4Address | IPv6Address | None:
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return None
    return (address.ipv4_mapped or address) if isinstance(address, IPv6Address) else address

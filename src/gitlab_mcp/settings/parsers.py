"""Parsers and checks of settings: from text, or a value of the settings file, to a typed value, or ValueError."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from gitlab_mcp.actions.places import parse_places
from gitlab_mcp.callers import Secret

LEAST_SECRET_LENGTH = 32
"""128 bits, written in hexadecimal digits."""
_LEAST_DIFFERENT_CHARACTERS = 8


def text(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise ValueError
    line = str(value).strip()
    if not line or not line.isprintable():
        raise ValueError
    return line


def secret(value: Any) -> Secret:
    line = text(value)
    # It becomes a header: other characters would be refused much later, or add a second header.
    if not re.fullmatch(r"[!-~]+", line) or line.startswith(("${", "<", '"', "'")):
        raise ValueError
    return Secret(line)


def strong_secret(value: Any) -> Secret:
    """A secret that nobody guesses."""
    found = secret(value)
    if len(found.reveal()) < LEAST_SECRET_LENGTH or len(set(found.reveal())) < _LEAST_DIFFERENT_CHARACTERS:
        raise ValueError
    return found


def word(value: Any) -> str:
    return text(value).lower()


def boolean(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    known = {
        "true": True,
        "1": True,
        "yes": True,
        "on": True,
        "false": False,
        "0": False,
        "no": False,
        "off": False,
    }
    try:
        return known[word(value)]
    except KeyError:
        raise ValueError from None


def present(value: Any) -> bool:
    """Whatever it says: https://no-color.org."""
    return value is not False


def number(value: Any) -> float:
    if isinstance(value, bool):
        raise ValueError
    return float(value)


def whole_number(value: Any) -> int:
    if isinstance(value, bool | float):
        raise ValueError
    return int(value)


def words(value: Any) -> tuple[str, ...]:
    several = value if isinstance(value, list | tuple) else text(value).split(",")
    return tuple(dict.fromkeys(word(each) for each in several if str(each).strip()))


def toolsets(value: Any) -> tuple[str, ...]:
    return tuple("core" if name == "default" else name for name in words(value))


def comma_separated(value: Any) -> tuple[str, ...]:
    """From one text, or from several: a flag that may be repeated."""
    pieces = value if isinstance(value, list | tuple) else [value]
    return tuple(dict.fromkeys(each for piece in pieces for each in words(text(piece))))


def places(value: Any) -> tuple[str, ...]:
    """ValueError for an empty list too: it would mean everywhere."""
    return parse_places(",".join(comma_separated(value)))


def quota(value: Any) -> tuple[str, ...]:
    """Such as `writes=1000`, `destructive=100`. Empty for `none`."""
    found = tuple(each.replace(" ", "") for each in comma_separated(value) if each != "none")
    if not all(re.fullmatch(r"(reads|writes|destructive)=[1-9]\d{0,8}", each) for each in found):
        raise ValueError
    return found


def audit_log(value: Any) -> str | Path:
    line = text(value)
    return line.lower() if line.lower() in ("stdout", "stderr", "none") else path(line)


def collector_url(value: Any) -> str:
    line = text(value).rstrip("/")
    url = urlsplit(line)
    if url.scheme not in ("http", "https") or not url.hostname or url.username or url.query or url.fragment:
        raise ValueError
    return line


def redis_url(value: Any) -> Secret:
    """A Secret, since it may hold a password."""
    line = text(value)
    parts = urlsplit(line)
    if parts.scheme not in ("redis", "rediss", "unix") or not (parts.hostname or parts.path):
        raise ValueError
    return Secret(line)


def path(value: Any) -> Path:
    return Path(text(value)).expanduser()


def paths(value: Any) -> tuple[Path, ...]:
    several = value if isinstance(value, list | tuple) else text(value).split(os.pathsep)
    return tuple(path(each) for each in several)


def gitlab_url(value: Any) -> str:
    """`https://host[:port][/relative/root]`, from a host, an API address or the address itself."""
    line = text(value)
    parts = urlsplit(line if "://" in line else f"https://{line}")
    path = re.sub(r"/api(/v\d+|/graphql)?$", "", parts.path.rstrip("/"))
    _ = parts.port  # raises ValueError where it is no port
    host = parts.hostname or ""
    if parts.scheme not in ("http", "https") or parts.username is not None or parts.query or parts.fragment:
        raise ValueError
    if not re.fullmatch(r"[\w.-]+|[0-9a-f:.]+(%\w+)?", host) or ".." in path or "//" in path:
        raise ValueError
    return f"{parts.scheme}://{parts.netloc.lower()}{path}"


def gitlab_urls(value: Any) -> tuple[str, ...]:
    several = value if isinstance(value, list | tuple) else text(value).split(",")
    return tuple(dict.fromkeys(gitlab_url(each) for each in several))


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen."""

    host: str
    port: int

    @property
    def loopback(self) -> bool:
        return self.host == "localhost" or ip_address(self.host).is_loopback

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def address(value: Any) -> Address:
    """`127.0.0.1:8080`, `[::1]:8080`, `localhost:8080`. The host is required: it decides who can connect."""
    found = re.fullmatch(r"(?:\[([0-9a-fA-F:.]+)\]|(localhost|[0-9.]+)):(\d{1,5})", text(value).lower())
    if not found or int(found[3]) > 65535:
        raise ValueError
    host = found[1] or found[2]
    return Address(host if host == "localhost" else str(ip_address(host)), int(found[3]))


def networks(value: Any) -> tuple[IPv4Network | IPv6Network, ...]:
    return tuple(ip_network(each, strict=False) for each in comma_separated(value))


def public_url(value: Any) -> str:
    """`https://host[:port][/path]`, as clients see it."""
    parts = urlsplit(text(value))
    _ = parts.port
    if parts.scheme not in ("http", "https") or parts.username is not None or parts.query or parts.fragment:
        raise ValueError
    if not re.fullmatch(r"[\w.-]+|[0-9a-f:.]+", parts.hostname or ""):
        raise ValueError
    return f"{parts.scheme}://{parts.netloc.lower()}{parts.path.rstrip('/')}"


def is_readable_file(path: Path) -> bool:
    return path.is_file() and os.access(path, os.R_OK)


def can_be_created(path: Path) -> bool:
    return path.parent.is_dir() and not path.is_dir()


def can_be_recorded_to(path: Path) -> bool:
    return path.suffix == ".json" and can_be_created(path)


def all_exist(paths: tuple[Path, ...]) -> bool:
    return bool(paths) and all(path.exists() for path in paths)

"""The headers by which a request asks for less, for another error style, or for another GitLab."""

from __future__ import annotations

from starlette.datastructures import Headers

from gitlab_mcp.actions.arguments.words import misspelt
from gitlab_mcp.actions.danger import Danger
from gitlab_mcp.actions.places import parse_places
from gitlab_mcp.actions.toolsets import DISCOVER, TOOLSETS, is_callable
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import Failure
from gitlab_mcp.failures.render import STYLES
from gitlab_mcp.transports.http.rejection import Rejected

GITLAB_URL = "x-gitlab-api-url"
REQUEST_ID = "x-request-id"
_ERROR_STYLE = "x-mcp-error-style"
_TOOLSETS = "x-mcp-toolsets"
_READ_ONLY = "x-mcp-readonly"
_TRUST = "x-mcp-trust"
_ONLY_IN = "x-mcp-only-in"


def requested_error_style(headers: Headers) -> str | None:
    wanted = _sent_once(headers, _ERROR_STYLE)
    if wanted is None:
        return None
    if wanted.strip().lower() not in STYLES:
        raise Rejected(_bad_header(_ERROR_STYLE, f"one of {', '.join(STYLES)}"), 400)
    return wanted.strip().lower()


def requested_toolsets(headers: Headers, offered: tuple[str, ...]) -> tuple[str, ...] | None:
    """None: all that the operator lets be called, which is `offered`."""
    value = _sent_once(headers, _TOOLSETS)
    if value is None:
        return None
    wanted = [name.strip().lower() for name in value.split(",") if name.strip()]
    wanted = ["core" if name == "default" else name for name in wanted]
    if "all" in wanted:
        return None
    # An empty list would allow every tool, and the client wanted fewer.
    for name in wanted or [""]:
        if name not in TOOLSETS:
            guess = misspelt(name, TOOLSETS)
            failure = _bad_header(_TOOLSETS, f"names out of {', '.join(TOOLSETS)}")
            raise Rejected(failure.knowing(did_you_mean=guess), 400)
    # Beside others it adds nothing: were they not offered, it alone would ask for every tool.
    limits = [name for name in wanted if name != DISCOVER] or wanted
    return tuple(name for name in limits if is_callable(name, offered))


def requested_read_only(headers: Headers) -> bool:
    """Any value but a clear no: a client that sends the header wants fewer rights."""
    value = _sent_once(headers, _READ_ONLY)
    return value is not None and value.strip().lower() not in ("0", "false", "f", "no", "n", "off")


def requested_trust(headers: Headers) -> Danger | None:
    value = _sent_once(headers, _TRUST)
    if value is None:
        return None
    try:
        return Danger(value.strip().lower())
    except ValueError:
        raise Rejected(_bad_header(_TRUST, f"one of {', '.join(Danger)}"), 400) from None


def requested_places(headers: Headers) -> tuple[str, ...]:
    value = _sent_once(headers, _ONLY_IN)
    try:
        places = parse_places(value or "")
    except ValueError:
        places = ()
    if value is not None and not places:
        # An empty list would allow every place, and the client wanted fewer.
        raise Rejected(
            _bad_header(_ONLY_IN, "paths such as acme/website, numbers of projects, or group:7"), 400
        )
    return places


def _sent_once(headers: Headers, name: str) -> str | None:
    """The value of a header. Of two, one may allow what the other forbids, so that neither is believed."""
    values = headers.getlist(name)
    if len(values) > 1:
        failure = Failure(Code.INVALID_VALUE, f"The header {name} was sent more than once.")
        raise Rejected(
            failure.knowing(
                invalid_fields=[
                    {"field": name, "expected": "one header", "received": f"{len(values)} headers"}
                ],
                suggested_fix=f"Send {name} once.",
            ),
            400,
        )
    return values[0] if values else None


def _bad_header(name: str, expected: str) -> Failure:
    return Failure(Code.INVALID_VALUE, f"The header {name} holds something else than expected.").knowing(
        invalid_fields=[{"field": name, "expected": expected, "received": "something else"}],
        suggested_fix=f"Send {name} as {expected}, or leave it out.",
    )

"""From the headers of one request to whose it is and what it asks for itself."""

from __future__ import annotations

import hmac
import re
from dataclasses import dataclass

from starlette.datastructures import Headers

from gitlab_mcp.actions.action import Danger
from gitlab_mcp.actions.arguments.words import misspelt
from gitlab_mcp.actions.places import parse_places
from gitlab_mcp.actions.registry import TOOLSETS
from gitlab_mcp.callers import RequestContext, Secret, Token, TokenKind
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import Failure
from gitlab_mcp.failures.render import STYLES
from gitlab_mcp.gitlab.address import parse_address
from gitlab_mcp.transports.http.options import HttpOptions
from gitlab_mcp.transports.http.refusals import Rejected

GITLAB_URL = "x-gitlab-api-url"
ERROR_STYLE = "x-mcp-error-style"
TOOLSETS_WANTED = "x-mcp-toolsets"
READ_ONLY = "x-mcp-readonly"
TRUST = "x-mcp-trust"
ONLY_IN = "x-mcp-only-in"
REQUEST_ID = "x-request-id"

_LONGEST_TOKEN = 4096


@dataclass(frozen=True, slots=True)
class Authenticator:
    options: HttpOptions

    def request_context(self, headers: Headers, request_id: str, challenge: str) -> RequestContext:
        """Raises Turned; `challenge` is what a client is told that must authenticate."""
        if self.options.bearer is not None:
            self._check_bearer(headers, self.options.bearer())
        token = self._token(headers, challenge)
        url = self._gitlab(headers)
        if token is None and (url is not None or not self.options.own_token):
            raise Rejected(_no_token(), 401, {"WWW-Authenticate": challenge})
        return RequestContext(
            request_id=request_id,
            token=token,
            gitlab_url=url,
            error_style=self.style(headers),
            toolsets=self._toolsets(headers),
            read_only=_switched_on(headers.get(READ_ONLY)),
            trust=_trust(headers.get(TRUST)),
            only_in=_only_in(headers.getlist(ONLY_IN)),
        )

    def style(self, headers: Headers) -> str | None:
        wanted = headers.get(ERROR_STYLE)
        if wanted is None:
            return None
        if wanted.strip().lower() not in STYLES:
            raise Rejected(_bad_header(ERROR_STYLE, f"one of {', '.join(STYLES)}"), 400)
        return wanted.strip().lower()

    def _check_bearer(self, headers: Headers, secret: Secret) -> None:
        given = headers.getlist("authorization")
        scheme, _, value = given[0].partition(" ") if len(given) == 1 else ("", "", "")
        same = hmac.compare_digest(value.strip().encode(), secret.reveal().encode())
        if scheme.lower() != "bearer" or not same:
            raise Rejected(_no_secret(), 401, {"WWW-Authenticate": "Bearer"})

    def _token(self, headers: Headers, challenge: str) -> Token | None:
        found: list[tuple[TokenKind, str]] = [
            ("private", value) for value in headers.getlist("private-token")
        ]
        found += [("job", value) for value in headers.getlist("job-token")]
        if self.options.bearer is None:
            found += [("bearer", _bearer(value, challenge)) for value in headers.getlist("authorization")]
        if not found:
            return None
        if len(found) > 1:
            # Whose rights count would be a guess.
            raise Rejected(_two_tokens(), 400)
        kind, value = found[0]
        if not re.fullmatch(r"[!-~]+", value) or len(value) > _LONGEST_TOKEN:
            raise Rejected(_malformed(), 401, {"WWW-Authenticate": f'{challenge}, error="invalid_token"'})
        return Token(Secret(value), kind)

    def _gitlab(self, headers: Headers) -> str | None:
        given = headers.getlist(GITLAB_URL)
        if not given:
            return None
        try:
            url = parse_address(given[0]).root if len(given) == 1 else ""
        except ValueError:
            url = ""
        if url == self.options.url:
            return None
        if url not in self.options.other_urls:
            raise Rejected(_foreign_gitlab(), 403)
        return url

    def _toolsets(self, headers: Headers) -> tuple[str, ...] | None:
        wanted = [
            name.strip().lower() for name in headers.get(TOOLSETS_WANTED, "").split(",") if name.strip()
        ]
        wanted = ["core" if name == "default" else name for name in wanted]
        if not wanted or "all" in wanted:
            return None
        for name in wanted:
            if name not in TOOLSETS:
                guess = misspelt(name, TOOLSETS)
                failure = _bad_header(TOOLSETS_WANTED, f"names out of {', '.join(TOOLSETS)}")
                raise Rejected(failure.knowing(did_you_mean=guess), 400)
        return tuple(name for name in wanted if {"all", name} & set(self.options.toolsets))


def _bearer(header: str, challenge: str) -> str:
    scheme, _, value = header.partition(" ")
    if scheme.lower() != "bearer":
        raise Rejected(_malformed(), 401, {"WWW-Authenticate": challenge})
    return value.strip()


def _switched_on(value: str | None) -> bool:
    """Anything but a clear no: who sends the header wants fewer rights."""
    return value is not None and value.strip().lower() not in ("", "0", "false", "f", "no", "n", "off")


def _trust(value: str | None) -> Danger | None:
    if value is None:
        return None
    try:
        return Danger(value.strip().lower())
    except ValueError:
        raise Rejected(_bad_header(TRUST, f"one of {', '.join(Danger)}"), 400) from None


def _only_in(values: list[str]) -> tuple[str, ...]:
    try:
        places = parse_places(",".join(values))
    except ValueError:
        places = ()
    if values and not places:
        # Whoever sends it wants fewer rights, and would have all of them.
        raise Rejected(
            _bad_header(ONLY_IN, "paths such as acme/website, numbers of projects, or group:7"), 400
        )
    return places


def dead(challenge: str) -> Rejected:
    """GitLab does not know the bearer any more: the client should get a new one."""
    failure = Failure(Code.AUTHENTICATION_FAILED, "GitLab does not accept this token.").knowing(
        confidence="certain",
        evidence=["GitLab answered 401 to GET /user"],
        suggested_fix="Sign in again, or send a token that has neither expired nor been revoked.",
    )
    return Rejected(failure, 401, {"WWW-Authenticate": f'{challenge}, error="invalid_token"'})


def _no_token() -> Failure:
    return Failure(Code.AUTHENTICATION_FAILED, "The request brings no GitLab token.").knowing(
        suggested_fix="Send your GitLab token with every request as PRIVATE-TOKEN, JOB-TOKEN or "
        "Authorization: Bearer.",
    )


def _no_secret() -> Failure:
    return Failure(
        Code.AUTHENTICATION_FAILED, "The request does not bring the secret this server asks for."
    ).knowing(suggested_fix="Send the secret that the operator gave you as Authorization: Bearer.")


def _two_tokens() -> Failure:
    return Failure(Code.AUTHENTICATION_FAILED, "The request brings more than one token.").knowing(
        suggested_fix="Send one of PRIVATE-TOKEN, JOB-TOKEN and Authorization, once."
    )


def _malformed() -> Failure:
    return Failure(Code.AUTHENTICATION_FAILED, "What the request brings is not a token.").knowing(
        suggested_fix="Send the token as it is, without quotes or spaces; after Authorization: Bearer, or as "
        "PRIVATE-TOKEN.",
    )


def _foreign_gitlab() -> Failure:
    return Failure(
        Code.HOST_NOT_ALLOWED, "The request asks for a GitLab that the operator did not allow."
    ).knowing(
        suggested_fix=f"Leave out {GITLAB_URL}, or ask the operator to add the host with --allow-gitlab-host."
    )


def _bad_header(name: str, expected: str) -> Failure:
    return Failure(Code.INVALID_VALUE, f"The header {name} holds something else than expected.").knowing(
        invalid_fields=[{"field": name, "expected": expected, "received": "something else"}],
        suggested_fix=f"Send {name} as {expected}, or leave it out.",
    )

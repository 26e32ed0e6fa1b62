"""Whose request it is, by its headers: the secret that the operator may require, the GitLab token, the GitLab."""

from __future__ import annotations

import hmac
import re
from dataclasses import dataclass

from starlette.datastructures import Headers

from gitlab_mcp.callers import RequestContext, Secret, Token, TokenKind
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import Failure
from gitlab_mcp.gitlab.address import parse_address
from gitlab_mcp.transports.http.options import HttpOptions
from gitlab_mcp.transports.http.rejection import Rejected
from gitlab_mcp.transports.http.request_headers import (
    GITLAB_URL,
    requested_error_style,
    requested_places,
    requested_read_only,
    requested_toolsets,
    requested_trust,
)

_MAX_TOKEN_LENGTH = 4096


@dataclass(frozen=True, slots=True)
class Authenticator:
    options: HttpOptions

    def request_context(self, headers: Headers, request_id: str, challenge: str) -> RequestContext:
        """Raises Rejected. `challenge` is the `WWW-Authenticate` header for a client that must authenticate."""
        if self.options.bearer is not None:
            self._check_secret(headers, self.options.bearer())
        token = self._token(headers, challenge)
        url = self._gitlab_url(headers)
        if token is None and (url is not None or not self.options.own_token):
            raise Rejected(_no_token(), 401, {"WWW-Authenticate": challenge})
        return RequestContext(
            request_id=request_id,
            token=token,
            gitlab_url=url,
            error_style=requested_error_style(headers),
            toolsets=requested_toolsets(headers, self.options.toolsets),
            read_only=requested_read_only(headers),
            trust=requested_trust(headers),
            only_in=requested_places(headers),
        )

    def _check_secret(self, headers: Headers, secret: Secret) -> None:
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
            found += [
                ("bearer", _bearer_token(value, challenge)) for value in headers.getlist("authorization")
            ]
        if not found:
            return None
        if len(found) > 1:
            # It would be a guess whose rights the request has.
            raise Rejected(_several_tokens(), 400)
        kind, value = found[0]
        if not re.fullmatch(r"[!-~]+", value) or len(value) > _MAX_TOKEN_LENGTH:
            raise Rejected(
                _malformed_token(), 401, {"WWW-Authenticate": f'{challenge}, error="invalid_token"'}
            )
        return Token(Secret(value), kind)

    def _gitlab_url(self, headers: Headers) -> str | None:
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
            raise Rejected(_gitlab_not_allowed(), 403)
        return url


def _bearer_token(header: str, challenge: str) -> str:
    scheme, _, value = header.partition(" ")
    if scheme.lower() != "bearer":
        raise Rejected(_malformed_token(), 401, {"WWW-Authenticate": challenge})
    return value.strip()


def token_not_accepted(challenge: str) -> Rejected:
    """With an HTTP 401, so that the client signs in again."""
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
    ).knowing(
        suggested_fix="Send the secret of this server as Authorization: Bearer. The operator has it: in the file of "
        "--require-bearer-file, or the server printed it when it started."
    )


def _several_tokens() -> Failure:
    return Failure(Code.AUTHENTICATION_FAILED, "The request brings more than one token.").knowing(
        suggested_fix="Send one of PRIVATE-TOKEN, JOB-TOKEN and Authorization, once."
    )


def _malformed_token() -> Failure:
    return Failure(Code.AUTHENTICATION_FAILED, "What the request brings is not a token.").knowing(
        suggested_fix="Send the token as it is, without quotes or spaces; after Authorization: Bearer, or as "
        "PRIVATE-TOKEN.",
    )


def _gitlab_not_allowed() -> Failure:
    return Failure(
        Code.HOST_NOT_ALLOWED, "The request asks for a GitLab that the operator did not allow."
    ).knowing(
        suggested_fix=f"Leave out {GITLAB_URL}, or ask the operator to add the host with --allow-gitlab-host."
    )

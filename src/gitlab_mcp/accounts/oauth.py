"""Signing in to GitLab: the questions and answers of OAuth, as the library oauthlib writes and reads them."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeGuard
from urllib.parse import urlsplit

from oauthlib.common import generate_token
from oauthlib.oauth2 import (
    DeviceClient,
    MismatchingStateError,
    OAuth2Error,
    OAuth2Token,
    WebApplicationClient,
)

from gitlab_mcp.accounts.credential import Credential, Renewal
from gitlab_mcp.actions.exchange import Request
from gitlab_mcp.callers import Secret
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.gitlab.faults import BadAnswer, BadAnswerReason, Refused
from gitlab_mcp.gitlab.oauth_endpoints import OAuthEndpoints

AUTHORIZE: Final = "/oauth/authorize"
TOKEN: Final = "/oauth/token"
DEVICE: Final = "/oauth/authorize_device"
REVOKE: Final = "/oauth/revoke"
TOKEN_INFO: Final = "/oauth/token/info"
_LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")
_USUAL_LIFETIME: Final = 7200
"""Seconds. GitLab's, where it says none."""
_LONGEST_LIFETIME: Final = 365 * 24 * 3600
_USUAL_INTERVAL: Final = 5
"""Seconds between two questions whether the person has confirmed; RFC 8628 says so where GitLab says nothing."""


@dataclass(frozen=True, slots=True)
class Authorization:
    """What the person is sent to GitLab with, and what must fit what comes back."""

    url: str
    redirect: str
    state: str
    verifier: Secret


@dataclass(frozen=True, slots=True)
class Device:
    """What the person types in at GitLab, and what is asked with meanwhile."""

    user_code: str
    url: str
    complete_url: str
    """With the code in it already."""
    code: Secret
    expires_in: float
    interval: float


class OAuthRefused(CallFailed):
    """GitLab said no in OAuth's words."""

    def __init__(self, error: str) -> None:
        super().__init__(_refused(error))
        self.error = error

    @property
    def ended(self) -> bool:
        """Whether the refresh token, or the code, is taken no more."""
        return self.error == "invalid_grant"

    @property
    def pending(self) -> bool:
        """Whether the person has not confirmed yet."""
        return self.error in ("authorization_pending", "slow_down")


@dataclass(frozen=True, slots=True)
class OAuth:
    """One application of one GitLab. Every method that asks GitLab may raise what `OAuthEndpoints` raises."""

    endpoints: OAuthEndpoints
    client_id: str
    clock: Callable[[], float] = time.time

    def authorization(self, redirect: str, scope: str) -> Authorization:
        """Authorization code with PKCE: whoever sees the code alone can do nothing with it."""
        client = WebApplicationClient(self.client_id)
        verifier, state = client.create_code_verifier(64), generate_token(43)
        url = client.prepare_request_uri(
            _as_https(self.endpoints.url + AUTHORIZE),
            redirect_uri=redirect,
            scope=[scope],
            state=state,
            code_challenge=client.create_code_challenge(verifier, "S256"),
            code_challenge_method="S256",
        )
        return Authorization(_as_was(url, self.endpoints.url), redirect, state, Secret(verifier))

    def sign_in_with_code(self, authorization: Authorization, query: str) -> Credential:
        """`query` is what the browser brought back."""
        client = WebApplicationClient(self.client_id)
        came_back = f"{authorization.redirect}?{query}"
        try:
            found = client.parse_request_uri_response(_as_https(came_back), state=authorization.state)
        except MismatchingStateError:
            raise CallFailed(_OF_ANOTHER_SIGN_IN) from None
        except OAuth2Error as error:
            raise OAuthRefused(str(error.error)) from None
        form = client.prepare_request_body(
            code=found["code"],
            redirect_uri=authorization.redirect,
            code_verifier=authorization.verifier.reveal(),
        )
        return self._credential(self._ask(TOKEN, form))

    def begin_with_device(self, scope: str) -> Device:
        prepared = DeviceClient(self.client_id).prepare_request_uri(
            _as_https(self.endpoints.url + DEVICE), scope=[scope]
        )
        try:
            answer = _object(DEVICE, self.endpoints.post(DEVICE, urlsplit(prepared).query))
        except Refused as refused:
            raise CallFailed(_NO_DEVICE_FLOW) if refused.status == 404 else refused from None
        if "error" in answer:
            raise OAuthRefused(str(answer["error"]))
        try:
            url = str(answer["verification_uri"])
            return Device(
                str(answer["user_code"]),
                url,
                str(answer.get("verification_uri_complete") or url),
                Secret(str(answer["device_code"])),
                float(answer["expires_in"]),
                max(1.0, float(answer.get("interval") or _USUAL_INTERVAL)),
            )
        except (KeyError, TypeError, ValueError):
            raise _unlike_gitlab(DEVICE) from None

    def sign_in_with_device(self, device: Device, sleep: Callable[[float], None] = time.sleep) -> Credential:
        """Asks until the person has confirmed or the code has ended."""
        form = DeviceClient(self.client_id).prepare_request_body(device.code.reveal(), include_client_id=True)
        interval, ends = device.interval, self.clock() + device.expires_in
        while self.clock() + interval < ends:
            sleep(interval)
            try:
                return self._credential(self._ask(TOKEN, form))
            except OAuthRefused as refused:
                if not refused.pending:
                    raise
                # RFC 8628: who is told to slow down waits five seconds longer from then on.
                interval += 5 if refused.error == "slow_down" else 0
        raise OAuthRefused("expired_token")

    def renewed(self, credential: Credential) -> Credential:
        """With this the refresh token is spent: GitLab gives a new one. Raises OAuthRefused."""
        assert credential.renewal is not None
        client = WebApplicationClient(self.client_id)
        form = client.prepare_refresh_body(
            refresh_token=credential.renewal.refresh_token.reveal(), client_id=self.client_id
        )
        return self._credential(self._ask(TOKEN, form), credential)

    def revoke(self, credential: Credential) -> None:
        """Both tokens end. GitLab says yes to a token that has ended before."""
        refresh_token = credential.renewal.refresh_token if credential.renewal else None
        for token in filter(None, (refresh_token, credential.token)):
            _, _, form = WebApplicationClient(self.client_id).prepare_token_revocation_request(
                _as_https(self.endpoints.url + REVOKE), token.reveal(), None, client_id=self.client_id
            )
            answer = _object(REVOKE, self.endpoints.post(REVOKE, form))
            if "error" in answer:
                raise OAuthRefused(str(answer["error"]))

    def scopes(self, credential: Credential) -> tuple[str, ...]:
        """What GitLab says the access token may do."""
        answer = _object(TOKEN_INFO, self.endpoints.get(TOKEN_INFO, credential.token.reveal()))
        scopes = answer.get("scope")
        return tuple(map(str, scopes)) if isinstance(scopes, list) else ()

    def _ask(self, path: str, form: str) -> OAuth2Token:
        text = self.endpoints.post(path, form)
        try:
            return WebApplicationClient(self.client_id).parse_request_body_response(text)
        except OAuth2Error as error:
            raise OAuthRefused(str(error.error)) from None
        except (ValueError, TypeError, AttributeError):
            raise _unlike_gitlab(path) from None

    def _credential(self, answer: Mapping[str, Any], before: Credential | None = None) -> Credential:
        token, refresh_token = answer.get("access_token"), answer.get("refresh_token")
        lifetime = answer.get("expires_in", _USUAL_LIFETIME)
        if not (_is_token(token) and _is_token(refresh_token) and isinstance(lifetime, int)):
            raise _unlike_gitlab(TOKEN)
        ends = self.clock() + min(max(lifetime, 0), _LONGEST_LIFETIME)
        renewal = Renewal(Secret(refresh_token), self.client_id, ends)
        if before is None:
            return Credential(Secret(token), renewal)
        return Credential(Secret(token), renewal, before.username, before.sign_in)


def _is_token(value: object) -> TypeGuard[str]:
    """Whether it can stand in a header and in a form."""
    return isinstance(value, str) and re.fullmatch(r"[!-~]+", value) is not None


def may_sign_in(url: str) -> bool:
    """Whether tokens can be sent there: encrypted, or not leaving this machine."""
    parts = urlsplit(url)
    return parts.scheme == "https" or parts.hostname in _LOOPBACK


def _as_https(url: str) -> str:
    """oauthlib takes https alone, also for what does not leave this machine."""
    return "https" + url[url.index("://") :]


def _as_was(url: str, like: str) -> str:
    return like[: like.index("://")] + url[url.index("://") :]


def _object(path: str, text: str) -> Mapping[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        raise _unlike_gitlab(path) from None
    if not isinstance(found, dict):
        raise _unlike_gitlab(path)
    return found


def _unlike_gitlab(path: str) -> BadAnswer:
    return BadAnswer(Request("POST", path, repeatable=True), BadAnswerReason.UNEXPECTED_SHAPE, 200)


_REFUSALS: Final = {
    "invalid_client": (
        "GitLab knows no application with this client id.",
        "Copy the application's id from GitLab again, and see that the application is not confidential.",
    ),
    "unauthorized_client": (
        "The application may not be signed in to this way.",
        "Make the application in GitLab without `Confidential`, with the scopes api and read_api.",
    ),
    "invalid_scope": (
        "The application was not made with the scope that is asked for.",
        "Add the scope to the application in GitLab, or sign in with --read-only where it has read_api alone.",
    ),
    "access_denied": ("GitLab was told not to let this program in.", "Sign in again and allow it."),
    "expired_token": (
        "Nobody confirmed the code in time.",
        "Run the command again and type the code in before it ends.",
    ),
    "invalid_grant": (
        "GitLab takes what it was given for signing in no more: it has ended, was revoked, or was used before.",
        "Sign in again with `gitlab-mcp login`.",
    ),
}


def _refused(error: str) -> Failure:
    message, fix = _REFUSALS.get(
        error,
        (
            "GitLab did not let this program sign in.",
            "See docs/guides/accounts.md for how the application in GitLab must be made.",
        ),
    )
    return Failure(Code.AUTHENTICATION_FAILED, message).knowing(confidence="certain", suggested_fix=fix)


_OF_ANOTHER_SIGN_IN: Final = Failure(
    Code.AUTHENTICATION_FAILED, "What the browser brought back belongs to another sign-in; it was not used."
).knowing(confidence="certain", suggested_fix="Run the command again, and use the page that it opens.")

_NO_DEVICE_FLOW: Final = Failure(
    Code.FEATURE_UNAVAILABLE, "This GitLab lets nobody sign in with a code; GitLab 17.1 and newer do."
).knowing(
    confidence="likely",
    suggested_fix="Run the command where a browser can be opened, or keep a token: `gitlab-mcp init`.",
)

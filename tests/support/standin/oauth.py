"""GitLab's OAuth, served by the library authlib: it checks PKCE and scopes, rotates refresh tokens and revokes.

The routes and the members of answers are those that GitLab documents; how the API refuses an ended token is recorded
(`WWW-Authenticate` with `error="invalid_token"`). The people and their tokens are invented.

    oauth = GitLabOAuth(standin.url)
    standin.add(oauth)
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import RLock
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from authlib.common.security import generate_token
from authlib.oauth2.rfc6749 import (
    AuthorizationServer,
    ClientMixin,
    OAuth2Error,
    OAuth2Payload,
    OAuth2Request,
    TokenMixin,
)
from authlib.oauth2.rfc6749.grants import AuthorizationCodeGrant, RefreshTokenGrant
from authlib.oauth2.rfc6749.requests import BasicOAuth2Payload
from authlib.oauth2.rfc7009 import RevocationEndpoint
from authlib.oauth2.rfc7636 import CodeChallenge
from authlib.oauth2.rfc8628 import DeviceAuthorizationEndpoint, DeviceCodeGrant, DeviceCredentialDict

from tests.support.standin.exchange import API, Received, Reply

APPLICATION = "0123456789abcdef" * 4
REDIRECT = "http://127.0.0.1:39471/callback"
_HEX = "0123456789abcdef"


@dataclass(slots=True)
class _Application(ClientMixin):  # type: ignore[misc]
    """Not confidential: it has no secret."""

    scopes: tuple[str, ...]
    grants: tuple[str, ...] = ("authorization_code", "refresh_token", DeviceCodeGrant.GRANT_TYPE)

    def get_client_id(self) -> str:
        return APPLICATION

    def get_default_redirect_uri(self) -> str:
        return REDIRECT

    def get_allowed_scope(self, scope: str) -> str:
        return " ".join(each for each in scope.split() if each in self.scopes)

    def check_redirect_uri(self, redirect_uri: str) -> bool:
        # As Doorkeeper does it: a loopback address is compared without its port.
        given, registered = urlsplit(redirect_uri), urlsplit(REDIRECT)
        return given._replace(netloc=given.hostname or "") == registered._replace(netloc="127.0.0.1")

    def check_client_secret(self, client_secret: str) -> bool:
        return False

    def check_endpoint_auth_method(self, method: str, endpoint: str) -> bool:
        return method == "none"

    def check_response_type(self, response_type: str) -> bool:
        return response_type == "code"

    def check_grant_type(self, grant_type: str) -> bool:
        return grant_type in self.grants


@dataclass(slots=True)
class _Token(TokenMixin):  # type: ignore[misc]
    access: str
    refresh: str
    user: str
    scope: str
    expires_at: float
    revoked: bool = False

    def check_client(self, client: _Application) -> bool:
        return True

    def get_scope(self) -> str:
        return self.scope

    def get_expires_in(self) -> int:
        return round(self.expires_at - time.time())

    def is_expired(self) -> bool:
        return self.expires_at <= time.time()

    def is_revoked(self) -> bool:
        return self.revoked

    def get_user(self) -> str:
        return self.user

    def get_client(self) -> str:
        return APPLICATION


@dataclass(slots=True)
class _Code:
    value: str
    user: str
    redirect_uri: str
    scope: str
    code_challenge: str
    code_challenge_method: str

    def get_redirect_uri(self) -> str:
        return self.redirect_uri

    def get_scope(self) -> str:
        return self.scope


@dataclass(slots=True)
class GitLabOAuth:
    url: str
    user: str = "alice"
    """Who is signed in in the browser."""
    allows: bool | None = True
    """What the person says; None as long as they have not said it."""
    lifetime: int = 7200
    scopes: tuple[str, ...] = ("api", "read_api")
    answers: dict[str, Any] = field(default_factory=dict)
    """Of the API to whoever has an alive token, by route."""
    renewals: int = 0
    refused_renewals: int = 0
    tokens: list[_Token] = field(default_factory=list)
    codes: dict[str, _Code] = field(default_factory=dict)
    devices: dict[str, DeviceCredentialDict] = field(default_factory=dict)
    _server: _Server = field(init=False)
    _lock: RLock = field(default_factory=RLock)

    def __post_init__(self) -> None:
        self._server = _Server(self)

    def owns(self, received: Received) -> bool:
        if received.path.startswith("/oauth/"):
            return True
        return received.path.startswith(API) and self._token_of(received) is not None

    def reply_to(self, received: Received) -> Reply:
        """Refused with what the library says, where it raises."""
        try:
            return self._reply_to(received)
        except OAuth2Error as error:
            status, body, headers = error()
            return Reply.of(status, body, dict(headers))

    def _reply_to(self, received: Received) -> Reply:
        if received.path.startswith(API):
            return self._api(received)
        route = received.method, received.path
        form = _Request(self.url, received)
        with self._lock:
            reply: Reply
            match route:
                case "GET", "/oauth/authorize":
                    grant = self._server.get_consent_grant(form, end_user=self._person())
                    reply = self._server.create_authorization_response(form, self._person(), grant)
                case "POST", "/oauth/token":
                    reply = self._give_token(form)
                case "POST", "/oauth/authorize_device":
                    reply = self._server.create_endpoint_response("device_authorization", form)
                case "POST", "/oauth/revoke":
                    reply = self._server.create_endpoint_response("revocation", form)
                case "GET", "/oauth/token/info":
                    reply = self._info(received)
                case _:
                    reply = Reply.of(404, {"error": "404 Not Found"})
        return reply

    def end_access_tokens(self) -> None:
        """Two hours later."""
        for token in self.tokens:
            token.expires_at = time.time() - 1

    def revoke_everything(self) -> None:
        for token in self.tokens:
            token.revoked = True

    def _person(self) -> str | None:
        return self.user if self.allows else None

    def _give_token(self, form: _Request) -> Reply:
        renews = form.payload.grant_type == "refresh_token"
        reply: Reply = self._server.create_token_response(form)
        if renews:
            self.renewals += reply.status == 200
            self.refused_renewals += reply.status != 200
        return reply

    def _token_of(self, received: Received) -> _Token | None:
        return next((each for each in self.tokens if each.access == received.token), None)

    def _api(self, received: Received) -> Reply:
        token = self._token_of(received)
        assert token is not None
        if received.headers.get("authorization") != f"Bearer {token.access}":
            return Reply.of(401, {"message": "401 Unauthorized"})
        if token.revoked:
            return _ended("Token was revoked. You have to re-authorize from the user.")
        if token.is_expired():
            return _ended("Token is expired. You can either do re-authorization or token refresh.")
        known = {
            "/user": {"id": 2, "username": token.user},
            "/version": {"version": "19.3.0"},
            **self.answers,
        }
        if received.route in known:
            return Reply.of(200, known[received.route])
        return Reply.of(404, {"message": "404 Not Found"})

    def _info(self, received: Received) -> Reply:
        token = self._token_of(received)
        if token is None or token.revoked or token.is_expired():
            return _ended("The access token is invalid")
        info = {"resource_owner_id": 2, "scope": token.scope.split(), "expires_in": token.get_expires_in()}
        return Reply.of(200, info)


def _ended(description: str) -> Reply:
    challenge = (
        f'Bearer realm="Protected by OAuth 2.0", error="invalid_token", error_description="{description}"'
    )
    return Reply.of(
        401, {"error": "invalid_token", "error_description": description}, {"WWW-Authenticate": challenge}
    )


class _Request(OAuth2Request):  # type: ignore[misc]
    """What the stand-in received, as the library wants it."""

    def __init__(self, url: str, received: Received) -> None:
        # The library takes https alone; the stand-in is on this machine.
        super().__init__(received.method, f"https://stand-in{received.path}?{received.query}", headers={})
        self._args = dict(parse_qsl(received.query))
        self._form = dict(parse_qsl(received.body.decode()))
        self.payload: OAuth2Payload = BasicOAuth2Payload({**self._args, **self._form})

    @property
    def args(self) -> Mapping[str, str]:
        return self._args

    @property
    def form(self) -> Mapping[str, str]:
        return self._form


class _Server(AuthorizationServer):  # type: ignore[misc]
    def __init__(self, gitlab: GitLabOAuth) -> None:
        super().__init__(scopes_supported=list(gitlab.scopes))
        self.gitlab = gitlab
        self.register_token_generator("default", self._generated)
        for grant in (_CodeGrant, _RefreshGrant, _DeviceGrant):
            self.register_grant(grant, [CodeChallenge(required=True)] if grant is _CodeGrant else None)
        self.register_endpoint(_Revocation)
        self.register_endpoint(_Devices)

    def query_client(self, client_id: str) -> _Application | None:
        return _Application(self.gitlab.scopes) if client_id == APPLICATION else None

    def save_token(self, token: Mapping[str, Any], request: OAuth2Request) -> None:
        lasts = time.time() + self.gitlab.lifetime
        self.gitlab.tokens.append(
            _Token(token["access_token"], token["refresh_token"], request.user, token["scope"], lasts)
        )

    def create_oauth2_request(self, request: _Request) -> _Request:
        return request

    def handle_response(self, status: int, body: Any, headers: list[tuple[str, str]]) -> Reply:
        return Reply.of(status, body or None if isinstance(body, str) else body, dict(headers))

    def send_signal(self, name: str, *args: Any, **kwargs: Any) -> None:
        """Nobody listens."""

    def _generated(self, grant_type: str, client: Any, scope: str = "", **_: Any) -> dict[str, Any]:
        return {
            "access_token": generate_token(64, _HEX),
            "token_type": "Bearer",
            "expires_in": self.gitlab.lifetime,
            "refresh_token": generate_token(64, _HEX),
            "scope": scope,
            "created_at": int(time.time()),
        }


class _CodeGrant(AuthorizationCodeGrant):  # type: ignore[misc]
    TOKEN_ENDPOINT_AUTH_METHODS: tuple[str, ...] = ("none",)

    def save_authorization_code(self, code: str, request: OAuth2Request) -> None:
        data = request.payload.data
        self.server.gitlab.codes[code] = _Code(
            code,
            request.user,
            request.payload.redirect_uri,
            request.payload.scope,
            data["code_challenge"],
            data["code_challenge_method"],
        )

    def query_authorization_code(self, code: str, client: _Application) -> _Code | None:
        found: _Code | None = self.server.gitlab.codes.get(code)
        return found

    def delete_authorization_code(self, authorization_code: _Code) -> None:
        del self.server.gitlab.codes[authorization_code.value]

    def authenticate_user(self, authorization_code: _Code) -> str:
        return authorization_code.user


class _RefreshGrant(RefreshTokenGrant):  # type: ignore[misc]
    TOKEN_ENDPOINT_AUTH_METHODS: tuple[str, ...] = ("none",)
    INCLUDE_NEW_REFRESH_TOKEN = True

    def authenticate_refresh_token(self, refresh_token: str) -> _Token | None:
        alive = (
            each for each in self.server.gitlab.tokens if each.refresh == refresh_token and not each.revoked
        )
        return next(alive, None)

    def authenticate_user(self, refresh_token: _Token) -> str:
        return refresh_token.user

    def revoke_old_credential(self, refresh_token: _Token) -> None:
        refresh_token.revoked = True


class _DeviceGrant(DeviceCodeGrant):  # type: ignore[misc]
    TOKEN_ENDPOINT_AUTH_METHODS: tuple[str, ...] = ("none",)

    def query_device_credential(self, device_code: str) -> DeviceCredentialDict | None:
        return self.server.gitlab.devices.get(device_code)

    def query_user_grant(self, user_code: str) -> tuple[str, bool] | None:
        gitlab = self.server.gitlab
        return None if gitlab.allows is None else (gitlab.user, gitlab.allows)

    def should_slow_down(self, credential: DeviceCredentialDict) -> bool:
        return False


class _Devices(DeviceAuthorizationEndpoint):  # type: ignore[misc]
    INTERVAL = 1

    def get_verification_uri(self) -> str:
        return f"{self.server.gitlab.url}/oauth/device"

    def save_device_credential(self, client_id: str, scope: str, data: dict[str, Any]) -> None:
        expires_at = time.time() + data["expires_in"]
        credential = DeviceCredentialDict(client_id=client_id, scope=scope, expires_at=expires_at, **data)
        self.server.gitlab.devices[data["device_code"]] = credential


class _Revocation(RevocationEndpoint):  # type: ignore[misc]
    CLIENT_AUTH_METHODS: tuple[str, ...] = ("none",)

    def query_token(self, token_string: str, token_type_hint: str | None) -> _Token | None:
        tokens = self.server.gitlab.tokens
        return next((each for each in tokens if token_string in (each.access, each.refresh)), None)

    def revoke_token(self, token: _Token, request: OAuth2Request) -> None:
        token.revoked = True

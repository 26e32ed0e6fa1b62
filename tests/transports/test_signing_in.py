"""A client without a token finds its own way: from our 401 to GitLab, and back with a token. GitLab's part is invented:
what it answers here is what the specifications ask of an authorization server."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from mcp import Client
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken

from tests.support.served import Served
from tests.support.standin import StandIn

pytestmark = pytest.mark.anyio


class Remembered:
    def __init__(self) -> None:
        self.tokens: OAuthToken | None = None
        self.client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


def authorizing(gitlab: StandIn) -> None:
    metadata = {
        "issuer": gitlab.url,
        "authorization_endpoint": f"{gitlab.url}/oauth/authorize",
        "token_endpoint": f"{gitlab.url}/oauth/token",
        "registration_endpoint": f"{gitlab.url}/oauth/register",
        "response_types_supported": ["code"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["none"],
        "scopes_supported": ["api", "read_api"],
    }
    client = {
        "client_id": "the-client",
        "redirect_uris": ["http://localhost:7777/back"],
        "token_endpoint_auth_method": "none",
    }
    token = {"access_token": "from-gitlab", "token_type": "Bearer", "expires_in": 7200, "scope": "api"}
    gitlab.answer("GET", "/.well-known/oauth-authorization-server", 200, metadata)
    gitlab.answer("POST", "/oauth/register", 201, client)
    gitlab.answer("POST", "/oauth/token", 200, token)


async def test_a_client_without_a_token_signs_in_at_gitlab_and_calls(server: Served, labels: StandIn) -> None:
    authorizing(labels)
    sent_to: list[str] = []

    async def browse(url: str) -> None:
        sent_to.append(url)

    async def come_back() -> AuthorizationCodeResult:
        asked = parse_qs(urlsplit(sent_to[-1]).query)
        return AuthorizationCodeResult(code="granted", state=asked["state"][0])

    auth = OAuthClientProvider(
        server.url,
        OAuthClientMetadata(redirect_uris=["http://localhost:7777/back"], client_name="t"),  # type: ignore[list-item]
        Remembered(),
        browse,
        come_back,
    )
    async with (
        httpx2.AsyncClient(auth=auth, timeout=30) as http,
        Client(streamable_http_client(server.url, http_client=http)) as client,
    ):
        answer = await client.call_tool("browse_labels", {"action": "list", "project_id": "1"})
    assert not answer.is_error
    asked = parse_qs(urlsplit(sent_to[0]).query)
    assert sent_to[0].startswith(f"{labels.url}/oauth/authorize?")
    assert (asked["scope"], asked["resource"]) == (["api"], [server.url])
    api = {request.headers.get("authorization") for request in labels.requests if "/api/v4/" in request.path}
    assert api == {"Bearer from-gitlab"}

"""The only code that knows python-gitlab.

python-gitlab builds the URL, the token header and the options of a request. Its paging, retries, redirects and error
handling are off. The live response is kept in the `InFlightRequest`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import requests
from gitlab._backends.requests_backend import RequestsBackend, RequestsResponse
from gitlab.client import Gitlab
from gitlab.exceptions import GitlabError

from gitlab_mcp.actions.exchange import Request
from gitlab_mcp.callers import TokenKind
from gitlab_mcp.gitlab.address import GRAPHQL_PATH, Address, query_pairs
from gitlab_mcp.gitlab.in_flight import current_request


@dataclass(frozen=True, slots=True)
class HttpSession:
    """The requests session that all callers share, and the options that hold for every request."""

    address: Address
    requests_session: requests.Session
    verify: bool | str
    connect_timeout: float
    read_timeout: float


class _UnreadResponse(RequestsResponse):
    """Keeps python-gitlab from reading the body of a refusal: it would read all of it, and drop the headers."""

    @property
    def content(self) -> bytes:
        return b""

    def json(self) -> Any:
        raise ValueError


class _Backend(RequestsBackend):
    def http_request(  # type: ignore[override]
        self, method: str, url: str, timeout: Any, verify: Any, stream: bool, **options: Any
    ) -> RequestsResponse:
        prepared = self.client.prepare_request(requests.Request(method, url, **options))
        settings = self.client.merge_environment_settings(prepared.url, {}, stream, verify, None)
        response = self.client.send(prepared, timeout=timeout, allow_redirects=False, **settings)
        current_request().response = response
        return _UnreadResponse(response)


def send(http: HttpSession, token: str | None, kind: TokenKind, request: Request) -> requests.Response:
    """Send the request and return when the headers have arrived, whatever the status."""
    try:
        _client(http, token, kind).http_request(
            request.method,
            http.address.graphql if request.path == GRAPHQL_PATH else request.path,
            query_data=_values_by_name(query_pairs(request.query)),
            post_data=None if request.body is None else dict(request.body),
            timeout=(http.connect_timeout, http.read_timeout),  # type: ignore[arg-type]
            obey_rate_limit=False,
            retry_transient_errors=False,
            max_retries=0,
            streamed=True,
        )
    except GitlabError:
        if current_request().response is None:
            raise
    response = current_request().response
    assert response is not None
    return response


def _client(http: HttpSession, token: str | None, kind: TokenKind) -> Gitlab:
    argument = {"private": "private_token", "job": "job_token", "bearer": "oauth_token"}[kind]
    credentials: dict[str, Any] = {argument: token}
    return Gitlab(
        http.address.root,
        ssl_verify=http.verify,
        keep_base_url=True,
        backend=partial(_Backend, http.requests_session),
        **credentials,
    )


def _values_by_name(pairs: list[tuple[str, str]]) -> dict[str, list[str]]:
    values: dict[str, list[str]] = {}
    for name, value in pairs:
        values.setdefault(name, []).append(value)
    return values

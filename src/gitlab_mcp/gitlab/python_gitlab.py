"""The only code that knows python-gitlab.

python-gitlab builds the URL, the token header and the options of a request. Its paging, retries, redirects and error
handling are off. The live response is kept in the `InFlightRequest`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from mimetypes import guess_type
from typing import Any

import requests
from gitlab._backends.requests_backend import RequestsBackend, RequestsResponse, SendData
from gitlab.client import Gitlab
from gitlab.const import USER_AGENT
from gitlab.exceptions import GitlabError
from urllib3.filepost import encode_multipart_formdata

from gitlab_mcp.actions.exchange import File, Request
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
    @staticmethod
    def prepare_send_data(
        files: Mapping[str, File] | None = None, post_data: Any = None, raw: bool = False
    ) -> SendData:
        """Of files, python-gitlab would send those alone that are called `file` or `avatar`."""
        data: Any
        if raw:
            return SendData("application/octet-stream", data=post_data)
        if files:
            data, content_type = _form(post_data or {}, files)
            return SendData(content_type, data=data)
        return SendData("application/json", json=post_data)

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
            post_data=request.content if request.content is not None else _body(request),
            raw=request.content is not None,
            files=dict(request.files),
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


def _body(request: Request) -> dict[str, Any] | None:
    return None if request.body is None else dict(request.body)


def _form(fields: Mapping[str, Any], files: Mapping[str, File]) -> tuple[bytes, str]:
    parts = [
        (name, (file.name, file.content, guess_type(file.name)[0] or "application/octet-stream"))
        for name, file in files.items()
    ]
    return encode_multipart_formdata([*query_pairs(fields), *parts])


def _client(http: HttpSession, token: str | None, kind: TokenKind) -> Gitlab:
    argument = {"private": "private_token", "job": "job_token", "bearer": "oauth_token"}[kind]
    credentials: dict[str, Any] = {argument: token}
    return _GitlabWithoutObjects(
        http.address.root,
        ssl_verify=http.verify,
        backend=partial(_Backend, http.requests_session),
        **credentials,
    )


class _GitlabWithoutObjects(Gitlab):
    """What makes requests. For everything there is in GitLab python-gitlab has a class, unused here, and its own
    `__init__` imports and makes them all: that takes 8 MB, and most of the time that making this takes."""

    def __init__(
        self,
        url: str,
        *,
        backend: Callable[[], RequestsBackend],
        ssl_verify: bool | str = True,
        private_token: str | None = None,
        oauth_token: str | None = None,
        job_token: str | None = None,
    ) -> None:
        self._base_url = url
        self._url = f"{url}/api/v4"
        self._backend = backend()
        self.headers = {"User-Agent": USER_AGENT}
        self.timeout = None
        self.ssl_verify = ssl_verify
        self.retry_transient_errors = False
        self.keep_base_url = True
        self.private_token, self.oauth_token, self.job_token = private_token, oauth_token, job_token
        self.http_username = self.http_password = None
        self._set_auth_info()


def _values_by_name(pairs: list[tuple[str, str]]) -> dict[str, list[str]]:
    values: dict[str, list[str]] = {}
    for name, value in pairs:
        values.setdefault(name, []).append(value)
    return values

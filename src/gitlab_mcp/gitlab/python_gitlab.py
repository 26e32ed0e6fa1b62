"""The only code that knows python-gitlab.

It puts the URL, the token and the options together, and that is all we ask of it: its paging, its retries,
its redirects and its reading of errors are off. The live response stays with us, in the `InFlightRequest`.
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
from gitlab_mcp.gitlab.address import Address, query_pairs
from gitlab_mcp.gitlab.in_flight import current


@dataclass(frozen=True, slots=True)
class Dial:
    """How to reach GitLab: what is the same for every caller."""

    address: Address
    session: requests.Session
    verify: bool | str
    connect_timeout: float
    read_timeout: float


class _Unread(RequestsResponse):
    """A refusal whose body python-gitlab must not read: it would read it whole, and keep no headers."""

    @property
    def content(self) -> bytes:
        return b""

    def json(self) -> Any:
        raise ValueError


class _Backend(RequestsBackend):
    def http_request(  # type: ignore[override]
        self, method: str, url: str, timeout: Any, verify: Any, stream: bool, **given: Any
    ) -> RequestsResponse:
        prepared = self.client.prepare_request(requests.Request(method, url, **given))
        settings = self.client.merge_environment_settings(prepared.url, {}, stream, verify, None)
        response = self.client.send(prepared, timeout=timeout, allow_redirects=False, **settings)
        current().response = response
        return _Unread(response)


def speak_as(dial: Dial, token: str | None, kind: TokenKind) -> Gitlab:
    named = {"private": "private_token", "job": "job_token", "bearer": "oauth_token"}[kind]
    credentials: dict[str, Any] = {named: token}
    return Gitlab(
        dial.address.root,
        ssl_verify=dial.verify,
        keep_base_url=True,
        backend=partial(_Backend, dial.session),
        **credentials,
    )


def _gathered(pairs: list[tuple[str, str]]) -> dict[str, list[str]]:
    gathered: dict[str, list[str]] = {}
    for key, value in pairs:
        gathered.setdefault(key, []).append(value)
    return gathered


def ask(caller: Gitlab, dial: Dial, request: Request, url: str) -> requests.Response:
    """Send, and return as soon as the headers are there, whatever the status."""
    try:
        caller.http_request(
            request.method,
            url,
            query_data=_gathered(query_pairs(request.query)),
            post_data=None if request.body is None else dict(request.body),
            timeout=(dial.connect_timeout, dial.read_timeout),  # type: ignore[arg-type]
            obey_rate_limit=False,
            retry_transient_errors=False,
            max_retries=0,
            streamed=True,
        )
    except GitlabError:
        if current().response is None:
            raise
    response = current().response
    assert response is not None
    return response

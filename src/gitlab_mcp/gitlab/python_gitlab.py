"""The only code that knows python-gitlab.

python-gitlab builds the URL and the options of a request. Its paging, retries, redirects and error handling are off.
The live response is kept in the `InFlightRequest`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from mimetypes import guess_type
from typing import Any, ClassVar, Final
from urllib.parse import urlencode

from gitlab._backends.requests_backend import SendData
from gitlab.client import Gitlab
from gitlab.const import USER_AGENT
from gitlab.exceptions import GitlabError
from urllib3 import Timeout, make_headers
from urllib3.filepost import encode_multipart_formdata

from gitlab_mcp.actions.exchange import File, Request
from gitlab_mcp.callers import TokenKind
from gitlab_mcp.gitlab.address import GRAPHQL_PATH, Address, query_pairs
from gitlab_mcp.gitlab.in_flight import current_request
from gitlab_mcp.gitlab.transport import Adapter, Incoming, Outgoing

_ACCEPTED: Final = {"Accept": "*/*", **make_headers(accept_encoding=True)}


class HttpSession:
    """What all callers share."""

    def __init__(self, address: Address, adapter: Adapter, timeout: Timeout, verify: bool | str) -> None:
        self.address = address
        self.adapter = adapter
        self.gitlab = _GitlabWithoutObjects(address.root, _Backend(adapter, timeout, verify))


class _GitlabWithoutObjects(Gitlab):
    """What makes requests. For everything there is in GitLab python-gitlab has a class, unused here, and its own
    `__init__` imports and makes them all: that takes 8 MB, and most of the time that making this takes."""

    def __init__(self, url: str, backend: _Backend) -> None:
        self._base_url = url
        self._url = f"{url}/api/v4"
        self._backend: Any = backend
        self.headers = {"User-Agent": USER_AGENT}
        self.timeout = None
        self.ssl_verify = True
        self.retry_transient_errors = False
        self.keep_base_url = True
        self.private_token = self.oauth_token = self.job_token = None
        self.http_username = self.http_password = None
        self._set_auth_info()


class _Backend:
    """What python-gitlab sends requests by."""

    def __init__(self, adapter: Adapter, timeout: Timeout, verify: bool | str) -> None:
        self._adapter = adapter
        self._timeout = timeout
        self._verify = verify

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

    def http_request(
        self,
        method: str,
        url: str,
        params: Mapping[str, Any],
        headers: dict[str, str],
        data: bytes | None,
        json: Any,
        **_: Any,
    ) -> _Unread:
        body = data if json is None else _as_json(json)
        # python-gitlab spells it in its own way, and names of headers are looked up by their letters.
        kind = headers.pop("Content-type")
        request = Outgoing(
            method,
            f"{url}?{urlencode(params, doseq=True)}" if params else url,
            {**_ACCEPTED, **headers, "Content-Type": kind},
            body,
        )
        response = self._adapter.send(request, self._timeout, self._verify)
        current_request().response = response
        return _Unread(response)


class _Unread:
    """The response as python-gitlab sees it. Of a refusal it would read all of the body, and drop the headers."""

    history: ClassVar[tuple[()]] = ()
    content = b""

    def __init__(self, response: Incoming) -> None:
        self.response = self
        self.status_code = response.status
        self.headers = response.headers
        self.reason = response.reason

    def json(self) -> Any:
        raise ValueError


def send(
    http: HttpSession, token: str | None, kind: TokenKind, request: Request, unless: str | None = None
) -> Incoming:
    """Send the request and return when the headers have arrived, whatever the status. GitLab answers 304 where the
    ETag of its answer is `unless`."""
    try:
        http.gitlab.http_request(
            request.method,
            http.address.graphql if request.path == GRAPHQL_PATH else request.path,
            query_data=_values_by_name(query_pairs(request.query)),
            post_data=request.content if request.content is not None else _body(request),
            raw=request.content is not None,
            files=dict(request.files),
            extra_headers={**_credentials(token, kind), **({"If-None-Match": unless} if unless else {})},
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


def _credentials(token: str | None, kind: TokenKind) -> dict[str, str]:
    """Not given to a `Gitlab` of its own for each caller: to make one takes as long as to send a request."""
    if not token:
        return {}
    return {
        "private": {"PRIVATE-TOKEN": token},
        "job": {"JOB-TOKEN": token},
        "bearer": {"Authorization": f"Bearer {token}"},
    }[kind]


def _as_json(body: Any) -> bytes:
    return json.dumps(body, allow_nan=False).encode()


def _body(request: Request) -> dict[str, Any] | None:
    return None if request.body is None else dict(request.body)


def _form(fields: Mapping[str, Any], files: Mapping[str, File]) -> tuple[bytes, str]:
    parts = [
        (name, (file.name, file.content, guess_type(file.name)[0] or "application/octet-stream"))
        for name, file in files.items()
    ]
    return encode_multipart_formdata([*query_pairs(fields), *parts])


def _values_by_name(pairs: list[tuple[str, str]]) -> dict[str, list[str]]:
    values: dict[str, list[str]] = {}
    for name, value in pairs:
        values.setdefault(name, []).append(value)
    return values

"""Requests to GitLab's OAuth endpoints, which stand beside its API: forms in, JSON out, without retries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import requests
from requests.adapters import HTTPAdapter
from requests.exceptions import ConnectionError, Timeout

from gitlab_mcp.actions.exchange import Request
from gitlab_mcp.gitlab.attempt import reason_of
from gitlab_mcp.gitlab.faults import BadAnswer, BadAnswerReason, Refused, Unreachable
from gitlab_mcp.gitlab.transport import open_session, with_lowercase_names

_MOST_BYTES: Final = 64 * 1024
"""Of an answer. Such answers are a few hundred bytes."""
_FORM: Final = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}


@dataclass(frozen=True, slots=True)
class OAuthEndpoints:
    """Those of the GitLab at `url`. Raises Unreachable, and Refused or BadAnswer for what OAuth does not answer."""

    url: str
    verify: bool | str
    connect_timeout: float
    read_timeout: float

    def post(self, path: str, form: str) -> str:
        """The JSON text of the answer, which may be an error of OAuth."""
        return self._send("POST", path, form, _FORM)

    def get(self, path: str, token: str) -> str:
        return self._send("GET", path, "", {"Authorization": f"Bearer {token}", "Accept": "application/json"})

    def _send(self, method: str, path: str, form: str, headers: dict[str, str]) -> str:
        # Whatever becomes of it, nothing of the call that needs the token has been sent.
        request, host = Request(method, path, repeatable=True), self.url.partition("://")[2]
        timeouts = (self.connect_timeout, self.read_timeout)
        with open_session(HTTPAdapter(max_retries=0), self.verify) as session:
            try:
                with session.request(
                    method,
                    self.url + path,
                    data=form or None,
                    headers=headers,
                    timeout=timeouts,
                    verify=self.verify,
                    allow_redirects=False,
                    stream=True,
                ) as response:
                    content = _beginning(response)
            except (ConnectionError, Timeout) as error:
                raise Unreachable(request, reason_of(error, sent=True), host, sent=False) from error
            except requests.RequestException as error:
                raise BadAnswer(request, BadAnswerReason.CUT_OFF, 0) from error
        return _text(request, response, content)


def _beginning(response: requests.Response) -> bytes:
    content = b""
    for chunk in response.iter_content(8192):
        content += chunk
        if len(content) > _MOST_BYTES:
            break
    return content


def _text(request: Request, response: requests.Response, content: bytes) -> str:
    refused = Refused(request, response.status_code, with_lowercase_names(response.headers), content)
    if response.status_code in (200, 201, 400, 401, 403) and refused.is_json and len(content) <= _MOST_BYTES:
        return content.decode("utf-8", "replace")
    if response.status_code < 300:
        reason = BadAnswerReason.HTML if refused.is_web_page else BadAnswerReason.NOT_JSON
        raise BadAnswer(request, reason, response.status_code)
    raise refused

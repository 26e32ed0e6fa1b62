"""Requests to GitLab's OAuth endpoints, which stand beside its API: forms in, JSON out, without retries."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import Final

from urllib3 import Timeout
from urllib3.exceptions import DecodeError, HTTPError, ProtocolError

from gitlab_mcp.actions.exchange import Request
from gitlab_mcp.gitlab.attempt import reason_of
from gitlab_mcp.gitlab.faults import BadAnswer, BadAnswerReason, Refused, Unreachable
from gitlab_mcp.gitlab.in_flight import InFlightRequest, set_current_request
from gitlab_mcp.gitlab.transport import Incoming, LiveAdapter, Outgoing, with_lowercase_names

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
        outgoing = Outgoing(method, self.url + path, headers, form.encode() or None)
        adapter = LiveAdapter()
        set_current_request(InFlightRequest())
        try:
            response = adapter.send(outgoing, Timeout(self.connect_timeout, self.read_timeout), self.verify)
            with closing(response):
                content = _beginning(request, response)
        except HTTPError as error:
            raise Unreachable(request, reason_of(error, sent=True), host, sent=False) from error
        finally:
            adapter.close()
        return _text(request, response, content)


def _beginning(request: Request, response: Incoming) -> bytes:
    content = b""
    try:
        for chunk in response.stream(8192, decode_content=True):
            content += chunk
            if len(content) > _MOST_BYTES:
                break
    except (ProtocolError, DecodeError) as error:
        raise BadAnswer(request, BadAnswerReason.CUT_OFF, response.status) from error
    return content


def _text(request: Request, response: Incoming, content: bytes) -> str:
    refused = Refused(request, response.status, with_lowercase_names(response.headers), content)
    if response.status in (200, 201, 400, 401, 403) and refused.is_json and len(content) <= _MOST_BYTES:
        return content.decode("utf-8", "replace")
    if response.status < 300:
        reason = BadAnswerReason.HTML if refused.is_web_page else BadAnswerReason.NOT_JSON
        raise BadAnswer(request, reason, response.status)
    raise refused

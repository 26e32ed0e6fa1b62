"""What a trace shows of one request to GitLab, in the words of OpenTelemetry. Its path only where it is one of our
routes: in others there may be names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from gitlab_mcp.actions.exchange import Answer, Request
from gitlab_mcp.failures import allowed_words
from gitlab_mcp.gitlab.address import GRAPHQL_PATH, Address
from gitlab_mcp.gitlab.faults import BadAnswer, Refused, Unreachable
from gitlab_mcp.spans import Attributes, Span, Spans


@contextmanager
def request_span(spans: Spans, address: Address, request: Request, attempt: int) -> Iterator[Span]:
    route = GRAPHQL_PATH if request.path == GRAPHQL_PATH else request.route
    about: dict[str, str | int] = {"http.request.method": request.method, "server.address": address.host}
    if route:
        about["url.template"] = route
    if attempt > 1:
        about["http.request.resend_count"] = attempt - 1
    with spans(f"{request.method} {route}".rstrip(), about) as span:
        try:
            yield span
        except Refused as refused:
            status: dict[str, str | int] = {
                "http.response.status_code": refused.status,
                "error.type": str(refused.status),
            }
            span.note({**status, **_named_by_gitlab(refused.headers)})
            raise
        except (Unreachable, BadAnswer) as fault:
            span.note({"error.type": fault.reason.name.lower()})
            raise


def answered(answer: object) -> Attributes:
    """What a trace shows of an answer. Of what was read while it came, nothing is known here."""
    if not isinstance(answer, Answer):
        return {}
    return {"http.response.status_code": answer.status, **_named_by_gitlab(answer.headers)}


def _named_by_gitlab(headers: Mapping[str, str]) -> Attributes:
    """The id under which GitLab's own log has the request."""
    id = allowed_words.request_id(headers.get("x-request-id"))
    return {"gitlab.correlation_id": id} if id else {}

"""Failures without a usable answer of GitLab: network, proxy, replay, a missing token."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from gitlab_mcp.actions.action import Action
from gitlab_mcp.actions.exchange import Request
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import Failure
from gitlab_mcp.failures.tool_names import browse_tool
from gitlab_mcp.gitlab.faults import (
    BadAnswer,
    BadAnswerReason,
    CircuitOpen,
    ForeignHost,
    NoToken,
    ReplayMiss,
    Unreachable,
    UnreachableReason,
)

_UNREACHABLE: Final[dict[UnreachableReason, tuple[str, str]]] = {
    UnreachableReason.DNS: ("its name cannot be resolved", "Check the host name in GITLAB_URL."),
    UnreachableReason.REFUSED: (
        "it refuses connections",
        "Check host and port in GITLAB_URL, and that GitLab runs.",
    ),
    UnreachableReason.TLS: (
        "its certificate is not trusted",
        "Set GITLAB_CA_FILE to a file with the certificate authority GitLab's certificate comes from.",
    ),
    UnreachableReason.CONNECT_TIMEOUT: (
        "it did not take the connection in time",
        "Try again; check firewall and VPN.",
    ),
    UnreachableReason.READ_TIMEOUT: ("it did not answer in time", "Try again, or ask for less at a time."),
    UnreachableReason.LOST: ("the connection broke", "Try again."),
    UnreachableReason.DEADLINE: (
        "the time for this call was used up",
        "Ask for less at a time, or try again later.",
    ),
    UnreachableReason.PROXY: (
        "the proxy does not let the request through",
        "Check the proxy settings HTTPS_PROXY and NO_PROXY.",
    ),
}

_BAD_ANSWER: Final[dict[BadAnswerReason, str]] = {
    BadAnswerReason.HTML: "a web page came back instead of GitLab's API: a login page, a proxy, or a wrong base URL",
    BadAnswerReason.NOT_JSON: "what came back is not JSON",
    BadAnswerReason.CUT_OFF: "the answer ends in the middle",
    BadAnswerReason.TOO_LARGE: "the answer is larger than this server takes",
    BadAnswerReason.UNEXPECTED_SHAPE: "what came back is not of the shape that GitLab documents",
    BadAnswerReason.ENDLESS: "the pages of the list do not lead to an end",
}

_GATEWAY_STATUSES: Final = (502, 504)
"""What a proxy says that lost the connection to GitLab, or waited too long."""
_CHECK_FIRST: Final = "Do not send it again before check_with showed that it did not happen."


def unreachable(problem: Unreachable, action: Action | None) -> Failure:
    because, fix = _UNREACHABLE[problem.reason]
    facts: dict[str, Any] = {
        "host": problem.host,
        "network_problem": str(problem.reason),
        "attempts": problem.attempts,
        "confidence": "certain",
    }
    if problem.sent and not problem.request.reads and (action is None or action.spec.writes):
        return Failure(
            Code.OUTCOME_UNKNOWN,
            f"The request was sent to {problem.host}, but {because}: it may or may not have taken effect.",
            facts,
        )
    return Failure(
        Code.NETWORK_ERROR, f"GitLab at {problem.host} was not reached: {because}.", facts
    ).knowing(
        suggested_fix=fix, setting="GITLAB_CA_FILE" if problem.reason is UnreachableReason.TLS else None
    )


def outcome_unknown(failure: Failure, action: Action | None) -> Failure:
    """The failure of a write that may have been carried out all the same."""
    if failure.facts.get("http_status") in _GATEWAY_STATUSES:
        failure = Failure(
            Code.OUTCOME_UNKNOWN,
            f"What stands before GitLab answered {failure.facts['http_status']}: "
            "the request may or may not have taken effect.",
            {"confidence": "certain"},
        )
    fix = _CHECK_FIRST
    if failure.facts.get("http_status") == 500:
        fix += " If it did not, check the arguments: patterns, numbers, positions, names."
    if action is not None and action.spec.recover_with is not None and action.spec.recover_with.then:
        fix += f" {action.spec.recover_with.then}"
    return failure.knowing(
        outcome="unknown", check_with=check_with(action), suggested_fix=fix, retryable=False
    )


def gave_up() -> Failure:
    return Failure(
        Code.SERVER_ERROR, "GitLab's GraphQL gave up in the middle of it.", {"confidence": "certain"}
    ).knowing(suggested_fix="Ask for less at a time, or try again later.")


def check_with(action: Action | None) -> dict[str, Any] | None:
    """The read that shows whether a write happened: the declared one, else `get`, else `list`."""
    if action is None:
        return None
    if action.spec.recover_with is not None:
        return {
            "action": action.spec.recover_with.read,
            "arguments": action.spec.recover_with.arguments(action),
        }
    arguments = {name: value for name, value in action.given().items() if name in action.spec.placeholders}
    tool = browse_tool(_tool_of_what_it_changes(action, arguments))
    own = [name for name in arguments if name not in ("project_id", "group_id")]
    return {"action": f"{tool} {'get' if own else 'list'}", "arguments": arguments}


def _tool_of_what_it_changes(action: Action, arguments: Mapping[str, Any]) -> str:
    """What moved to a tool of its own still changes what its former tool is about: an issue, or a merge request."""
    former = [tool for tool, _ in action.spec.moved_from] or [action.spec.tool.name]
    return next((tool for tool in former if f"{tool.removeprefix('manage_')}_iid" in arguments), former[0])


def bad_answer(problem: BadAnswer) -> Failure:
    # A web page is most likely a login, and nothing was done.
    if problem.request.reads or problem.request.repeatable or problem.reason is BadAnswerReason.HTML:
        return _unusable(problem)
    return Failure(
        Code.OUTCOME_UNKNOWN,
        f"GitLab answered {problem.status}, but {_BAD_ANSWER[problem.reason]}: the write has most likely taken effect.",
        {"confidence": "likely"},
    )


def _unusable(problem: BadAnswer) -> Failure:
    if problem.reason is BadAnswerReason.TOO_LARGE:
        return Failure(
            Code.PAYLOAD_TOO_LARGE, f"GitLab answered, but {_BAD_ANSWER[problem.reason]}."
        ).knowing(
            limit=problem.limit,
            limit_type="response_size",
            unit="bytes",
            suggested_fix="Ask for less: a page, a range of lines, one file.",
        )
    return Failure(Code.BAD_RESPONSE, f"The answer cannot be used: {_BAD_ANSWER[problem.reason]}.").knowing(
        evidence=[f"it came with status {problem.status}"],
        suggested_fix="Check GITLAB_URL and what stands between this server and GitLab.",
    )


def replay_miss(problem: ReplayMiss) -> Failure:
    request = problem.request_line or f"{problem.request.method} {problem.request.path}"
    fix = "Record the request, or start the server without replay."
    if problem.nearest:
        fix = (
            f"The nearest that was recorded is {problem.nearest}. Ask for that; or {fix[0].lower()}{fix[1:]}"
        )
    return Failure(Code.REPLAY_MISS, f"This server replays recordings, and none answers {request}.").knowing(
        request=request, suggested_fix=fix
    )


def foreign_host(problem: ForeignHost) -> Failure:
    return Failure(
        Code.HOST_NOT_ALLOWED, f"{problem.host} is not the configured GitLab; nothing was sent there."
    ).knowing(host=problem.host, suggested_fix="Use an address below the configured GitLab.")


def circuit_open(problem: CircuitOpen) -> Failure:
    seconds = math.ceil(problem.seconds)
    what = "Requests of this kind to it are" if problem.route else "It is"
    return Failure(
        Code.UPSTREAM_PAUSED,
        f"GitLab at {problem.host} was not there {problem.failures} times in a row. {what} left alone for a while; "
        "nothing was sent.",
    ).knowing(
        host=problem.host,
        limited=limited(problem.request if problem.route else None, "every request to this GitLab"),
        retry_after_seconds=seconds,
        reset_at=moment_in(seconds),
        evidence=[f"the last attempt ended with: {problem.last_failure}"],
        confidence="certain",
        suggested_fix=f"Call again in {seconds} seconds; if it stays so, tell "
        + ("the person what fails." if problem.route else "the person that GitLab is down."),
    )


def limited(request: Request | None, otherwise: str) -> str:
    """Which requests a limit is about, in words of ours: the route of this request, or `otherwise`."""
    if request is None:
        return otherwise
    return f"{request.method} {request.route}" if request.route else "requests of this kind"


def moment_in(seconds: float) -> str:
    return (datetime.now(UTC) + timedelta(seconds=seconds)).isoformat(timespec="seconds")


def no_token(problem: NoToken) -> Failure:
    if problem.profile is not None:
        named = f"--profile {problem.profile}"
        return Failure(
            Code.CONFIGURATION_ERROR, f"No token is kept for the profile {problem.profile}."
        ).knowing(
            token_problem="missing",
            suggested_fix=f"Run `gitlab-mcp init {named}` or `gitlab-mcp login {named}` in a terminal.",
        )
    return Failure(
        Code.CONFIGURATION_ERROR, "No GitLab token was given, so nobody can be asked anything."
    ).knowing(
        setting="GITLAB_TOKEN",
        token_problem="missing",
        suggested_fix="Run `gitlab-mcp init` or `gitlab-mcp login` in a terminal, or set GITLAB_TOKEN; where this "
        "server runs over HTTP, send the token with the request.",
    )

"""Is GitLab there? Address, connection, certificate, proxies, clock."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit

from gitlab_mcp.actions.exchange import Answer
from gitlab_mcp.doctor.evidence import Evidence
from gitlab_mcp.doctor.report import Check, Mark
from gitlab_mcp.doctor.where_set import where_set
from gitlab_mcp.gitlab.faults import BadAnswer, Refused, Unreachable, UnreachableReason
from gitlab_mcp.settings import DEFAULT, Settings

_MAX_CLOCK_DIFFERENCE = 60
"""Seconds."""


def check_address(settings: Settings, evidence: Evidence) -> Check:
    source = settings.sources.get("url", DEFAULT)
    found = (
        f"{settings.url} (from {source})" if source != DEFAULT else f"{settings.url} (nothing else was set)"
    )
    parts = urlsplit(settings.url)
    if parts.scheme == "http" and parts.hostname not in ("localhost", "127.0.0.1", "::1"):
        return Check(
            "address", Mark.WARN, found, "Use https: over http everybody in between can read the token."
        )
    host = parts.hostname or ""
    # A host of one word is fine inside a network. Where nothing answers, the rest of the name may be missing.
    if host != "localhost" and "." not in host and ":" not in host and not evidence.gitlab_reached:
        return Check(
            "address", Mark.WARN, found, "Write the whole address, as in https://gitlab.example.com."
        )
    return Check("address", Mark.OK, found)


def check_connection(settings: Settings, evidence: Evidence) -> Iterator[Check]:
    reply = evidence.version
    where = where_set(settings, "url", "GITLAB_URL")
    if settings.replay:
        yield Check("connection", Mark.OK, "not used: answers come from cassettes")
        return
    if isinstance(reply, Unreachable):
        if reply.reason is UnreachableReason.TLS:
            yield Check("connection", Mark.OK, f"{reply.host} answers")
            yield Check(
                "certificate",
                Mark.FAIL,
                f"the certificate of {reply.host} is not trusted, has expired, or is for another name",
                "Set GITLAB_CA_FILE (or --ca-file) to a PEM file with the authority that signed it.",
            )
        else:
            found, fix = _UNREACHABLE[reply.reason]
            yield Check("connection", Mark.FAIL, found.format(host=reply.host), fix.format(where=where))
        return
    if isinstance(reply, BadAnswer):
        fix = f"Check that {where} is GitLab's own address and that no sign-in page stands before its API."
        yield Check("connection", Mark.FAIL, f"what answers is not GitLab's API ({reply.reason.value})", fix)
        return
    if isinstance(reply, Refused) and not reply.is_json:
        if 300 <= reply.status < 400:
            fix = f"Set {where} to the address GitLab redirects to; the token is never sent along."
        else:
            fix = f"Check {where}: a GitLab below a path needs it, as in https://example.com/gitlab."
        yield Check("connection", Mark.FAIL, f"what answers is not GitLab's API (HTTP {reply.status})", fix)
        return
    if isinstance(reply, Refused) and reply.status >= 500:
        yield Check(
            "connection", Mark.FAIL, f"GitLab answers HTTP {reply.status}", "Try again when GitLab is well."
        )
    else:
        yield Check("connection", Mark.OK, "GitLab answers")
    yield from _certificate(settings)


def _certificate(settings: Settings) -> Iterator[Check]:
    if not settings.url.startswith("https:"):
        return
    if settings.insecure:
        yield Check(
            "certificate", Mark.WARN, "not checked", "Replace --insecure by --ca-file with a PEM file."
        )
    elif settings.ca_file is not None:
        yield Check(
            "certificate", Mark.OK, f"trusted by {settings.ca_file} (from {settings.sources['ca_file']})"
        )
    else:
        yield Check("certificate", Mark.OK, "trusted")


_TRY_AGAIN = "Try again; if it stays so, ask whoever runs GitLab, or raise --read-timeout."
_UNREACHABLE = {
    UnreachableReason.DNS: (
        "the name {host} cannot be resolved",
        "Check the host name in {where}; a GitLab inside a company may need its VPN.",
    ),
    UnreachableReason.REFUSED: (
        "{host} refuses connections",
        "Check host and port in {where}, and that GitLab is running.",
    ),
    UnreachableReason.CONNECT_TIMEOUT: (
        "{host} does not take connections",
        "Check VPN and firewall; where a proxy is needed, set HTTPS_PROXY.",
    ),
    UnreachableReason.PROXY: (
        "the proxy does not let requests to {host} through",
        "Correct the proxy variables, or add GitLab's host to NO_PROXY.",
    ),
    UnreachableReason.READ_TIMEOUT: ("{host} takes the connection and does not answer in time", _TRY_AGAIN),
    UnreachableReason.LOST: ("the connection to {host} breaks before there is an answer", _TRY_AGAIN),
    UnreachableReason.DEADLINE: ("{host} does not answer in time", _TRY_AGAIN),
}


def check_proxies(settings: Settings, evidence: Evidence) -> Check:
    if not settings.proxies:
        return Check("proxy", Mark.OK, "none")
    found = ", ".join(f"{name}={value}" for name, value in settings.proxies.items())
    if isinstance(evidence.version, Unreachable):
        return Check(
            "proxy", Mark.WARN, found, "If GitLab is reached without a proxy, add its host to NO_PROXY."
        )
    return Check("proxy", Mark.OK, found)


def check_clock(settings: Settings, evidence: Evidence) -> Iterator[Check]:
    if settings.replay or not isinstance(evidence.version, Answer | Refused):
        return
    try:
        gitlabs_time = parsedate_to_datetime(evidence.version.headers["date"])
    except (KeyError, ValueError):
        return
    difference = round(
        (evidence.received_at - gitlabs_time.replace(tzinfo=gitlabs_time.tzinfo or UTC)).total_seconds()
    )
    if abs(difference) <= _MAX_CLOCK_DIFFERENCE:
        yield Check("clock", Mark.OK, "agrees with GitLab's")
    else:
        side = "ahead of" if difference > 0 else "behind"
        fix = "Set this machine's clock: certificates and expiry dates are judged by it."
        yield Check("clock", Mark.WARN, f"{abs(difference)} seconds {side} GitLab's", fix)

"""A GitLab on loopback: recorded answers, projects and groups that can be written to, and faults on demand.

    with StandIn() as gitlab:
        gitlab.play(cassettes / "labels.json")              # what a real GitLab answered
        project = gitlab.project("acme/fresh")              # an empty one, to write to and count in
        gitlab.fault("POST", "/projects/*/labels", LoseAnswer())
        ...  # a client of gitlab.url with the token `alice`
        assert project.count("labels") == 1
        assert [request.method for request in gitlab.requests] == ["POST", "GET"]

A token is the name of its caller. A reply that was not recorded has the header `X-Synthetic: true`.
"""

from tests.support.standin.exchange import Received, Reply
from tests.support.standin.faults import (
    CutShort,
    Delay,
    Drop,
    EndlessHeaders,
    Fault,
    GzipBomb,
    Held,
    LogOf,
    LoseAnswer,
    NotUtf8,
    ReplyWith,
    Silence,
    Stall,
    Together,
    forbidden_page,
    login_page,
    maintenance,
    rate_limited,
    redirect,
    server_error,
)
from tests.support.standin.gitlab_com import GitLabCom, challenge_page, too_many_from_here
from tests.support.standin.server import StandIn
from tests.support.standin.world import World

__all__ = [
    "CutShort",
    "Delay",
    "Drop",
    "EndlessHeaders",
    "Fault",
    "GitLabCom",
    "GzipBomb",
    "Held",
    "LogOf",
    "LoseAnswer",
    "NotUtf8",
    "Received",
    "Reply",
    "ReplyWith",
    "Silence",
    "Stall",
    "StandIn",
    "Together",
    "World",
    "challenge_page",
    "forbidden_page",
    "login_page",
    "maintenance",
    "rate_limited",
    "redirect",
    "server_error",
    "too_many_from_here",
]

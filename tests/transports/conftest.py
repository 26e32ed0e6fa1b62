from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from tests.support.served import Served, served
from tests.support.standin import StandIn

LABELS = [{"id": 1, "name": "bug", "color": "#d9534f", "description": None, "text_color": "#fff"}]


@pytest.fixture(scope="module")
def gitlab_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


@pytest.fixture
def labels(gitlab_port: int) -> Iterator[StandIn]:
    """A GitLab that knows everybody, and the labels of one project. A new one for each test, at the same place."""
    with StandIn(port=gitlab_port) as gitlab:
        gitlab.answer("GET", "/projects/1/labels", 200, LABELS)
        gitlab.answer("GET", "/user", 200, {"id": 1, "username": "somebody"})
        yield gitlab


@pytest.fixture(scope="module")
def server(gitlab_port: int) -> Iterator[Served]:
    """Serves with the tokens of its callers, and holds none."""
    with served(f"http://127.0.0.1:{gitlab_port}") as process:
        yield process


@pytest.fixture
def stoppable(labels: StandIn) -> Iterator[Served]:
    """The same, to be stopped."""
    with served(labels.url) as process:
        yield process


@pytest.fixture
def foreign() -> Iterator[StandIn]:
    """A host that must never receive a token."""
    with StandIn() as host:
        yield host

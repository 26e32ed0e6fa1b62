from __future__ import annotations

from collections.abc import Iterator

import pytest

from serving.served import Served, served
from standin import StandIn

LABELS = [{"id": 1, "name": "bug", "color": "#d9534f", "description": None, "text_color": "#fff"}]


@pytest.fixture
def labels(standin: StandIn) -> StandIn:
    """A GitLab that knows everybody, and the labels of one project."""
    standin.answer("GET", "/projects/1/labels", 200, LABELS)
    standin.answer("GET", "/user", 200, {"id": 1, "username": "somebody"})
    return standin


@pytest.fixture
def server(labels: StandIn) -> Iterator[Served]:
    """Serves with the tokens of its callers, and holds none."""
    with served(labels.url) as process:
        yield process


@pytest.fixture
def foreign() -> Iterator[StandIn]:
    """A host that must never receive a token."""
    with StandIn() as host:
        yield host

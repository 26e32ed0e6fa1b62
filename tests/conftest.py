from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from standin import StandIn


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def cassettes() -> Path:
    """Where the recorded answers are."""
    return Path(__file__).parent.parent / "cassettes"


@pytest.fixture
def standin() -> Iterator[StandIn]:
    """A GitLab on loopback that knows nothing yet."""
    with StandIn() as gitlab:
        yield gitlab

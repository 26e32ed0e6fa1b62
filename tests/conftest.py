from __future__ import annotations

import logging
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from gitlab_mcp.app import App
from gitlab_mcp.settings import Secret, Settings
from tests.support.guarded import UNGUARDED
from tests.support.standin import StandIn
from tests.support.standin.shop import Shop
from tests.support.versions import OLDEST, cassettes_of

settings.register_profile("tests", deadline=None)
settings.load_profile("tests")


# Whoever starts the tests under nohup ignores it, and what a test starts would not end with its terminal.
if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Three for two cores: about a third of the time is spent waiting, for processes, deadlines and connections."""
    return max(2, (os.cpu_count() or 2) * 3 // 2)


@pytest.fixture(autouse=True)
def _logging_as_it_was() -> Iterator[None]:
    """The command line sets up logging for its whole process, which here is everybody's."""
    root = logging.getLogger()
    level, handlers = root.level, list(root.handlers)
    yield
    root.setLevel(level)
    root.handlers[:] = handlers


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def cassettes() -> Path:
    """The answers of GitLab 17.2: the most that were recorded, with `acme/shop`."""
    return cassettes_of(OLDEST)


@pytest.fixture
def standin() -> Iterator[StandIn]:
    """A GitLab on loopback that knows nothing yet."""
    with StandIn() as gitlab:
        yield gitlab


@pytest.fixture(scope="session")
def recorded_shop(cassettes: Path) -> Shop:
    return Shop(cassettes)


@pytest.fixture
def shop(standin: StandIn, recorded_shop: Shop) -> Shop:
    """The recorded acme/shop behind the stand-in, which keeps what is written to it."""
    recorded_shop.start_over()
    standin.add(recorded_shop)
    return recorded_shop


@pytest.fixture(scope="session")
def replayed(cassettes: Path) -> Iterator[App]:
    """The whole server, with recorded answers of a real GitLab behind it."""
    app = App(Settings(url="https://gitlab.example.com", replay=(cassettes,), **UNGUARDED))
    yield app
    app.close()


@pytest.fixture
def against(standin: StandIn) -> Iterator[Callable[..., App]]:
    """Makes servers in front of the stand-in; keyword arguments are settings."""
    apps: list[App] = []

    def make(**settings: Any) -> App:
        chosen = {"token": Secret("alice"), "toolsets": ("all",), **UNGUARDED, **settings}
        apps.append(App(Settings(url=standin.url, **chosen)))
        return apps[-1]

    yield make
    for app in apps:
        app.close()

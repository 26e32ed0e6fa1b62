"""`python -m interop.conformance.serve`: the real server over HTTP, on recorded answers, with what the suite calls."""

from __future__ import annotations

import sys

from gitlab_mcp.app import App
from gitlab_mcp.observability import logs
from gitlab_mcp.protocol.server import GitLabServer
from gitlab_mcp.settings import load
from interop.conformance.fixtures import FixtureServer
from tests.support.versions import OLDEST, cassettes_of


class _FixtureApp(App):
    def _server(self) -> GitLabServer:
        return FixtureServer(self, error_style=self._settings.error_style, format=self._settings.format)


def main() -> int:
    settings = load({"http": "127.0.0.1:0", "replay": [str(cassettes_of(OLDEST))], "log_level": "error"}, {})
    logs.configure(settings.log_level, settings.log_format)
    return _FixtureApp(settings).serve_http()


if __name__ == "__main__":
    sys.exit(main())

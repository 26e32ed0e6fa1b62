"""Take what `gitlab-mcp demo` asks for out of the recordings, for the package.

python scripts/demo_cassette.py
"""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

import anyio
from mcp import Client

from gitlab_mcp.app import App
from gitlab_mcp.cli.demo import CASSETTE, tour
from gitlab_mcp.gitlab.transport import Incoming
from gitlab_mcp.recording import replay
from gitlab_mcp.recording.cassette import Interaction, dump_cassette, dump_interaction, load_cassettes
from gitlab_mcp.settings import load

RECORDINGS = Path(__file__).resolve().parent.parent / "cassettes" / "17.2"
"""The story is recorded of this version of GitLab; of a newer one only parts of it are."""


async def asked() -> list[Interaction]:
    """The recorded answers that the tour is given."""
    answered: list[Interaction] = []
    respond = replay._response

    def noted(interaction: Interaction) -> Incoming:
        answered.append(interaction)
        return respond(interaction)

    replay._response = noted
    settings = load({"replay": str(RECORDINGS), "toolsets": "core,planning"}, {}, Path("/"))
    async with Client(App(settings)._server()) as client:
        with contextlib.redirect_stdout(io.StringIO()):
            await tour(client)
        # It says which number the project has by which some questions were recorded.
        await client.call_tool("browse_projects", {"action": "get", "project_id": "acme/website"})
    return answered


def main() -> None:
    wanted = {dump_interaction(each) for each in anyio.run(asked)}
    recorded = map(dump_interaction, load_cassettes(RECORDINGS))
    CASSETTE.write_text(dump_cassette(dict.fromkeys(each for each in recorded if each in wanted)), "utf-8")


if __name__ == "__main__":
    main()

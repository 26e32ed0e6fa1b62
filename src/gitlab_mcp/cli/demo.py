"""`gitlab-mcp demo`: the real server over stdio, a real MCP client, and what a real GitLab once answered.

The answers are those of `demo_cassette.json`, so it needs neither a clone nor a token nor the network.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import textwrap
from pathlib import Path
from typing import Any

import anyio
from mcp import Client, StdioServerParameters

from gitlab_mcp.cli import exit_codes
from gitlab_mcp.cli.terminal import colored, table, width, write_line
from gitlab_mcp.clients.all_clients import ALL
from gitlab_mcp.settings import environment

CASSETTE = Path(__file__).with_name("demo_cassette.json")
"""What the tour asks for, out of the recordings of GitLab 17.2: `scripts/demo_cassette.py` makes it."""
FLAGS = ("--toolsets", "core,planning", "--log-level", "error")
_KEPT = ("PATH", "TERM", "NO_COLOR", "LANG")
_WIDEST = 100


class Astray(Exception):
    """A step did not go as it is told here."""


def show_demo(cassette: Path = CASSETTE) -> int:
    return anyio.run(_demo, cassette)


async def _demo(cassette: Path) -> int:
    write_line(bold("gitlab-mcp-server") + ": every failure teaches.")
    narrate("""Everything below is live: the server runs as a subprocess and speaks MCP over stdio. Only GitLab is
            played: its answers were recorded from a real GitLab 17.2 without a licence. No token, no network.""")
    with tempfile.TemporaryDirectory() as home:
        # Nobody's own settings: not those in variables, in the home directory, or in a checkout's remote.
        variables = environment()
        kept = {name: variables[name] for name in _KEPT if name in variables}
        server = StdioServerParameters(
            command=sys.executable,
            args=["-m", "gitlab_mcp.cli", "--replay", str(cassette.resolve()), *FLAGS],
            env={**kept, "HOME": home, "PYTHONPATH": str(Path(__file__).parents[2])},
            cwd=home,
        )
        async with Client(server) as client:
            try:
                await tour(client)
            except Astray as astray:
                write_line(f"\nThe tour ends here. {astray}", sys.stderr)
                return exit_codes.FAILED
            except BrokenPipeError:
                # Whoever read has had enough, and Python would complain again at its last flush.
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
                return exit_codes.OK
    yours()
    return exit_codes.OK


async def tour(client: Client) -> None:
    do = Tour(client)

    title(1, "What the agent sees")
    tools = (await client.list_tools()).tools
    listed = [tool.model_dump(by_alias=True, exclude_none=True, mode="json") for tool in tools]
    size = len(json.dumps(listed, ensure_ascii=False, separators=(",", ":")))
    by_tool = {tool.name: tool.input_schema["properties"].get("action", {}).get("enum", []) for tool in tools}
    actions = sum(map(len, by_tool.values()))
    narrate(f"""The toolsets core and planning: {len(tools)} tools with {actions} actions, in {size:,} characters,
            {size / actions:.0f} an action. Without a word, only core is offered.""")
    for tool, names in [each for each in by_tool.items() if each[1]][:6]:
        show(f"{tool:<24} {', '.join(names)}", 2)
    write_line(faint(f"    … and {len(tools) - 6} more"))

    title(2, "Why is main red?")
    project, _ = await do.call("browse_projects", action="get", project_id="acme/shop")
    show_object(project, 6)
    pipelines, _ = await do.call("browse_pipelines", action="list", project_id="acme/shop", ref="main")
    show("\n".join(json.dumps(item, ensure_ascii=False) for item in pipelines["items"]), 6)
    red = one("a failed pipeline", [item for item in pipelines["items"] if item["status"] == "failed"])
    jobs, _ = await do.call("browse_pipelines", action="jobs", project_id="acme/shop", pipeline_id=red["id"])
    failed = [job for job in jobs["items"] if job["status"] == "failed"]
    show("\n".join(json.dumps(job, ensure_ascii=False) for job in failed), 6)
    unit = one("a failed job `unit`", [job for job in failed if job["name"] == "unit"])
    _, log = await do.call(
        "browse_jobs", action="log", project_id="acme/shop", job_id=unit["id"], search="E  "
    )
    one("a line with an error in the log", log.splitlines())
    narrate("The failing line, and what it says around it. Other people's text comes inside a boundary:")
    show(log, 16)

    title(3, "A mistake, and the error that repairs it")
    wish: dict[str, Any] = {"project_id": "acme/website", "description": "Please.", "labels": ["feature"]}
    refusal, _ = await do.call(
        "manage_issue", refused="MISSING_REQUIRED_FIELD", action="create", titel="Add dark mode", **wish
    )
    show_object(refusal)
    narrate("suggested_fix says what to send, and that works:")
    created, _ = await do.call("manage_issue", action="create", title="Add dark mode", **wish)
    show_object(created)

    title(4, "A paid feature, refused and explained")
    narrate("""This GitLab has no licence. It answers 403 Forbidden to a group owner who asks for epics, the same as to
            somebody without rights. The server looks once at the instance and knows which of the two it is:""")
    refusal, _ = await do.call(
        "browse_epics", refused="TIER_RESTRICTED", action="list", group_id="acme", per_page=1
    )
    show_object(refusal)
    alternative = one("an alternative", refusal.get("alternatives", []))
    tool, action = alternative["action"].split()
    narrate("The alternative comes with its arguments filled in, so the agent just tries it:")
    instead, _ = await do.call(tool, action=action, **alternative.get("arguments", {}))
    show("\n".join(json.dumps(item, ensure_ascii=False) for item in instead["items"]), 8)


def yours() -> None:
    title(5, "Yours")
    narrate("""Keep the address and a token of your GitLab (or sign in with `gitlab-mcp login`), and let your client
            know; what changes is shown before it is written:""")
    write_line()
    write_line("    gitlab-mcp init")
    write_line("    gitlab-mcp install cursor")
    write_line()
    narrate("In place of cursor:")
    write_line(textwrap.indent(table([[each.name, each.title] for each in ALL], ["CLIENT", ""]), "    "))


class Tour:
    def __init__(self, client: Client) -> None:
        self._client = client

    async def call(
        self, tool: str, *, refused: str | None = None, **arguments: Any
    ) -> tuple[dict[str, Any], str]:
        """One call, shown as an agent makes it; its JSON, and its text where it has any.

        It must be refused with the code `refused`, or work where there is none.
        """
        write_line()
        write_line(bold(f"  → {tool} ") + faint(json.dumps(arguments, ensure_ascii=False)))
        answer = await self._client.call_tool(tool, arguments)
        texts = [block.text for block in answer.content if block.type == "text"]
        mark = _painted("✗ refused", "red") if answer.is_error else _painted("✓", "green")
        write_line(f"  ← {mark} {faint(f'{sum(map(len, texts)):,} characters')}")
        found = json.loads(texts[0])
        told = found.get("error_code") if answer.is_error else None
        if told != refused:
            step = f"{tool} {arguments['action']}"
            raise Astray(
                f"{step} should have {_end(refused)}, and has {_end(told)}. {found.get('message', '')}"
            )
        return found, texts[1] if len(texts) > 1 else ""


def _end(code: str | None) -> str:
    return f"been refused with {code}" if code else "worked"


def one(step: str, found: list[Any]) -> Any:
    if not found:
        raise Astray(f"There should be {step}, and there is none.")
    return found[0]


def title(number: int, text: str) -> None:
    write_line()
    write_line(bold(f"{number}  {text}"))
    write_line(faint("─" * width(_WIDEST)))


def narrate(text: str) -> None:
    write_line(textwrap.fill(" ".join(text.split()), width(_WIDEST)))


def show(text: str, lines: int = 14) -> None:
    room = width(_WIDEST) - 4
    shown = [part for line in text.splitlines() for part in (textwrap.wrap(line, room) or [""])]
    for line in shown[:lines]:
        write_line("    " + line)
    if len(shown) > lines:
        write_line(faint(f"    … {len(shown) - lines} more lines"))


def show_object(found: dict[str, Any], lines: int = 20) -> None:
    """A key a line, short enough to read."""
    for key, value in list(found.items())[:lines]:
        line = f"{key}: {json.dumps(value, ensure_ascii=False)}"
        write_line("    " + textwrap.shorten(line, width(_WIDEST) - 4, placeholder=" …"))


def bold(text: str) -> str:
    return _painted(text, "bold")


def faint(text: str) -> str:
    return _painted(text, "dim")


def _painted(text: str, color: str) -> str:
    return colored(text, color, sys.stdout, no_color="NO_COLOR" in environment())

"""A tour: the real server over stdio, a real MCP client, and what a real GitLab once answered.

python scripts/demo.py [CASSETTES]
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import textwrap
from pathlib import Path
from typing import Any

import anyio
from mcp import Client, StdioServerParameters
from rs_bpe.bpe import openai

ROOT = Path(__file__).resolve().parent.parent
RECORDED = "17.2"
"""The story is recorded of this version of GitLab; of a newer one only parts of it are."""
COMMAND = Path(sys.executable).parent / "gitlab-mcp"
KEPT = ("PATH", "TERM", "NO_COLOR", "LANG")
WIDTH = min(shutil.get_terminal_size((100, 24)).columns, 100)
COLOUR = sys.stdout.isatty() and "NO_COLOR" not in os.environ


class Astray(Exception):
    """A step did not go as it is told here."""


def paint(text: str, code: str) -> str:
    return f"\033[{code}m{text}\033[0m" if COLOUR else text


def say(text: str = "") -> None:
    print(text)


def title(number: int, text: str) -> None:
    say()
    say(paint(f"{number}  {text}", "1;36"))
    say(paint("─" * WIDTH, "2"))


def narrate(text: str) -> None:
    say(textwrap.fill(" ".join(text.split()), WIDTH))


def show(text: str, lines: int = 14) -> None:
    shown = [part for line in text.splitlines() for part in (textwrap.wrap(line, WIDTH - 4) or [""])]
    for line in shown[:lines]:
        say("    " + line)
    if len(shown) > lines:
        say(paint(f"    … {len(shown) - lines} more lines", "2"))


def show_object(found: dict[str, Any], lines: int = 20) -> None:
    """A key a line, short enough to read."""
    for key, value in list(found.items())[:lines]:
        line = f"{key}: {json.dumps(value, ensure_ascii=False)}"
        say("    " + textwrap.shorten(line, WIDTH - 4, placeholder=" …"))


class Tour:
    def __init__(self, client: Client) -> None:
        self._client = client

    async def call(
        self, tool: str, *, refused: str | None = None, **arguments: Any
    ) -> tuple[dict[str, Any], str]:
        """One call, shown as an agent makes it; its JSON, and its text where it has any.

        It must be refused with the code `refused`, or work where there is none.
        """
        say()
        say(paint(f"  → {tool} ", "1") + paint(json.dumps(arguments, ensure_ascii=False), "2"))
        answer = await self._client.call_tool(tool, arguments)
        texts = [block.text for block in answer.content if block.type == "text"]
        tokens = sum(map(openai.o200k_base().count, texts))
        mark = paint("✗ refused", "31") if answer.is_error else paint("✓", "32")
        say(f"  ← {mark} {paint(f'{tokens} tokens', '2')}")
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


async def main(cassettes: Path) -> int:
    say(paint("gitlab-mcp-server", "1") + ": every failure teaches.")
    narrate(f"""Everything below is live: the server runs as a subprocess and speaks MCP over stdio. Only GitLab is
            played: its answers were recorded from a real GitLab {RECORDED} without a licence. No token, no network.""")
    flags = ["--replay", str(cassettes.resolve()), "--toolsets", "core,planning", "--log-level", "error"]
    with tempfile.TemporaryDirectory() as home:
        # Nobody's own settings: not those in variables, in the home directory, or in a checkout's remote.
        kept = {name: os.environ[name] for name in KEPT if name in os.environ}
        server = StdioServerParameters(command=str(COMMAND), args=flags, env={**kept, "HOME": home}, cwd=home)
        async with Client(server) as client:
            try:
                await tour(client)
            except Astray as astray:
                print(f"\nThe tour ends here. {astray}", file=sys.stderr)
                return 1
            except BrokenPipeError:
                # Whoever read has had enough, and Python would complain again at its last flush.
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
                return 0
    snippets()
    return 0


async def tour(client: Client) -> None:
    do = Tour(client)

    title(1, "What the agent sees")
    tools = (await client.list_tools()).tools
    listed = [tool.model_dump(by_alias=True, exclude_none=True, mode="json") for tool in tools]
    tokens = openai.o200k_base().count(json.dumps(listed, ensure_ascii=False, separators=(",", ":")))
    by_tool = {tool.name: tool.input_schema["properties"].get("action", {}).get("enum", []) for tool in tools}
    actions = sum(map(len, by_tool.values()))
    narrate(f"""The toolsets core and planning: {len(tools)} tools with {actions} actions, for {tokens} tokens of
            context, {tokens / actions:.0f} tokens an action. Without a word, only core is offered.""")
    for tool, names in [each for each in by_tool.items() if each[1]][:6]:
        show(f"{tool:<24} {', '.join(names)}", 2)
    say(paint(f"    … and {len(tools) - 6} more", "2"))

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


def snippets() -> None:
    title(5, "Yours")
    narrate("Claude Desktop and Cursor (claude_desktop_config.json, .cursor/mcp.json):")
    env = {"GITLAB_URL": "https://gitlab.com", "GITLAB_TOKEN": "glpat-…"}
    say(
        json.dumps(
            {"mcpServers": {"gitlab": {"command": str(COMMAND), "env": env}}}, indent=2, ensure_ascii=False
        )
    )
    narrate("Claude Code:")
    say(f"claude mcp add gitlab -e GITLAB_URL=https://gitlab.com -e GITLAB_TOKEN=glpat-… -- {COMMAND}")
    narrate("VS Code (.vscode/mcp.json), which asks for the token once and keeps it:")
    asked = {"type": "promptString", "id": "gitlab_token", "description": "GitLab token", "password": True}
    env = {**env, "GITLAB_TOKEN": f"${{input:{asked['id']}}}"}
    server = {"type": "stdio", "command": str(COMMAND), "env": env}
    say(json.dumps({"servers": {"gitlab": server}, "inputs": [asked]}, indent=2, ensure_ascii=False))


if __name__ == "__main__":
    sys.exit(anyio.run(main, Path(sys.argv[1]) if sys.argv[1:] else ROOT / "cassettes" / RECORDED))

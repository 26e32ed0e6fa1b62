"""python -m interop.clients DIRECTORY: each library loads every tool, calls every tool that reads, and makes one write.

The libraries are those of clients.toml; their environments are kept in DIRECTORY. Ends with 1 where one of them cannot.
"""

from __future__ import annotations

import json
import logging
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import anyio

from gitlab_mcp.actions.arguments.problems import example_of
from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.app import App
from gitlab_mcp.failures.failure import CallFailed
from gitlab_mcp.settings import Settings
from interop.clients.job import Call, Server
from tests.support.process import environment
from tests.support.standin import StandIn
from tests.support.standin.shop import Shop
from tests.support.versions import OLDEST, cassettes_of

ROOT = Path(__file__).resolve().parents[2]
COMMAND = Path(sys.executable).with_name("gitlab-mcp")
CASSETTES = cassettes_of(OLDEST)
NOTHING: Mapping[str, Any] = {"string": "", "array": [], "object": {}, "boolean": False}
"""What a model sends for a field that it would leave out."""
WRITE = {"action": "create", "project_id": "acme/website", "title": "Made by a client"}


@dataclass(frozen=True, slots=True)
class Client:
    name: str
    program: str
    install: list[str]


def main(directory: Path) -> int:
    # Examples that are not recorded are tried and left out.
    logging.disable()
    registry = Registry()
    listed = {tool["name"]: tool["inputSchema"] for tool in registry.listing(["all"])}
    clients = [Client(**each) for each in tomllib.loads(_beside("clients.toml").read_text("utf-8"))["client"]]
    reading = Server(
        str(COMMAND),
        ["--replay", str(CASSETTES), "--toolsets", "all", "--log-level", "error"],
        environment("https://gitlab.example.com"),
        anyio.run(_reads, registry, listed),
    )
    wrong: list[str] = []
    print("| client | installed | tools loaded | tools called | a write |")
    for client in clients:
        with StandIn() as gitlab:
            gitlab.add(Shop(CASSETTES))
            writing = Server(
                str(COMMAND),
                ["--toolsets", "all"],
                environment(gitlab.url),
                [Call("manage_issue", WRITE, _filled_in(WRITE, listed["manage_issue"]))],
            )
            reports = _asked(client, directory, [reading, writing])
            made = sum(each.method == "POST" for each in gitlab.requests)
        read, written = reports
        failed = [each for report in reports for each in _failures(report["texts"])]
        called = len(read["texts"]) - len(_failures(read["texts"]))
        strict = f", {read['strict']} of them strict" if read["strict"] else ""
        loaded = f"{read['loaded']} of {len(listed)}{strict}"
        print(
            f"| {client.name} | {client.install[0]} | {loaded} | {called} of {len(reading.calls)} | {made} |"
        )
        wrong += [f"{client.name}: {each}" for each in failed]
        if (read["loaded"], called, made, len(written["texts"])) != (len(listed), len(reading.calls), 1, 1):
            wrong.append(f"{client.name}: not all was done")
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


async def _reads(registry: Registry, listed: Mapping[str, Any]) -> list[Call]:
    """Of each listed tool that reads, an action whose example is recorded: if there is one, such that it is answered
    too when every field of the tool is given. What the recorded GitLab refused for its tier is not called."""
    app = App(Settings(url="https://gitlab.example.com", replay=(CASSETTES,), toolsets=("all",)))

    async def plays(tool: str, arguments: Mapping[str, Any]) -> bool:
        try:
            await app.call(tool, arguments)
        except CallFailed:
            return False
        return True

    calls = []
    for name, schema in listed.items():
        reading = [action for action in registry.tool(name).actions.values() if not action.spec.writes]
        examples = [example for action in reading if await plays(name, example := example_of(action))]
        filled_in = [(example, _filled_in(example, schema)) for example in examples]
        answered = [pair for pair in filled_in if await plays(name, pair[1])]
        calls += [
            Call(name, *pair) for pair in (answered or [(example, example) for example in examples])[:1]
        ]
    app.close()
    return calls


def _filled_in(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    fields = schema["properties"]
    return {name: _nothing(field) for name, field in fields.items()} | dict(arguments)


def _nothing(field: Mapping[str, Any]) -> Any:
    return field["enum"][0] if "enum" in field else NOTHING.get(field["type"], 0)


def _failures(texts: Mapping[str, str]) -> list[str]:
    return [f"{tool}: {text[:300]}" for tool, text in texts.items() if not _worked(text)]


def _worked(text: str) -> bool:
    try:
        answer = json.loads(text)
    except ValueError:
        return False
    return isinstance(answer, dict) and not answer.get("error")


def _asked(client: Client, directory: Path, servers: list[Server]) -> list[dict[str, Any]]:
    home = directory / client.program.partition(".")[0]
    home.mkdir(parents=True, exist_ok=True)
    job, report = home / "job.json", home / "report.json"
    job.write_text(json.dumps([asdict(server) for server in servers]), "utf-8")
    report.unlink(missing_ok=True)
    command = _with_node(client, home) if client.program.endswith(".mjs") else _with_python(client, home)
    subprocess.run([*command, job, report], cwd=ROOT, timeout=600, check=True)
    reports: list[dict[str, Any]] = json.loads(report.read_text("utf-8"))
    return reports


def _with_python(client: Client, home: Path) -> list[str]:
    python = home / "venv/bin/python"
    if not _is_installed(client, home):
        subprocess.run([sys.executable, "-m", "venv", "--clear", home / "venv"], check=True)
        quiet = ["--quiet", "--disable-pip-version-check"]
        subprocess.run([python, "-m", "pip", "install", *quiet, *client.install], check=True)
        _mark_installed(client, home)
    return [str(python), "-m", f"interop.clients.{client.program}"]


def _with_node(client: Client, home: Path) -> list[str]:
    if not _is_installed(client, home):
        quiet = ["--silent", "--no-audit", "--no-fund"]
        packages = [*client.install, "node@22"]
        subprocess.run(["npm", "install", *quiet, "--prefix", home, *packages], check=True)
        _mark_installed(client, home)
    # Modules are looked up from where the program is.
    (home / client.program).write_text(_beside(client.program).read_text("utf-8"), "utf-8")
    return [str(home / "node_modules/.bin/node"), str(home / client.program)]


def _is_installed(client: Client, home: Path) -> bool:
    mark = home / "installed"
    return mark.exists() and mark.read_text("utf-8") == "\n".join(client.install)


def _mark_installed(client: Client, home: Path) -> None:
    (home / "installed").write_text("\n".join(client.install), "utf-8")


def _beside(name: str) -> Path:
    return Path(__file__).with_name(name)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))

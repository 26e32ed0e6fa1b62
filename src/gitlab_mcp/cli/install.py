"""`gitlab-mcp install`: tells an MCP client of this server, after showing what changes."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gitlab_mcp.cli import exit_codes
from gitlab_mcp.cli.terminal import colored, printable, table, wrapped, write_json, write_line
from gitlab_mcp.cli.usage_error import UsageError, no_such
from gitlab_mcp.clients.all_clients import ALL, CLIENTS
from gitlab_mcp.clients.client import Client, File, Launch, Refused
from gitlab_mcp.clients.difference import difference
from gitlab_mcp.clients.documents import Document
from gitlab_mcp.clients.files import read, replace
from gitlab_mcp.clients.launch import launch
from gitlab_mcp.clients.places import places, this_system
from gitlab_mcp.clients.snippets import asking_for_token, snippet
from gitlab_mcp.settings import SETTINGS, Settings, as_variables, environment, load

_SERVING = "Serving over HTTP"


def show_clients(*, as_json: bool) -> int:
    """Each client, and where its file is on this machine."""
    try:
        found = [_described(each) for each in ALL]
    except Refused as refused:
        return _told(refused)
    if as_json:
        write_json(found)
    else:
        write_line(table([list(each.values()) for each in found], ["CLIENT", "TITLE", "FILE"]))
    return exit_codes.OK


def install(
    flags: Mapping[str, Any],
    client_name: str,
    name: str,
    *,
    remove: bool,
    only_print: bool,
    with_token: bool,
    yes: bool,
) -> int:
    client = CLIENTS.get(client_name)
    if client is None:
        raise no_such("client", client_name, CLIENTS, f"There are {', '.join(CLIENTS)}.")
    if not re.fullmatch(r"[A-Za-z0-9][\w-]{0,62}", name, re.ASCII):
        raise UsageError(
            "The name of the server is not usable.", "Use letters, digits, - and _, such as gitlab-work."
        )
    try:
        if remove:
            return _remove(client, name, yes=yes)
        if with_token and client.commands:
            raise Refused(
                f"{client.title} would get the token on a command line, which everybody on this machine can read.",
                "Put it into a file that only you can read, and name that with --token-file.",
            )
        start = asking_for_token(client, _launch(flags, with_token=with_token))
        if only_print or not (client.file or client.commands):
            return _print(client, name, start)
        if client.commands:
            _run(client, client.commands.add(name, start), yes=yes)
            write_line(wrapped(client.afterwards))
            return exit_codes.OK
        return _add(client, name, start, yes=yes)
    except Refused as refused:
        return _told(refused)


def _told(refused: Refused) -> int:
    write_line(f"gitlab-mcp: {printable(refused.wrong)}\n{printable(refused.fix)}", sys.stderr)
    return exit_codes.FAILED


def _launch(flags: Mapping[str, Any], *, with_token: bool) -> Launch:
    serving = [each.flag for each in SETTINGS if each.group == _SERVING and flags.get(each.name) is not None]
    if serving:
        raise UsageError(
            f"{serving[0]} is for a server over HTTP; a client starts its own over standard input and output.",
            "Leave it out, or connect to the server's address as docs/guides/http-clients.md says.",
        )
    settings = load(flags)
    if with_token and settings.token is None:
        raise UsageError(
            "There is no token to write.",
            "Put it into GITLAB_TOKEN, or leave out --write-token and name a --token-file.",
        )
    return launch(_without_serving(settings, with_token=with_token))


def _without_serving(settings: Settings, *, with_token: bool) -> dict[str, str]:
    serving = {each.environment[0] for each in SETTINGS if each.group == _SERVING}
    variables = as_variables(settings, with_token=with_token)
    return {name: value for name, value in variables.items() if name not in serving}


def _add(client: Client, name: str, start: Launch, *, yes: bool) -> int:
    assert client.file
    path = _place(client.file)
    before = read(path)
    document = Document(client, client.file, str(path), before or "")
    entry = document.merged(name, client.entry(name, start))
    after = document.with_server(name, entry)
    if not _change(path, before, after, yes=yes):
        return exit_codes.OK
    write_line(wrapped(client.afterwards))
    if not {"GITLAB_TOKEN", "GITLAB_TOKEN_FILE"} & entry.get(client.variables, {}).keys():
        write_line(
            wrapped(
                "No token is in the file. `gitlab-mcp init` or `gitlab-mcp login` keeps one for it, if none is kept. "
                "Or run this again with --token-file FILE. `gitlab-mcp doctor` checks it."
            )
        )
    return exit_codes.OK


def _remove(client: Client, name: str, *, yes: bool) -> int:
    if client.commands:
        _run(client, client.commands.remove(name), yes=yes)
        return exit_codes.OK
    if client.file is None:
        raise Refused(
            f"{client.title} keeps its servers where only it can change them.", f"See {client.where}."
        )
    path = _place(client.file)
    before = read(path)
    if before is None:
        write_line(f"There is no {path}.")
    else:
        _change(path, before, Document(client, client.file, str(path), before).without_server(name), yes=yes)
    return exit_codes.OK


def _change(path: Path, before: str | None, after: str, *, yes: bool) -> bool:
    """Whether it was changed. Refused where nobody can be asked."""
    if after == before:
        write_line(f"Nothing to change in {path}.")
        return False
    write_line(str(path))
    no_color = "NO_COLOR" in environment()
    for line in difference(before or "", after):
        color = "green" if line.startswith("+") else "red"
        write_line(colored(printable(line), color, sys.stdout, no_color=no_color))
    _agreed("Change this file?", yes=yes)
    backup = replace(path, before, after)
    write_line(f"Written.{f' As it was: {backup}' if backup else ''}")
    return True


def _run(client: Client, words: list[str], *, yes: bool) -> None:
    """The client's own command, which knows its files best."""
    write_line(shlex.join(words))
    program = shutil.which(words[0])
    if program is None:
        raise Refused(
            f"There is no command {words[0]} here.",
            f"Install {client.title}, or run the line above where it is.",
        )
    _agreed("Run this?", yes=yes)
    sys.stdout.flush()
    done = subprocess.run([program, *words[1:]], check=False, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise Refused(
            f"{words[0]} ended with exit code {done.returncode}, and says why above.",
            f"If the server is there already, take it out with `gitlab-mcp install {client.name} --remove` first.",
        )


def _print(client: Client, name: str, start: Launch) -> int:
    """The snippet alone on stdout, so that it can go through a pipe."""
    where = client.where
    if client.file and not client.commands:
        where = str(_place(client.file))
    if where:
        write_line(f"For {where}:", sys.stderr)
    write_line(snippet(client, name, start).rstrip("\n"))
    return exit_codes.OK


def _agreed(question: str, *, yes: bool) -> None:
    if yes:
        return
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise Refused(
            "Nobody could be asked, so nothing was changed.",
            "Run it in a terminal, or say yes beforehand with --yes.",
        )
    write_line(f"{question} [y/N] ", sys.stderr)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise Refused(
            "Nothing was changed.", "Run it again to be asked again, or with --print to do it by hand."
        )


def _place(file: File) -> Path:
    candidates = [Path(each) for each in places(file, this_system(), environment())]
    return next((each for each in candidates if each.exists()), candidates[0])


def _described(client: Client) -> dict[str, str]:
    place = str(_place(client.file)) if client.file else client.where
    if client.commands:
        place = f"(by its own command {' '.join(client.commands.remove('')[:2])})"
    return {"client": client.name, "title": client.title, "file": place}

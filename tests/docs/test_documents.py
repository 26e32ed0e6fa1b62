"""What the documents say can be followed: links lead somewhere, flags and files exist, examples are what comes out."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from contextlib import redirect_stdout, suppress
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.app import App
from gitlab_mcp.cli.commands import run
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.failures.render import STYLES, as_text, render
from gitlab_mcp.settings import SETTINGS
from tests.support.for_each import for_each

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), ROOT / "cassettes/README.md"])
WRITTEN = [path for path in DOCUMENTS if path.parent.name != "reference" and path.name != "CHANGELOG.md"]
"""By people, not printed from the code."""

LINK = re.compile(r"\]\(([^)\s]+)\)")
SPAN = re.compile(r"`([^`\n]+)`")
FENCED = re.compile(r"^ *```(\w*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
OF_OTHER_PROGRAMS = {"--build-arg"}
"""Of docker."""


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


every_document = for_each(DOCUMENTS, name_of)
every_written_document = for_each(WRITTEN, name_of)


@cache
def anchors(path: Path) -> frozenset[str]:
    """The places of a page that a link can lead to, named as GitLab and GitHub name them."""
    text = FENCED.sub("", path.read_text("utf-8"))
    titles = re.findall(r"^#{1,6} (.+)$", text, re.MULTILINE)
    named = {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}
    return frozenset(named | set(re.findall(r'<a id="([^"]+)">', text)))


def spans(path: Path) -> Iterator[str]:
    """What is set in code: between backticks, and line by line in blocks."""
    text = path.read_text("utf-8")
    for _, block in FENCED.findall(text):
        yield from re.sub(r"\\\n\s*", " ", block).splitlines()
    yield from SPAN.findall(FENCED.sub("", text))


@every_document
def test_every_link_leads_to_a_file_and_a_heading_that_are_there(path: Path) -> None:
    broken = []
    for link in LINK.findall(FENCED.sub("", path.read_text("utf-8"))):
        if re.match(r"https?://", link):
            continue
        file, _, place = link.partition("#")
        target = (path.parent / file).resolve() if file else path
        if not target.exists() or (place and place not in anchors(target)):
            broken.append(link)
    assert broken == []


@every_document
def test_no_heading_is_there_twice(path: Path) -> None:
    titles = re.findall(r"^## (.+)$", FENCED.sub("", path.read_text("utf-8")), re.MULTILINE)
    assert sorted(set(titles)) == sorted(titles)


@cache
def flags() -> set[str]:
    known = {setting.flag for setting in SETTINGS if setting.flag}
    known |= {"--no-" + setting.flag[2:] for setting in SETTINGS if setting.flag and setting.switch}
    for command in (
        [],
        ["serve"],
        ["install"],
        ["call"],
        ["tools"],
        ["errors"],
        ["doctor"],
        ["tiers"],
        ["policy"],
        ["init"],
        ["login"],
    ):
        shown = StringIO()
        with suppress(SystemExit), redirect_stdout(shown):
            run([*command, "--help"])
        known.update(FLAG.findall(shown.getvalue()))
    return known


@every_written_document
def test_every_flag_that_is_named_is_one(path: Path) -> None:
    named = set()
    for span in spans(path):
        ours = re.search(r"(?:^|/|\s)gitlab-mcp(?= )(.*)", span)
        if ours and "docker" not in span:
            named.update(FLAG.findall(ours[1].partition(" -- ")[0]))
        elif span.startswith("--"):
            named.update(FLAG.findall(span))
    assert named - flags() - OF_OTHER_PROGRAMS == set()


@every_written_document
def test_every_variable_that_is_named_is_read(path: Path) -> None:
    read = {variable for setting in SETTINGS for variable in setting.environment}
    named = set(re.findall(r"\bGITLAB_(?:MCP_)?[A-Z_]+\b", path.read_text("utf-8")))
    assert named - read == set()


@every_written_document
def test_every_tool_that_is_named_is_listed(path: Path) -> None:
    tools = set(Registry().names())
    named = {tool for span in spans(path) for tool in re.findall(r"\b(?:browse|manage)_[a-z_]+[a-z]\b", span)}
    assert named - tools == set()


@every_written_document
def test_every_file_that_is_named_is_there(path: Path) -> None:
    places = (ROOT, ROOT / "src/gitlab_mcp", path.parent)
    named = (re.fullmatch(r"(?:\w[\w.-]*/)+[\w.-]*\.(?:py|md|json|yaml|toml)", span) for span in spans(path))
    missing = [
        found[0] for found in named if found and not any((place / found[0]).exists() for place in places)
    ]
    assert missing == []


def test_every_room_is_on_the_map() -> None:
    rooms = [path for path in (ROOT / "src/gitlab_mcp").iterdir() if not path.name.startswith("_")]
    named = {path.name + ("/" if path.is_dir() else "") for path in rooms if path.suffix in ("", ".py")}
    assert named - set(spans(ROOT / "AGENTS.md")) == set()


def test_the_layers_that_are_drawn_are_those_that_are_checked() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    checked = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    _, _, table = (ROOT / "docs/architecture.md").read_text("utf-8").partition("| layer |")
    rows = [row.split("|")[1] for row in table.partition("\n\n")[0].splitlines()[2:]]
    drawn = [{room.removesuffix(".py").rstrip("/") for room in SPAN.findall(row)} for row in rows]
    assert drawn == [set(layer.split(" | ")) for layer in checked]


async def failure_of(app: App, tool: str, **arguments: Any) -> Failure:
    with pytest.raises(CallFailed) as caught:
        await app.call(tool, arguments)
    return caught.value.failure


def examples(path: Path) -> list[Any]:
    return [json.loads(block) for kind, block in FENCED.findall(path.read_text("utf-8")) if kind == "json"]


@pytest.mark.anyio
async def test_the_readme_shows_the_failure_that_the_recording_gives(replayed: App) -> None:
    failure = await failure_of(replayed, "browse_epics", action="list", group_id="acme", per_page=1)
    assert render(failure) in examples(ROOT / "README.md")


@pytest.mark.anyio
async def test_the_guide_shows_every_shape_of_an_error_as_it_is(replayed: App) -> None:
    guide = ROOT / "docs/guides/errors.md"
    failure = await failure_of(
        replayed, "manage_label", action="create", project_id="acme/website", name="bug"
    )
    assert examples(guide) == [render(failure, style) for style in STYLES]
    assert as_text(failure) in guide.read_text("utf-8")


@pytest.mark.anyio
async def test_the_guide_to_tiers_shows_the_warning_that_the_recording_gives(replayed: App) -> None:
    result = await replayed.call(
        "manage_issue", {"action": "create", "project_id": 10, "title": "weighted ee", "weight": 5}
    )
    assert dict(result.data) in examples(ROOT / "docs/guides/tiers.md")

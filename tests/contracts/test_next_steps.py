"""Every tool, action and field that a sentence of ours names exists, so that a next step works as printed."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.actions.schema import listed_fields
from gitlab_mcp.actions.shape import shapes
from tests.support.for_each import for_each

ROOT = Path(__file__).parent.parent.parent
REGISTRY = Registry()
EVERY_ACTION = {action for name in REGISTRY.names() for action in REGISTRY.action_names(name)}
TOOL = re.compile(r"(?<![\w.*`/])((?:browse|manage)_[a-z_]+|run_batch|run_action|find_actions)(?![\w*.])")
CALL = re.compile(
    r"(?<![\w.*])((?:browse|manage)_[a-z_]+)`? (?:with )?(?:action )?`?([a-z_]+)((?: [a-z_]+=\S+)*)"
)
ORDINARY = {
    "list",
    "get",
    "search",
    "create",
    "update",
    "delete",
    "test",
    "status",
    "log",
    "merge",
    "move",
    "close",
}
"""Words of English that are actions too: after a tool they may begin a clause."""


def strings(path: Path) -> Iterator[str]:
    if path.suffix != ".py":
        yield from path.read_text("utf-8").splitlines()
        return
    tree = ast.parse(path.read_text("utf-8"))
    former = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.keyword) and node.arg == "moved_from"
    }
    for node in ast.walk(tree):
        if id(node) not in former and isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


NO_TOOLS = {
    "manage_runner": "a scope of GitLab's tokens",
    "browse_issue": "the example of a tool that does not exist",
}
SOURCES = [
    *sorted((ROOT / "src/gitlab_mcp").rglob("*.py")),
    ROOT / "src/gitlab_mcp/tier_features.yaml",
    *sorted((ROOT / "docs").rglob("*.md")),
    ROOT / "README.md",
]


@for_each(SOURCES, lambda path: str(path.relative_to(ROOT)))
def test_every_call_that_is_named_can_be_made(source: Path) -> None:
    wrong = []
    for text in strings(source):
        wrong += [
            f"{match[1]}: {text[:120]}"
            for match in TOOL.finditer(text)
            if match[1] not in REGISTRY and match[1] not in NO_TOOLS
        ]
        for match in CALL.finditer(text):
            wrong += [f"{problem}: {text[:160]}" for problem in problems(match)]
    assert wrong == []


def problems(match: re.Match[str]) -> Iterator[str]:
    tool, action = match[1], match[2]
    if tool not in REGISTRY:
        return
    names = REGISTRY.action_names(tool)
    if action not in names:
        if action in EVERY_ACTION - ORDINARY or "_" in action:
            yield f"{tool} {action}"
        return
    known = listed_fields(REGISTRY.tool(tool).actions[action])
    for name in re.findall(r" ([a-z_]+)=", match[3]):
        if name not in known:
            yield f"{tool} {action} {name}="


def test_what_other_names_stand_for_exists() -> None:
    for tool in map(REGISTRY.tool, REGISTRY.names()):
        for word, instead in tool.instead.items():
            assert word not in tool.actions or instead.only_with, f"{tool.name} {word} is an action"
            other, _, action = instead.call.rpartition(" ")
            if not instead.call:
                assert instead.advice
                continue
            fields = shapes(REGISTRY.tool(other or tool.name).actions[action])
            named = {*instead.arguments, *instead.needs, *instead.renames.values()}
            assert named <= set(fields), f"{tool.name} {word}"


def test_no_field_is_declared_to_be_called_what_its_action_has_under_that_name() -> None:
    for action in REGISTRY.actions():
        both = {*action.spec.not_taken, *action.spec.rewrites} & set(shapes(action))
        assert both == set(), f"{action.spec.tool.name} {action.spec.name}"

"""One file a tool, named as the tool."""

from __future__ import annotations

import importlib
import pkgutil

from gitlab_mcp import tools
from gitlab_mcp.actions.tool import Tool
from tests.support.for_each import for_each


@for_each(module.name for module in pkgutil.iter_modules(tools.__path__))
def test_a_file_declares_one_tool_of_its_own_name(file: str) -> None:
    module = importlib.import_module(f"{tools.__name__}.{file}")
    assert [value.name for value in vars(module).values() if isinstance(value, Tool)] == [file]

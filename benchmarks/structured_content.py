"""What `structuredContent` and an `outputSchema` would cost: tokens (o200k) of the listing and of recorded answers."""

from __future__ import annotations

import json
import logging
from typing import Any

import anyio
from mcp.types import CallToolResult
from rs_bpe.bpe import openai

from gitlab_mcp.actions.arguments.problems import example_of
from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.app import App
from gitlab_mcp.failures.failure import CallFailed
from gitlab_mcp.protocol.tool_results import success_result
from gitlab_mcp.settings import Settings
from tests.support.versions import OLDEST, cassettes_of

ANY_OBJECT = {"type": "object"}


def tokens(value: Any) -> int:
    counted: int = openai.o200k_base().count(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
    return counted


async def main() -> None:
    logging.disable()
    registry = Registry()
    listed = registry.listing(["core"])
    with_schema = [{**tool, "outputSchema": ANY_OBJECT} for tool in listed]
    print(f"the default listing            {tokens(listed):>8}")
    print(f"… with the least outputSchema  {tokens(with_schema):>8}")
    app = App(Settings(url="https://gitlab.example.com", replay=(cassettes_of(OLDEST),), toolsets=("all",)))
    answers = [
        each for action in registry.actions() if not action.spec.writes for each in await answer(app, action)
    ]
    app.close()
    plain = sum(tokens([block.text for block in each.content if block.type == "text"]) for each in answers)
    structured = sum(
        tokens(json.loads(each.content[0].text)) for each in answers if each.content[0].type == "text"
    )
    print(f"{len(answers)} recorded answers as text    {plain:>8}")
    print(f"… with structuredContent, too  {plain + structured:>8}")


async def answer(app: App, action: Any) -> list[CallToolResult]:
    try:
        result = await app.call(action.spec.tool.name, example_of(action))
    except CallFailed:
        return []
    return [success_result(result, "json", "tier")]


if __name__ == "__main__":
    anyio.run(main)

"""Our results and failures as MCP tool results, in the format that was asked for: json, markdown or both."""

from __future__ import annotations

import base64
from dataclasses import replace

from mcp.types import CallToolResult, ContentBlock, ImageContent, TextContent

from gitlab_mcp.actions.result import Result
from gitlab_mcp.failures.failure import Failure


def success_result(result: Result, format: str, error_style: str) -> CallToolResult:
    from gitlab_mcp.failures.render import render_success
    from gitlab_mcp.results.content_blocks import ImageBlock, content_blocks
    from gitlab_mcp.results.markdown import as_markdown

    content: list[ContentBlock] = []
    if format in ("markdown", "both"):
        content.append(TextContent(type="text", text=as_markdown(result)))
    blocks = content_blocks(replace(result, data=render_success(result.data, error_style)))
    for block in blocks if format != "markdown" else blocks[1:]:
        if isinstance(block, ImageBlock):
            data = base64.b64encode(block.data).decode()
            content.append(ImageContent(type="image", data=data, mime_type=block.mime_type))
        else:
            content.append(TextContent(type="text", text=block.text))
    return CallToolResult(content=content)


def failure_result(failure: Failure, format: str, error_style: str) -> CallToolResult:
    from gitlab_mcp.failures.render import as_text, render
    from gitlab_mcp.results.content_blocks import compact_json

    rendered = render(failure, error_style)
    texts = {"json": [compact_json(rendered)], "markdown": [as_text(failure, error_style)]}
    shown = texts.get(format, [*texts["markdown"], *texts["json"]])
    return CallToolResult(
        content=[TextContent(type="text", text=text) for text in shown],
        structured_content=rendered,
        is_error=True,
    )

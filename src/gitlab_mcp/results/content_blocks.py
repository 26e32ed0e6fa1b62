"""A result as content blocks: JSON, text, image. The protocol turns them into those of MCP."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from gitlab_mcp.actions.result import Result
from gitlab_mcp.results.common_values import with_common_values
from gitlab_mcp.results.untrusted_text import new_boundary_id, wrap_untrusted

_COMPACT: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=str)


@dataclass(frozen=True, slots=True)
class TextBlock:
    text: str


@dataclass(frozen=True, slots=True)
class ImageBlock:
    data: bytes
    mime_type: str


ContentBlock = TextBlock | ImageBlock


def content_blocks(result: Result, new_id: Callable[[], str] = new_boundary_id) -> list[ContentBlock]:
    blocks: list[ContentBlock] = [TextBlock(compact_json(with_common_values(dict(result.data))))]
    if result.text is not None:
        blocks.append(TextBlock(wrap_untrusted(result.text.content, result.text.source, new_id)))
    if result.image is not None:
        blocks.append(ImageBlock(result.image.data, result.image.mime_type))
    return blocks


def compact_json(data: Any) -> str:
    return _COMPACT.encode(data)


def is_well_within(result: Result, max_bytes: int) -> bool:
    """Whether it surely fits. Does not look for values that rows have alike: they hardly ever make it longer."""
    text = result.text.content if result.text is not None else ""
    room = max_bytes // 2 - 4 * len(text)
    return room > 0 and len(compact_json(result.data).encode()) <= room


def text_size(result: Result) -> int:
    """The bytes of JSON and text. An image does not count: it has a limit of its own."""
    return sum(len(block.text.encode()) for block in content_blocks(result) if isinstance(block, TextBlock))

"""A result as the blocks a client receives, without saying in which protocol."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gitlab_mcp.actions.result import Result
from gitlab_mcp.results.untrusted import new_nonce, wrap


@dataclass(frozen=True, slots=True)
class TextBlock:
    text: str


@dataclass(frozen=True, slots=True)
class ImageBlock:
    data: bytes
    mime_type: str


Block = TextBlock | ImageBlock


def blocks(result: Result, nonce: Callable[[], str] = new_nonce) -> list[Block]:
    """The JSON, then the text inside its boundary, then the image."""
    found: list[Block] = [TextBlock(compact(dict(result.data)))]
    if result.text is not None:
        found.append(TextBlock(wrap(result.text.content, result.text.source, nonce)))
    if result.image is not None:
        found.append(ImageBlock(result.image.data, result.image.mime_type))
    return found


def compact(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"), default=str)


def weight(result: Result) -> int:
    """The bytes of what a model reads; an image is not text and is capped on its own."""
    return sum(len(block.text.encode()) for block in blocks(result) if isinstance(block, TextBlock))

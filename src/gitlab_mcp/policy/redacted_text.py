"""Refuses to write our own mark of a hidden secret back: the file would then hold the mark in place of the secret."""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from pydantic import BaseModel

from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.failures.secret_text import REDACTED
from gitlab_mcp.policy.guard import ProposedCall

_BASE64: Final = re.compile(r"[A-Za-z0-9+/_\s-]{12,}={0,2}\s*")
_URL_SAFE: Final = str.maketrans("-_", "+/")


async def refuse_redacted_text(proposed: ProposedCall) -> None:
    action = proposed.call.action
    if not action.spec.writes:
        return
    fields = [
        field
        for name, value in action.given().items()
        for field, text in _texts(name, value)
        if _holds_mark(text)
    ]
    if fields:
        raise CallFailed(_refusal(list(dict.fromkeys(fields))))


def _texts(field: str, value: Any) -> Iterator[tuple[str, str]]:
    """Every string in a value, names of members included, each with the field it is in."""
    if isinstance(value, str):
        yield field, value
    elif isinstance(value, BaseModel):
        for name, member in value:
            yield from _texts(f"{field}.{name}", member)
    elif isinstance(value, Mapping):
        for name, member in value.items():
            yield field, str(name)
            yield from _texts(f"{field}.{name}", member)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(field, item)


def _holds_mark(text: str) -> bool:
    if REDACTED in text:
        return True
    if not _BASE64.fullmatch(text):
        return False
    try:
        return REDACTED.encode() in binascii.a2b_base64(text.translate(_URL_SAFE))
    except ValueError:
        return False


def _refusal(fields: list[str]) -> Failure:
    named = ", ".join(fields)
    return Failure(
        Code.INVALID_VALUE,
        f"Nothing was written: {named} holds {REDACTED}, the mark that this server puts in place of a secret. "
        "GitLab would keep the mark, and the secret that stands there now would be lost.",
    ).knowing(
        invalid_fields=[
            {"field": field, "expected": f"text without {REDACTED}", "received": f"text with {REDACTED}"}
            for field in fields
        ],
        confidence="certain",
        suggested_fix="Have a person put the secret there, or change the text in a place that holds none. If it is "
        "meant as words, write them in another way, such as (redacted).",
    )

"""A file as an agent gives it: its content in the call, or the path of a local file.

A path is read by `calls.local_files` before anything is sent: from then on the action holds the content.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, Self

from pydantic import BeforeValidator, ConfigDict, Field, model_validator

from gitlab_mcp.actions.entry import Entry
from gitlab_mcp.actions.exchange import File
from gitlab_mcp.actions.fields import Expects, FromJson, NonEmpty, broken_rule

LARGEST_FILE: Final = 10_000_000
"""Bytes. What the arguments of a call may hold is limited alike."""
_DATA_URL: Final = re.compile(r"data:[^,]{0,100};base64,")

_IS_BASE64: Final = re.compile(
    r"data:[^,]{0,100};base64,|iVBORw0KGgo|/9j/|R0lGODlh|R0lGODdh|JVBERi0|UklGR|UEsDB"
)
"""How base64 begins of a PNG, JPEG, GIF, PDF, WebP or ZIP: without a word on the encoding, none of these is a text."""


class SentFile(Entry):
    model_config = ConfigDict(regex_engine="python-re")

    filename: (
        Annotated[
            str,
            Field(pattern=r"^(?!\.{1,2}$)[^/\\\x00-\x1f\x7f]{1,255}$"),
            Expects("a name without a folder, at most 255 characters"),
        ]
        | None
    ) = None
    content: str | None = None
    encoding: Annotated[Literal["text", "base64"], Field(description="Of content")] | None = None
    path: (
        Annotated[NonEmpty, Field(max_length=4096, description="Local file, in place of content")] | None
    ) = None

    @model_validator(mode="after")
    def _has_one_source(self) -> Self:
        if self.path is not None:
            if self.content is not None or self.encoding is not None:
                raise broken_rule("either content or path", field="")
            return self
        if self.content is None:
            raise broken_rule("content with a filename, or path", field="")
        if self.filename is None:
            raise broken_rule("a filename beside content", field="")
        self._bytes()
        return self

    def _bytes(self) -> bytes:
        assert self.content is not None
        if self.encoding == "text" or (self.encoding is None and not _IS_BASE64.match(self.content)):
            return self.content.encode()
        text = "".join(_DATA_URL.sub("", self.content, count=1).split())
        try:
            return base64.b64decode(text, validate=True)
        except (binascii.Error, ValueError):
            raise broken_rule("base64 as content, or encoding text", field="") from None

    def as_sent(self) -> File:
        if self.content is None or self.filename is None:
            raise RuntimeError("a local file that was not read")
        return File(self.filename, self._bytes())

    def with_content(self, content: bytes, name: str) -> Self:
        """In place of the path."""
        encoded = base64.b64encode(content).decode("ascii")
        given = {"filename": self.filename or name, "content": encoded, "encoding": "base64"}
        return type(self).model_validate(given)


def _one_as_list(value: Any) -> Any:
    is_file = isinstance(value, Mapping) and not SentFile.model_fields.keys().isdisjoint(value)
    return [value] if is_file else value


FileField = Annotated[SentFile, FromJson, Expects("an object with filename and content, or path")]
FileFields = Annotated[
    list[SentFile],
    BeforeValidator(_one_as_list),
    FromJson,
    Field(min_length=1, max_length=10),
    Expects("an array of objects with filename and content, or path"),
]

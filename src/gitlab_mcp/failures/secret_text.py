"""Secrets that are recognised by how they look, wherever they stand."""

from __future__ import annotations

import re
from typing import Final

REDACTED: Final = "[redacted]"

# GitLab's token prefixes; routable tokens go on after a dot. The last is the old runner registration token.
_TOKEN: Final = re.compile(
    r"\b(?:gl(?:pat|dt|rt|rtr|cbt|ptt|ft|soat|oas|agent|imt|ffct|wt)-[\w-]{8,}(?:\.[\w-]+)*|GR1348941[\w-]{20,})"
)
_PASSWORD_IN_URL: Final = re.compile(r"(?<=://)[^\s/:@]*:[^\s/@]+(?=@)")


def redact_text(text: str) -> str:
    """The text without what looks like a secret."""
    return _PASSWORD_IN_URL.sub(REDACTED, _TOKEN.sub(REDACTED, text))

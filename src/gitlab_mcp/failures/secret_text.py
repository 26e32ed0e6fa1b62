"""What a secret is: by how it looks, by the name it stands under, or because it is the caller's own token.

Everything that shows or writes text uses this: answers, failures, log lines, the audit and recordings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import Final
from urllib.parse import quote

REDACTED: Final = "[redacted]"

SHORTEST_SECRET: Final = 8
"""Shorter than any token of GitLab. Replacing shorter strings would change ordinary words."""

MOST_REMEMBERED: Final = 4096
LONGEST_REMEMBERED: Final = 64
"""Of names of members, since an answer has the same ones over and over. GitLab chooses them, so memory has bounds."""

# GitLab's token prefixes, whatever stands before them (`MY_glpat-…`); routable tokens go on after a dot. Then the old
# runner registration token and a JWT.
_TOKEN: Final = re.compile(
    r"gl(?:pat|dt|rt|rtr|cbt|ptt|ft|soat|oas|agent|imt|ffct|wt)-[\w-]{8,}(?:\.[\w-]+)*|\bGR1348941[\w-]{20,}"
    r"|\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}"
)
_PRIVATE_KEY: Final = re.compile(
    r"-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----"
    r"(?:[^-]|-(?!----)){0,20000}(?:-----END [A-Z0-9 ]{0,40}-----)?"
)
_PASSWORD_IN_URL: Final = re.compile(r"(?<=://)[^\s/:@]*:[^\s/@]+(?=@)")
_HEADER: Final = re.compile(
    r"(?i)\b(private-token|job-token|authorization)(['\"]?\s*[:=]\s*['\"]?(?:bearer\s+)?)[^\s'\",]+"
)
# `sig` is Azure's, `X-Amz-` and `X-Goog-` are those of other stores of objects.
_SECRET_PARAMETER: Final = (
    r"(?:[\w-]*[_-])?(?:token|password|passwd|passphrase|secret|api_?key|signing_?key|private_?key|access_?key"
    r"|signature|credential|sig)|(?:secret|password)[\w-]*"
)
_NOT_SECRET: Final = r"(?:next_)?page_token="
_IN_A_QUERY: Final = re.compile(rf"(?i)([?&](?!{_NOT_SECRET})(?:{_SECRET_PARAMETER})=)[^&#\s\"'<>\\)]+")
_ANYWHERE: Final = re.compile(rf"(?i)(?<![\w-])((?!{_NOT_SECRET})(?:{_SECRET_PARAMETER})=)[^&\s\"'<>\\)]+")
_SECRET_NAME: Final = re.compile(
    r"^(?:secret|password)|(?:token|password|passwd|passphrase|secret|apikey|signingkey|privatekey|accesskey"
    r"|clientkeypass|signature|credential)$"
)
# In keyset paging, `page_token` says where the next page begins.
_NOT_SECRET_NAMES: Final = frozenset({"pagetoken", "nextpagetoken"})

_OWN: ContextVar[tuple[str, ...]] = ContextVar("own_secrets", default=())


@contextmanager
def hiding(*secrets: str | None) -> Iterator[None]:
    """Within, these are secrets wherever they stand and whatever they look like: the tokens of a call."""
    known = _OWN.set(with_spellings(*(secret for secret in secrets if secret)))
    try:
        yield
    finally:
        _OWN.reset(known)


def hide_too(secret: str) -> None:
    """Until `hiding` ends, this is one as well."""
    _OWN.set((*with_spellings(secret), *_OWN.get()))


def with_spellings(*secrets: str) -> tuple[str, ...]:
    """Those that are long enough to be looked for, also as they stand in a URL; the longest first."""
    found = {
        spelt for secret in secrets if len(secret) >= SHORTEST_SECRET for spelt in (secret, quote(secret, ""))
    }
    return tuple(sorted(found, key=len, reverse=True))


def is_secret_name(name: str) -> bool:
    """True of `runners_token`, `runnersToken` and `hook[token]`."""
    return _names_secret(name) if len(name) <= LONGEST_REMEMBERED else _names_secret.__wrapped__(name)


@lru_cache(maxsize=MOST_REMEMBERED)
def _names_secret(name: str) -> bool:
    plain = re.sub(r"[^a-z]", "", name.lower())
    return _SECRET_NAME.search(plain) is not None and plain not in _NOT_SECRET_NAMES


def redact_text(text: str, mark: str = REDACTED) -> str:
    """The text without what looks like a secret. Its lines stay as many as they were."""
    for secret in _OWN.get():
        text = text.replace(secret, mark)
    if "-----BEGIN" in text:
        text = _PRIVATE_KEY.sub(lambda key: mark + "\n" * key[0].count("\n"), text)
    if "gl" in text or "eyJ" in text or "GR1348941" in text:
        text = _TOKEN.sub(mark, text)
    if "=" in text:
        text = _IN_A_QUERY.sub(rf"\1{mark}", text)
    return _PASSWORD_IN_URL.sub(mark, text) if "@" in text else text


def redact_trace(text: str, mark: str = REDACTED) -> str:
    """The same for what is only read by operators: also without what follows a secret's name, as in `password=x`."""
    text = redact_text(_HEADER.sub(rf"\1\2{mark}", text), mark)
    return _ANYWHERE.sub(rf"\1{mark}", text) if "=" in text else text

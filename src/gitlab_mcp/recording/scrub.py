"""Removes secrets from what is written to a cassette."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

REDACTED = "REDACTED"
SCRUBBED_EMAIL = "somebody@example.com"

_SECRET_HEADERS = frozenset(
    {"authorization", "cookie", "job-token", "private-token", "proxy-authorization", "set-cookie"}
)
# Shorter than any token of GitLab. Replacing shorter strings would change ordinary words.
_MIN_SECRET_LENGTH = 8
_SECRET_NAME_ENDINGS = ("token", "password", "secret", "privatekey", "passphrase")
# In keyset paging, `page_token` says where the next page begins.
_NOT_SECRET_NAMES = frozenset({"pagetoken"})
# A quick check: a text without any of these matches none of the patterns below.
_MAY_HOLD_SECRETS = re.compile(r"gl[a-z]+-|GR1348941|eyJ|[=@]")
_TOKEN = re.compile(
    r"\b(?:gl(?:pat|oas|dt|rtr?|cbt|ptt|ft|imt|agent|soat|ffct|wt)-[\w.=-]{6,}|GR1348941[\w-]{6,}|eyJ[\w-]{8,}\.[\w.-]{8,})"
)
_SECRET_IN_QUERY = re.compile(
    r"(?i)\b((?!page_)[a-z]*_?(?:token|password|secret))=(?!REDACTED)[^&\s\"'<>\\)]+"
)
_PASSWORD_IN_URL = re.compile(r"(https?://)[^/\s:@\"']+:[^/\s@\"']+@")
_EMAIL = re.compile(r"\b[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+\b")


class Scrubber:
    """`secrets` are values to remove wherever they appear, such as the tokens of the callers."""

    def __init__(self, secrets: Iterable[str] = (), *, emails: bool = False) -> None:
        self._secrets = sorted(
            (secret for secret in secrets if len(secret) >= _MIN_SECRET_LENGTH), key=len, reverse=True
        )
        self._emails = emails

    def headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        return {
            name: self.text(value) for name, value in headers.items() if name.lower() not in _SECRET_HEADERS
        }

    def query(self, query: str) -> str:
        pairs = parse_qsl(query, keep_blank_values=True)
        scrubbed = [
            (key, REDACTED if is_secret_name(key) and value else self.text(value)) for key, value in pairs
        ]
        return query if scrubbed == pairs else urlencode(scrubbed)

    def uri(self, uri: str) -> str:
        parts = urlsplit(uri)
        return urlunsplit(parts._replace(path=self.text(parts.path), query=self.query(parts.query)))

    def body(self, text: str) -> str:
        """Removes the values of secret keys from JSON, and from any text what looks like a secret."""
        if text.lstrip()[:1] in ("{", "["):
            try:
                parsed = json.loads(text)
            except (ValueError, RecursionError):
                return self.text(text)
            changed = _without_secrets(parsed, self.text)
            return text if changed == parsed else json.dumps(changed, separators=(",", ":"))
        return self.text(text)

    def text(self, text: str) -> str:
        if not self._secrets and not _MAY_HOLD_SECRETS.search(text):
            return text
        for secret in self._secrets:
            text = text.replace(secret, REDACTED)
        text = _TOKEN.sub(REDACTED, text)
        text = _SECRET_IN_QUERY.sub(rf"\1={REDACTED}", text)
        text = _PASSWORD_IN_URL.sub(rf"\1{REDACTED}@", text)
        return _EMAIL.sub(SCRUBBED_EMAIL, text) if self._emails else text


def is_secret_name(key: str) -> bool:
    """True of `runners_token`, `runnersToken` and `hook[token]`."""
    plain = re.sub(r"[^a-z]", "", key.lower())
    return plain.endswith(_SECRET_NAME_ENDINGS) and plain not in _NOT_SECRET_NAMES


def _without_secrets(value: Any, scrub_text: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return scrub_text(value)
    if isinstance(value, list):
        return [_without_secrets(item, scrub_text) for item in value]
    if isinstance(value, dict):
        # A CI variable, wherever it appears, has a `key` and a `value`.
        is_ci_variable = "key" in value and "value" in value
        return {
            key: REDACTED
            if isinstance(inner, str)
            and inner
            and (is_secret_name(key) or (is_ci_variable and key == "value"))
            else _without_secrets(inner, scrub_text)
            for key, inner in value.items()
        }
    return value

"""Takes secrets out of what is about to be written to a cassette."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

REDACTED = "REDACTED"
SOMEBODY = "somebody@example.com"

_HEADERS_WITH_SECRETS = frozenset(
    {"authorization", "cookie", "job-token", "private-token", "proxy-authorization", "set-cookie"}
)
# Shorter than any token of GitLab; replacing less would tear words apart.
_SHORTEST = 8
_SECRET_ENDINGS = ("token", "password", "secret", "privatekey", "passphrase")
# The place in a list where the next page of GitLab's keyset paging begins.
_NO_SECRETS = frozenset({"pagetoken"})
# Most texts hold none of what the patterns below begin with or contain.
_WORTH_A_LOOK = re.compile(r"gl[a-z]+-|GR1348941|eyJ|[=@]")
_PREFIXED = re.compile(
    r"\b(?:gl(?:pat|oas|dt|rtr?|cbt|ptt|ft|imt|agent|soat|ffct|wt)-[\w.=-]{6,}|GR1348941[\w-]{6,}|eyJ[\w-]{8,}\.[\w.-]{8,})"
)
_IN_A_QUERY = re.compile(r"(?i)\b((?!page_)[a-z]*_?(?:token|password|secret))=(?!REDACTED)[^&\s\"'<>\\)]+")
_IN_AN_ADDRESS = re.compile(r"(https?://)[^/\s:@\"']+:[^/\s@\"']+@")
_EMAIL = re.compile(r"\b[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+\b")


class Scrubber:
    """`secrets` are values that must not appear anywhere, such as the tokens of the callers."""

    def __init__(self, secrets: Iterable[str] = (), *, emails: bool = False) -> None:
        self._secrets = sorted(
            (secret for secret in secrets if len(secret) >= _SHORTEST), key=len, reverse=True
        )
        self._emails = emails

    def headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        return {
            name: self.text(value)
            for name, value in headers.items()
            if name.lower() not in _HEADERS_WITH_SECRETS
        }

    def query(self, query: str) -> str:
        pairs = parse_qsl(query, keep_blank_values=True)
        scrubbed = [(key, REDACTED if is_secret(key) and value else self.text(value)) for key, value in pairs]
        return query if scrubbed == pairs else urlencode(scrubbed)

    def uri(self, uri: str) -> str:
        parts = urlsplit(uri)
        return urlunsplit(parts._replace(path=self.text(parts.path), query=self.query(parts.query)))

    def body(self, text: str) -> str:
        """JSON is searched by its keys; all else, and what is left of JSON, by what secrets look like."""
        if text.lstrip()[:1] in ("{", "["):
            try:
                parsed = json.loads(text)
            except (ValueError, RecursionError):
                return self.text(text)
            changed = _without_secrets(parsed, self.text)
            return text if changed == parsed else json.dumps(changed, separators=(",", ":"))
        return self.text(text)

    def text(self, text: str) -> str:
        if not self._secrets and not _WORTH_A_LOOK.search(text):
            return text
        for secret in self._secrets:
            text = text.replace(secret, REDACTED)
        text = _PREFIXED.sub(REDACTED, text)
        text = _IN_A_QUERY.sub(rf"\1={REDACTED}", text)
        text = _IN_AN_ADDRESS.sub(rf"\1{REDACTED}@", text)
        return _EMAIL.sub(SOMEBODY, text) if self._emails else text


def is_secret(key: str) -> bool:
    """`runners_token`, `runnersToken` and `hook[token]` alike."""
    plain = re.sub(r"[^a-z]", "", key.lower())
    return plain.endswith(_SECRET_ENDINGS) and plain not in _NO_SECRETS


def _without_secrets(value: Any, clean: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [_without_secrets(item, clean) for item in value]
    if isinstance(value, dict):
        # CI variables, wherever they appear, are a `key` with a `value`.
        variable = "key" in value and "value" in value
        return {
            key: REDACTED
            if isinstance(inner, str) and inner and (is_secret(key) or (variable and key == "value"))
            else _without_secrets(inner, clean)
            for key, inner in value.items()
        }
    return value

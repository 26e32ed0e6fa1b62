"""Removes secrets from what is written to a cassette."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit, urlunsplit

from gitlab_mcp.failures.secret_text import is_secret_name, redact_trace, with_spellings

REDACTED = "REDACTED"
SCRUBBED_EMAIL = "somebody@example.com"

_SECRET_HEADERS = frozenset(
    {"authorization", "cookie", "job-token", "private-token", "proxy-authorization", "set-cookie"}
)
# A quick check: a text without any of these holds nothing that is recognised by how it looks.
_MAY_HOLD_SECRETS = re.compile(r"gl[a-z]+-|GR1348941|eyJ|-----BEGIN|[=@]")
# Bounded, because a local part without an end would be read again from each of its words.
_EMAIL = re.compile(r"\b[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+\b")
_VALUE_IS_SECRET: Final = re.compile(r"/(?:custom_headers|url_variables|variables)(?:/[^/?]+)?(?:\?|$)")
"""Paths of requests of which the `value` is one, also where no `key` stands beside it."""
_HOLD_SECRET_VALUES: Final = frozenset({"customheaders", "urlvariables", "requestheaders"})
"""Of an object under such a name every value is one: the headers of a webhook."""


class Scrubber:
    """`secrets` are values to remove wherever they appear, such as the tokens of the callers."""

    def __init__(self, secrets: Iterable[str] = (), *, emails: bool = False) -> None:
        self._secrets = with_spellings(*secrets)
        self._emails = emails

    def headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        return {
            name: self.text(value)
            for name, value in headers.items()
            if name.lower() not in _SECRET_HEADERS and not is_secret_name(name)
        }

    def query(self, query: str) -> str:
        pairs = parse_qsl(query, keep_blank_values=True)
        scrubbed = [
            (key, REDACTED if _is_secret_parameter(key) and value else self.text(value))
            for key, value in pairs
        ]
        return query if scrubbed == pairs else urlencode(scrubbed)

    def uri(self, uri: str) -> str:
        parts = urlsplit(uri)
        path = "/".join(map(self._segment, parts.path.split("/")))
        return urlunsplit(parts._replace(path=path, query=self.query(parts.query)))

    def _segment(self, segment: str) -> str:
        """Of a path. A secret is recognised as it was before it was encoded for the URL."""
        plain = unquote(segment)
        scrubbed = self.text(plain)
        return segment if scrubbed == plain else quote(scrubbed, "")

    def request_body(self, uri: str, text: str) -> str:
        """As `body`, and of what is set for a webhook or a pipeline without its `value`."""
        return self._body(text, values=_VALUE_IS_SECRET.search(uri) is not None)

    def body(self, text: str) -> str:
        """Removes the values of secret keys from JSON, and from any text what looks like a secret."""
        return self._body(text, values=False)

    def _body(self, text: str, *, values: bool) -> str:
        if text.lstrip()[:1] in ("{", "["):
            try:
                parsed = json.loads(text)
            except (ValueError, RecursionError):
                return self.text(text)
            changed = _without_secrets(parsed, self.text, values=values)
            return text if changed == parsed else json.dumps(changed, separators=(",", ":"))
        return self.text(text)

    def text(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, REDACTED)
        if not _MAY_HOLD_SECRETS.search(text):
            return text
        text = redact_trace(text, REDACTED)
        return _EMAIL.sub(SCRUBBED_EMAIL, text) if self._emails else text


def _is_secret_parameter(key: str) -> bool:
    return is_secret_name(key) or key.lower() == "sig"


def _without_secrets(value: Any, scrub_text: Callable[[str], str], *, values: bool = False) -> Any:
    """`values`: whatever is called `value` is a secret."""
    if isinstance(value, str):
        return scrub_text(value)
    if isinstance(value, list):
        return [_without_secrets(item, scrub_text, values=values) for item in value]
    if isinstance(value, dict):
        # A CI variable, wherever it appears, has a `key` and a `value`.
        is_variable = values or ("key" in value and "value" in value)
        return {
            key: _without_member(key, inner, scrub_text, is_variable=is_variable)
            for key, inner in value.items()
        }
    return value


def _without_member(key: str, inner: Any, scrub_text: Callable[[str], str], *, is_variable: bool) -> Any:
    if isinstance(inner, str) and inner and (is_secret_name(key) or (is_variable and key == "value")):
        return REDACTED
    if re.sub(r"[^a-z]", "", key.lower()) in _HOLD_SECRET_VALUES:
        if isinstance(inner, dict):
            return dict.fromkeys(inner, REDACTED)
        return _without_secrets(inner, scrub_text, values=True)
    return _without_secrets(inner, scrub_text)

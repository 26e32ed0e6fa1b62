"""The page at `/` for people: what this is, how to connect a client, and whether it works.

It holds no secret and no script, asks for nothing from elsewhere, and shows nobody more than `/readyz` and the
metadata do, but for the version and whether GitLab answers.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping
from functools import cache
from html import escape
from pathlib import Path
from string import Template
from typing import Final

from starlette.responses import HTMLResponse

from gitlab_mcp import __version__
from gitlab_mcp.transports.http.options import HttpOptions
from gitlab_mcp.transports.http.remote_clients import GITLAB_TOKEN, REMOTE_CLIENTS, SERVER_SECRET

_STYLE: Final = re.compile(r"<style>(.*?)</style>", re.DOTALL)
_QUALITY: Final = re.compile(r";\s*q\s*=\s*0(\.0*)?\s*(;|$)")
_EACH_THEIR_OWN: Final = (
    "Everybody brings a GitLab token of their own and can do here what that token can do in GitLab."
)
_OF_THE_SERVER: Final = (
    "The server acts with a GitLab token of its own; who knows the server's secret may use it."
)


def wants_page(accept: str) -> bool:
    """Whether it is a person who asks. Programs that take anything are not meant."""
    wanted = (part.strip().lower() for part in accept.split(","))
    return any(part.partition(";")[0].strip() == "text/html" and not _QUALITY.search(part) for part in wanted)


def front_page(url: str, options: HttpOptions, icon: str, checks: Mapping[str, bool]) -> HTMLResponse:
    """`url` is that of the MCP endpoint as people reach it; `checks` are those that this person may see."""
    has_own_token = options.bearer is not None
    credential = SERVER_SECRET if has_own_token else GITLAB_TOKEN
    clients = "\n".join(
        f"<details><summary>{escape(client.title)}</summary>\n"
        f'<p class="quiet">In {_marked(client.where)}:</p>\n'
        f"<pre>{escape(client.snippet(url, credential))}</pre></details>"
        for client in REMOTE_CLIENTS
    )
    page = Template(_page()).substitute(
        icon=escape(icon),
        gitlab=escape(options.url),
        whose=_OF_THE_SERVER if has_own_token else _EACH_THEIR_OWN,
        url=escape(url),
        states="\n".join(_state(name, passed) for name, passed in checks.items()),
        version=escape(__version__),
        credential=_how_to_sign_in(options),
        clients=clients,
    )
    return HTMLResponse(page, headers=_headers())


def _how_to_sign_in(options: HttpOptions) -> str:
    if options.bearer is not None:
        return (
            f"Put the secret of this server into the variable <code>{SERVER_SECRET.variable}</code>. Its operator has "
            "it: it is in a file of theirs, or was printed when the server started."
        )
    tokens = escape(f"{options.url}/-/user_settings/personal_access_tokens")
    scope = escape(options.oauth_scope)
    return (
        f'Create a <a href="{tokens}" rel="noreferrer">personal access token</a> with the scope <code>{scope}</code> '
        f"and put it into the variable <code>{GITLAB_TOKEN.variable}</code>."
    )


def _state(name: str, passed: bool) -> str:
    title = {"gitlab": "GitLab", "store": "Store", "stopping": "Server"}.get(name, name)
    told = "is stopping" if name == "stopping" else "answers" if passed else "does not answer"
    return f'<dt>{escape(title)}</dt><dd class="{"good" if passed else "bad"}">{told}</dd>'


def _marked(text: str) -> str:
    """Markdown's code marks as HTML."""
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", escape(text))


@cache
def _page() -> str:
    return Path(__file__).with_name("front_page.html").read_text("utf-8")


@cache
def _headers() -> dict[str, str]:
    (style,) = _STYLE.findall(_page())
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    )
    return {
        "Content-Security-Policy": policy,
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "Referrer-Policy": "no-referrer",
        "Cache-Control": "no-store",
        "Vary": "Accept",
    }

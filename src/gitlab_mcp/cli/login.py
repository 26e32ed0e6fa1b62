"""`gitlab-mcp login` and `logout`: sign in to GitLab in a browser, and give that up again."""

from __future__ import annotations

import sys
import webbrowser
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from gitlab_mcp.accounts.credential import Credential
from gitlab_mcp.accounts.loopback import USUAL_PORT, Loopback, redirect_on
from gitlab_mcp.accounts.oauth import OAuth, may_sign_in
from gitlab_mcp.cli import exit_codes
from gitlab_mcp.cli.account_setup import (
    Setup,
    ask,
    ask_url,
    checked,
    failing,
    give_up,
    keep,
    kept_so_far,
    may_replace,
    setup_of,
    told,
)
from gitlab_mcp.cli.terminal import printable, write_line
from gitlab_mcp.cli.usage_error import UsageError
from gitlab_mcp.settings import parsers

_TEXT_BROWSERS: Final = ("www-browser", "links", "elinks", "lynx", "w3m")
"""They would take the terminal, and cannot show GitLab's pages."""
_SECONDS_TO_SIGN_IN: Final = 300.0


def login(flags: Mapping[str, Any], *, device: bool, yes: bool) -> int:
    setup = setup_of(flags)
    if flags.get("url") is None and (setup.url is None or sys.stdin.isatty()):
        setup = setup.at(ask_url(setup))
    if not may_sign_in(setup.settings.url):
        raise UsageError(
            f"{setup.settings.url} is not encrypted: whoever is in between could sign in as you.",
            "Use the https address, or a token: `gitlab-mcp init`.",
        )
    client_id = setup.settings.oauth_client_id or _ask_client_id(setup)
    if not may_replace(setup, kept_so_far(setup), yes=yes):
        write_line("Nothing was changed.", sys.stderr)
        return exit_codes.OK
    oauth = setup.account.oauth(client_id)
    scope = "read_api" if setup.settings.read_only else "api"
    credential = told(lambda: _signed_in(oauth, scope, device=device))
    report = checked(setup, credential)
    if problems := failing(report):
        give_up(setup.account, credential)
        write_line("\n".join(problems), sys.stderr)
        write_line("Nothing was kept.", sys.stderr)
        return exit_codes.FAILED if report.gitlab_reached else exit_codes.UNREACHABLE
    credential = replace(credential, username=report.username)
    keep(setup, credential, {"url": setup.settings.url, "oauth_client_id": client_id})
    return exit_codes.OK


def logout(flags: Mapping[str, Any]) -> int:
    setup = setup_of(flags)
    account = setup.account
    keeper = account.keeper()
    with keeper.alone(account.name):
        kept = kept_so_far(setup)
        if kept is None:
            had_one = keeper.forget(account.name)
            write_line(f"{'Forgotten' if had_one else 'Nobody is signed in'} at {account.name}.")
            return exit_codes.OK
        renewal = kept.credential.renewal
        revoked = give_up(account, kept.credential)
        keeper.forget(account.name)
    if revoked:
        write_line(f"Signed out of {account.name}: GitLab takes the tokens no more, and they are forgotten.")
        return exit_codes.OK
    write_line(f"The token of {account.name} is forgotten.")
    page = "applications" if renewal is not None else "personal_access_tokens"
    write_line(f"It still opens GitLab until it is revoked: {account.name.url}/-/user_settings/{page}")
    return exit_codes.OK if renewal is None else exit_codes.FAILED


def _signed_in(oauth: OAuth, scope: str, *, device: bool) -> Credential:
    if not device:
        with Loopback() as page:
            authorization = oauth.authorization(page.redirect, scope)
            page.expect(authorization.state)
            if _opened(authorization.url):
                write_line("Sign in to GitLab in the browser. If no page opened, open this one:", sys.stderr)
                write_line(authorization.url, sys.stderr)
                query = page.wait(_SECONDS_TO_SIGN_IN)
                if query is None:
                    raise UsageError("Nobody signed in in time.", "Run the command again.")
                return oauth.sign_in_with_code(authorization, query)
        write_line("No browser can be opened here.", sys.stderr)
    begun = oauth.begin_with_device(scope)
    write_line(
        f"Open {printable(begun.url)} in any browser and enter the code {printable(begun.user_code)}.",
        sys.stderr,
    )
    if begun.complete_url != begun.url:
        write_line(f"With the code in it: {printable(begun.complete_url)}", sys.stderr)
    return oauth.sign_in_with_device(begun)


def _opened(url: str) -> bool:
    try:
        browser = webbrowser.get()
    except webbrowser.Error:
        return False
    if Path(str(getattr(browser, "name", ""))).name in _TEXT_BROWSERS:
        return False
    try:
        return browser.open(url)
    except Exception:
        # Every system opens browsers in a way of its own, and fails in one of its own.
        return False


def _ask_client_id(setup: Setup) -> str:
    url = setup.settings.url
    write_line(
        f"Signing in needs an application in GitLab, made once: {url}/-/user_settings/applications\n"
        f"  Redirect URI  {redirect_on(USUAL_PORT)}\n"
        "  Confidential  no\n"
        "  Scopes        api and read_api\n"
        "An administrator can make one for everybody. Its id is no secret.",
        sys.stderr,
    )
    try:
        return parsers.client_id(ask("Application ID"))
    except ValueError:
        raise UsageError("That is no application id.", "Copy the application id that GitLab shows.") from None

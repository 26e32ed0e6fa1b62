"""`gitlab-mcp init`: asks for the address and a token once, tries them, and keeps them."""

from __future__ import annotations

import getpass
import sys
from collections.abc import Mapping
from typing import Any

from gitlab_mcp.accounts.credential import Credential
from gitlab_mcp.callers import Secret
from gitlab_mcp.cli import exit_codes
from gitlab_mcp.cli.account_setup import (
    Setup,
    ask_url,
    checked,
    failing,
    keep,
    kept_so_far,
    may_replace,
    setup_of,
)
from gitlab_mcp.cli.terminal import write_line
from gitlab_mcp.cli.usage_error import UsageError
from gitlab_mcp.settings import parsers


def init(flags: Mapping[str, Any], *, yes: bool) -> int:
    """The token comes from a terminal, where it is not shown, or from standard input."""
    setup = setup_of(flags)
    by_hand = sys.stdin.isatty()
    if flags.get("url") is None:
        if by_hand:
            setup = setup.at(ask_url(setup))
        elif setup.url is None:
            raise UsageError("Which GitLab it is was not said.", "Add --url https://gitlab.example.com.")
    before = kept_so_far(setup)
    if before is not None and not by_hand and not yes:
        raise UsageError(f"There is a token for {setup.account.name} already.", "Add --yes to replace it.")
    if not may_replace(setup, before, yes=yes):
        write_line("Nothing was changed.", sys.stderr)
        return exit_codes.OK
    credential = Credential(_token(setup, by_hand=by_hand))
    report = checked(setup, credential)
    if problems := failing(report):
        write_line("\n".join(problems), sys.stderr)
        write_line("Nothing was kept.", sys.stderr)
        return exit_codes.FAILED if report.gitlab_reached else exit_codes.UNREACHABLE
    credential = Credential(credential.token, username=report.username)
    keep(setup, credential, {"url": setup.settings.url})
    return exit_codes.OK


def _token(setup: Setup, *, by_hand: bool) -> Secret:
    if by_hand:
        scope = "read_api" if setup.settings.read_only else "api"
        page = f"{setup.settings.url}/-/user_settings/personal_access_tokens?name=gitlab-mcp&scopes={scope}"
        write_line(f"A token is made here: {page}", sys.stderr)
        given = getpass.getpass("Token (not shown): ")
    else:
        given = sys.stdin.readline()
    try:
        return parsers.secret(given)
    except ValueError:
        raise UsageError(
            "That is no token; nothing was kept.", "Give the token alone, on one line, without quotes."
        ) from None

"""What `init`, `login` and `logout` have in common: which account is meant, the person's answers, what is kept."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import anyio

from gitlab_mcp.accounts.account import Account
from gitlab_mcp.accounts.credential import Credential
from gitlab_mcp.accounts.keeping import Kept
from gitlab_mcp.actions.ask import NobodyToAsk
from gitlab_mcp.app import App
from gitlab_mcp.cli.terminal import ProgressBar, printable, write_line
from gitlab_mcp.cli.usage_error import UsageError
from gitlab_mcp.doctor import HeldToken, Mark, Report, diagnose
from gitlab_mcp.failures.failure import CallFailed
from gitlab_mcp.gitlab.faults import BadAnswer, Refused, Unreachable
from gitlab_mcp.settings import DEFAULT, Settings, load, parsers
from gitlab_mcp.settings.loading import CONFIG_NAME, is_profile_name
from gitlab_mcp.settings.writing import changed


@dataclass(frozen=True, slots=True)
class Setup:
    """The account that a command is about, as the settings have it so far."""

    settings: Settings
    profile: str | None
    file: Path
    """The settings file, which may not be there yet."""

    @property
    def url(self) -> str | None:
        """None where nobody has said it yet."""
        return self.settings.url if self.settings.sources.get("url", DEFAULT) != DEFAULT else None

    @property
    def asking(self) -> str:
        return f" --profile {self.profile}" if self.profile else ""

    def at(self, url: str) -> Setup:
        return replace(self, settings=replace(self.settings, url=url, project=None))

    @property
    def account(self) -> Account:
        account = self.settings.account()
        assert account is not None
        return account


def setup_of(flags: Mapping[str, Any]) -> Setup:
    """A profile need not be there yet. UsageError where there is no place for settings."""
    profile, url = flags.get("profile"), flags.get("url")
    if profile is not None and not is_profile_name(profile):
        raise UsageError(
            "This cannot be the name of a profile.", "Use letters, digits, - and _, as in work; not default."
        )
    whole = load({**flags, "profile": None, "url": None, "oauth_client_id": None})
    settings = whole
    if profile is not None:
        settings = whole.profiles.get(profile) or _new_profile(whole, profile)
    if url is not None:
        try:
            settings = replace(
                settings, url=parsers.gitlab_url(url), sources={**settings.sources, "url": "--url"}
            )
        except ValueError:
            raise UsageError(
                "--url is no address of a GitLab.", "Write it as in https://gitlab.example.com."
            ) from None
    if (client_id := flags.get("oauth_client_id")) is not None:
        try:
            settings = replace(settings, oauth_client_id=parsers.client_id(client_id))
        except ValueError:
            raise UsageError(
                "--oauth-client-id is no application id.", "Copy it from the application in GitLab."
            ) from None
    file = settings.config or (settings.folder / CONFIG_NAME if settings.folder else None)
    if file is None or settings.folder is None:
        raise UsageError("There is no place for settings: HOME is not set.", "Set HOME, or XDG_CONFIG_HOME.")
    return Setup(settings, settings.profile, file)


def _new_profile(whole: Settings, profile: str) -> Settings:
    plain = Settings()
    of_account = {
        name: getattr(plain, name) for name in ("token", "token_file", "job_token", "project", "tier")
    }
    return replace(
        whole, **of_account, url=plain.url, oauth_client_id=None, profile=profile, sources={}, profiles={}
    )


def ask(question: str, usual: str = "") -> str:
    """A line of the person; `usual` where it is empty. UsageError where nobody is there to answer."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError(
            "Nobody is there to answer.", "Run the command in a terminal, or give every answer as a flag."
        )
    sys.stderr.write(f"{question} [{usual}]: " if usual else f"{question}: ")
    sys.stderr.flush()
    line = sys.stdin.readline()
    if not line:
        raise KeyboardInterrupt
    return line.strip() or usual


def ask_url(setup: Setup) -> str:
    usual = setup.url or "https://gitlab.com"
    while True:
        try:
            return parsers.gitlab_url(ask("Where is GitLab", usual))
        except ValueError:
            write_line("Write the address as in https://gitlab.example.com.", sys.stderr)


def kept_so_far(setup: Setup) -> Kept | None:
    """None also where what is kept cannot be read: it is about to be replaced."""
    try:
        return setup.account.keeper().read(setup.account.name)
    except CallFailed as failed:
        write_line(failed.failure.message, sys.stderr)
        return None


def may_replace(setup: Setup, kept: Kept | None, *, yes: bool) -> bool:
    if kept is None:
        return True
    who = kept.credential.username or "somebody"
    how = "A token of" if kept.credential.renewal is None else "The sign-in of"
    write_line(f"{how} {printable(who)} at {setup.account.name} is in {kept.place}.", sys.stderr)
    return yes or ask("Replace it? yes or no", "no").lower() in ("y", "yes")


def checked(setup: Setup, credential: Credential) -> Report:
    """What the doctor finds with this token."""
    return anyio.run(_checked, setup, credential)


async def _checked(setup: Setup, credential: Credential) -> Report:
    token = credential.as_token()
    # App refuses toolsets that do not exist; they are nothing that a token can mend.
    app = App(
        replace(setup.settings, token=token.value, toolsets=("all",), http=None, record=None, replay=())
    )
    progress = ProgressBar(sys.stderr)
    try:
        gitlab = await app.gitlab(progress, token)
        return await diagnose(setup.settings, gitlab, HeldToken(token, "your answer"))
    finally:
        progress.clear()
        app.close()


def keep(setup: Setup, credential: Credential, values: Mapping[str, str]) -> None:
    """Both or neither: the token where tokens are kept, and the values in the settings file. A sign-in that was there
    is given up. Says what is where."""
    change = changed(setup.file, values, setup.profile)
    account = setup.account
    keeper = account.keeper()
    # A server that is renewing the former sign-in would put it back in place of this one.
    with keeper.alone(account.name):
        before = kept_so_far(setup)
        place = keeper.write(account.name, credential)
        try:
            change.write()
        except BaseException:
            if before is None:
                keeper.forget(account.name)
            else:
                keeper.write(account.name, before.credential)
            raise
    if before is not None:
        give_up(account, before.credential)
    what = "token" if credential.renewal is None else "sign-in"
    write_line(f"The {what} of {printable(credential.username or 'you')} at {account.name} is in {place}.")
    write_line(f"The address is in {setup.file}.")
    for name in ("token_file", "token", "job_token"):
        if getattr(setup.settings, name) is not None:
            source = setup.settings.sources.get(name, name)
            write_line(f"{source} is set and comes first: as long as it is, what was kept is not used.")
    write_line(f"Next: `gitlab-mcp doctor{setup.asking}` looks at all of it.")


def give_up(account: Account, credential: Credential) -> bool:
    """Whether GitLab knows that it is over. A token that was pasted may be in use elsewhere and stays as it is."""
    if credential.renewal is None:
        return False
    with suppress(CallFailed, Unreachable, Refused, BadAnswer):
        account.oauth(credential.renewal.client_id).revoke(credential)
        return True
    return False


def failing(report: Report) -> list[str]:
    """What keeps the token from being of use, with the step that mends it."""
    return [
        f"{check.name}: {printable(check.found)}\n  {printable(check.fix or '')}"
        for check in report.checks
        if check.mark is Mark.FAIL
    ]


def told(work: Callable[[], Any]) -> Any:
    """What OAuth's endpoints answer with, or do not, becomes a failure as it does in calls."""
    try:
        return work()
    except (Unreachable, Refused, BadAnswer) as problem:
        from gitlab_mcp.refusals.translate import translate

        failure = anyio.run(translate, problem, None, NobodyToAsk())
        raise CallFailed(failure) from None

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import anyio
import pytest
import requests

from gitlab_mcp.accounts.account import Account
from gitlab_mcp.accounts.credential import Credential
from gitlab_mcp.accounts.keeping import AccountName
from gitlab_mcp.app import App
from gitlab_mcp.callers import RequestContext, Secret, Token
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed
from gitlab_mcp.settings import Settings
from gitlab_mcp.settings.parsers import Address
from tests.support.standin import StandIn
from tests.support.standin.faults import Delay, Silence
from tests.support.standin.oauth import APPLICATION, REDIRECT, GitLabOAuth

pytestmark = pytest.mark.anyio
ME = ("browse_users", {"action": "me"})


@pytest.fixture(autouse=True)
def no_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    """The files of the test's own folder."""
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    import keyring
    from keyring.core import load_keyring

    keyring.set_keyring(load_keyring("keyring.backends.null.Keyring"))


@pytest.fixture
def gitlab(standin: StandIn) -> GitLabOAuth:
    oauth = GitLabOAuth(standin.url)
    standin.add(oauth)
    return oauth


@pytest.fixture
def settings(standin: StandIn, tmp_path: Path) -> Settings:
    return Settings(url=standin.url, folder=tmp_path, read_timeout=2.0, toolsets=("all",))


@pytest.fixture
def account(settings: Settings) -> Account:
    account = settings.account()
    assert account is not None
    return account


@pytest.fixture
def credential(gitlab: GitLabOAuth, account: Account) -> Credential:
    """Alice has signed in."""
    oauth = account.oauth(APPLICATION)
    authorization = oauth.authorization(REDIRECT, "api")
    answer = requests.get(authorization.url, allow_redirects=False, timeout=5)
    credential = oauth.sign_in_with_code(authorization, urlsplit(answer.headers["location"]).query)
    account.keeper().write(account.name, credential)
    return credential


def kept(account: Account) -> Credential:
    found = account.keeper().read(account.name)
    assert found is not None
    return found.credential


def has_ended(account: Account, seconds: float = -1.0) -> None:
    """The access token, by this machine's clock."""
    now = kept(account)
    assert now.renewal is not None
    renewal = replace(now.renewal, expires_at=time.time() + seconds)
    account.keeper().write(account.name, replace(now, renewal=renewal))


async def test_a_call_is_made_with_the_token_that_is_kept(settings: Settings, credential: Credential) -> None:
    app = App(settings)
    result = await app.call(*ME)
    assert result.data["username"] == "alice"
    app.close()


async def test_an_ended_token_is_renewed_once_before_the_call(
    settings: Settings, account: Account, gitlab: GitLabOAuth, credential: Credential, standin: StandIn
) -> None:
    has_ended(account)
    gitlab.end_access_tokens()
    app = App(settings)
    async with anyio.create_task_group() as tasks:
        for _ in range(5):
            tasks.start_soon(app.call, *ME)
    assert gitlab.renewals == 1
    # Equal reads at once are one request.
    assert {each.token for each in standin.requests if each.route == "/user"} == {
        kept(account).token.reveal()
    }
    app.close()


async def test_a_token_that_gitlab_ended_early_is_renewed_in_the_middle_of_the_call(
    settings: Settings, account: Account, gitlab: GitLabOAuth, credential: Credential, standin: StandIn
) -> None:
    app = App(settings)
    await app.call(*ME)
    gitlab.end_access_tokens()
    result = await app.call(*ME)
    assert result.data["username"] == "alice"
    assert gitlab.renewals == 1
    assert kept(account).token != credential.token
    app.close()


async def test_two_servers_do_not_both_spend_the_refresh_token(
    settings: Settings, account: Account, gitlab: GitLabOAuth, credential: Credential, standin: StandIn
) -> None:
    has_ended(account)
    standin.fault("POST", "/oauth/token", Delay(0.3), times=None)
    apps = [App(settings) for _ in range(3)]
    async with anyio.create_task_group() as tasks:
        for app in apps:
            tasks.start_soon(app.call, *ME)
    assert (gitlab.renewals, gitlab.refused_renewals) == (1, 0)
    for app in apps:
        app.close()


async def test_what_another_server_renewed_is_taken_without_another_renewal(
    settings: Settings, account: Account, gitlab: GitLabOAuth, credential: Credential
) -> None:
    here, there = App(settings), App(settings)
    await here.call(*ME)
    has_ended(account)
    await there.call(*ME)
    # The renewal there has revoked what is known here.
    await here.call(*ME)
    assert (gitlab.renewals, gitlab.refused_renewals) == (1, 0)
    here.close()
    there.close()


async def test_a_sign_in_that_is_over_says_which_command_begins_another(
    settings: Settings, account: Account, gitlab: GitLabOAuth, credential: Credential
) -> None:
    gitlab.revoke_everything()
    app = App(settings)
    with pytest.raises(CallFailed) as failed:
        await app.call(*ME)
    failure = failed.value.failure
    assert failure.code == Code.AUTHENTICATION_FAILED
    assert "`gitlab-mcp login`" in failure.facts["suggested_fix"]
    assert not failure.retryable
    assert failure.facts["tool"] == "browse_users"
    assert kept(account) == credential
    app.close()


async def test_a_gitlab_that_is_away_does_not_end_the_sign_in(
    settings: Settings, account: Account, gitlab: GitLabOAuth, credential: Credential, standin: StandIn
) -> None:
    has_ended(account)
    standin.fault("POST", "/oauth/token", Silence())
    app = App(replace(settings, read_timeout=0.5))
    with pytest.raises(CallFailed) as failed:
        await app.call(*ME)
    assert failed.value.failure.code == Code.NETWORK_ERROR
    await app.call(*ME)
    app.close()


async def test_a_renewal_that_fails_while_the_token_still_holds_is_no_failure(
    settings: Settings, account: Account, gitlab: GitLabOAuth, credential: Credential, standin: StandIn
) -> None:
    has_ended(account, seconds=60)
    standin.answer("POST", "/oauth/token", 503, "down")
    app = App(settings)
    assert (await app.call(*ME)).data["username"] == "alice"
    app.close()


async def test_who_signed_out_elsewhere_is_signed_out_here(
    settings: Settings, account: Account, gitlab: GitLabOAuth, credential: Credential
) -> None:
    app = App(settings)
    await app.call(*ME)
    account.oauth(APPLICATION).revoke(credential)
    account.keeper().forget(account.name)
    for _ in range(2):
        with pytest.raises(CallFailed) as failed:
            await app.call(*ME)
        assert "gitlab-mcp login" in failed.value.failure.facts["suggested_fix"]
    app.close()


async def test_who_signs_in_while_the_server_runs_is_known_to_it(
    settings: Settings, account: Account, standin: StandIn
) -> None:
    standin.answer("GET", "/user", 200, {"id": 2, "username": "alice"})
    app = App(settings)
    with pytest.raises(CallFailed) as failed:
        await app.call(*ME)
    assert failed.value.failure.code == Code.CONFIGURATION_ERROR
    assert "gitlab-mcp init" in failed.value.failure.facts["suggested_fix"]
    assert standin.requests == []
    account.keeper().write(account.name, Credential(Secret("glpat-made-just-now-for-this")))
    assert (await app.call(*ME)).data["username"] == "alice"
    app.close()


async def test_a_confirmation_holds_though_the_token_was_renewed_meanwhile(
    settings: Settings, account: Account, gitlab: GitLabOAuth, credential: Credential
) -> None:
    # Quotas and confirmations know callers by this.
    first = credential.as_token().holder
    renewed = account.oauth(APPLICATION).renewed(credential)
    assert renewed.as_token().holder == first
    assert renewed.as_token().fingerprint != credential.as_token().fingerprint


def test_a_kept_token_is_not_sent_to_another_gitlab(settings: Settings, credential: Credential) -> None:
    elsewhere = replace(settings, url="http://127.0.0.1:1").account()
    assert elsewhere is not None and elsewhere.name == AccountName("http://127.0.0.1:1")
    assert elsewhere.keeper().read(elsewhere.name) is None


async def test_a_caller_with_a_token_is_served_though_the_servers_own_cannot_be_read(
    standin: StandIn, tmp_path: Path
) -> None:
    standin.answer("GET", "/user", 200, {"id": 2, "username": "alice"})
    file = tmp_path / "token"
    file.write_text("glpat-of-the-server-aaaaaaaa")
    app = App(Settings(url=standin.url, token_file=file, toolsets=("all",)))
    file.unlink()
    theirs = RequestContext("1", Token(Secret("glpat-of-the-caller-aaaaaaaa"), "private"))
    assert (await app.call(*ME, request_context=theirs)).data["username"] == "alice"
    assert {each.token for each in standin.requests} == {"glpat-of-the-caller-aaaaaaaa"}
    with pytest.raises(CallFailed) as failed:
        await app.call(*ME, request_context=RequestContext("2"))
    assert failed.value.failure.code == Code.CONFIGURATION_ERROR
    assert failed.value.failure.facts["tool"] == "browse_users"
    app.close()


async def test_over_http_nobody_acts_with_what_is_kept(
    settings: Settings, credential: Credential, standin: StandIn
) -> None:
    app = App(replace(settings, http=Address("127.0.0.1", 8080)))
    asked = len(standin.requests)
    with pytest.raises(CallFailed) as failed:
        await app.call(*ME, request_context=RequestContext("1"))
    assert failed.value.failure.facts["token_problem"] == "missing"
    assert len(standin.requests) == asked
    app.close()

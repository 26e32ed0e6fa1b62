"""`init`, `login` and `logout` as a person runs them: processes, a terminal, a browser."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import keyring
import pytest
from keyring.core import load_keyring

from gitlab_mcp.accounts.keeping import AccountName, TokenKeeper
from tests.support.forked import command
from tests.support.process import INHERITED
from tests.support.standin import StandIn
from tests.support.standin.faults import Delay
from tests.support.standin.oauth import APPLICATION, GitLabOAuth

TOKEN = "glpat-alices-own-aaaaaaaaaa"
BROWSER = """
import sys, urllib.request
print(urllib.request.urlopen(sys.argv[1], timeout=10).read().decode(), file=open({seen!r}, "w"))
"""
NO_KEYRING = "keyring.backends.null.Keyring"
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    kept = {name: os.environ[name] for name in INHERITED if name in os.environ}
    return {
        **kept,
        "HOME": str(tmp_path),
        "PYTHONWARNINGS": "error",
        "PYTHON_KEYRING_BACKEND": "tests.support.keyring_in_a_file.KeyringInAFile",
        "KEYRING_FILE": str(tmp_path / "keyring.json"),
        "PYTHONPATH": str(Path(__file__).parents[2]),
        "BROWSER": "/bin/false",
    }


@pytest.fixture
def run(environ: dict[str, str], tmp_path: Path) -> Run:
    def run(*words: str, stdin: str = "", **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*command(), *words],
            env={**environ, **more},
            cwd=tmp_path,
            input=stdin,
            capture_output=True,
            encoding="utf-8",
            timeout=30,
        )

    return run


@pytest.fixture
def gitlab(standin: StandIn) -> StandIn:
    standin.knows(TOKEN)
    standin.answer("GET", "/user", 200, {"id": 2, "username": "alice"})
    standin.answer("GET", "/version", 200, {"version": "19.3.0", "enterprise": True})
    own = {"id": 1, "user_id": 2, "scopes": ["api"], "expires_at": "2099-01-01", "active": True}
    standin.answer("GET", "/personal_access_tokens/self", 200, own)
    return standin


@pytest.fixture
def oauth(standin: StandIn) -> GitLabOAuth:
    oauth = GitLabOAuth(standin.url)
    standin.add(oauth)
    return oauth


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return tmp_path / ".config" / "gitlab-mcp" / "config.toml"


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[dict[str, str]]:
    """One that does whatever the page says, and keeps what it saw."""
    script, seen = tmp_path / "browser.py", tmp_path / "seen.html"
    script.write_text(BROWSER.format(seen=str(seen)))
    yield {"BROWSER": f"{sys.executable} {script} %s"}


class Terminal:
    """A command in a terminal, answered question by question."""

    def __init__(self, words: tuple[str, ...], environ: dict[str, str], directory: Path) -> None:
        self.shown = ""
        started = [*command(), *words]
        self.pid, self._terminal = pty.fork()
        if self.pid == 0:
            os.chdir(directory)
            os.execve(started[0], started, environ)

    def until(self, text: str) -> None:
        ends = time.monotonic() + 20
        while text not in self.shown:
            assert time.monotonic() < ends, self.shown
            ready, _, _ = select.select([self._terminal], [], [], 0.1)
            if ready:
                try:
                    self._read()
                except OSError:
                    pytest.fail(f"it ended early: {self.shown}")

    def answer(self, question: str, line: str) -> None:
        self.until(question)
        self.shown = self.shown.replace(question, "(asked)")
        os.write(self._terminal, line.encode() + b"\n")

    def end(self) -> int:
        with suppress(OSError):
            while self._read():
                pass
        _, status = os.waitpid(self.pid, 0)
        os.close(self._terminal)
        return os.waitstatus_to_exitcode(status)

    def interrupt(self) -> None:
        os.write(self._terminal, b"\x03")

    def _read(self) -> bool:
        piece = os.read(self._terminal, 4096).decode("utf-8", "replace")
        self.shown += piece
        return bool(piece)


@pytest.fixture
def terminal(environ: dict[str, str], tmp_path: Path) -> Callable[..., Terminal]:
    return lambda *words, **more: Terminal(words, {**environ, **more}, tmp_path)


def kept(tmp_path: Path) -> dict[str, str]:
    file = tmp_path / "keyring.json"
    found: dict[str, str] = json.loads(file.read_text()) if file.exists() else {}
    return found


def test_a_person_is_asked_once_and_calls_work_from_then_on(
    terminal: Callable[..., Terminal], run: Run, gitlab: StandIn, config: Path, tmp_path: Path
) -> None:
    asked = terminal("init")
    asked.answer("Where is GitLab [https://gitlab.com]: ", gitlab.url)
    asked.answer("Token (not shown): ", TOKEN)
    assert asked.end() == 0, asked.shown
    assert TOKEN not in asked.shown
    assert (
        "alice" in asked.shown and "the keyring of the system" in asked.shown and str(config) in asked.shown
    )
    assert config.read_text() == f'url = "{gitlab.url}"\n'
    assert TOKEN in kept(tmp_path)[f"gitlab-mcp: {gitlab.url}"]
    called = run("call", "browse_users", "me")
    assert "alice" in called.stdout, called.stderr
    doctor = run("doctor")
    assert "the keyring of the system (a keyring of the tests)" in doctor.stdout
    assert TOKEN not in doctor.stdout


def test_a_script_gives_the_token_on_standard_input(run: Run, gitlab: StandIn, tmp_path: Path) -> None:
    done = run("init", "--url", gitlab.url, stdin=TOKEN + "\n")
    assert done.returncode == 0, done.stderr
    again = run("init", "--url", gitlab.url, stdin=TOKEN + "\n")
    assert again.returncode == 2 and "--yes" in again.stderr
    assert run("init", "--url", gitlab.url, "--yes", stdin=TOKEN + "\n").returncode == 0


def test_without_a_keyring_a_private_file_keeps_the_token(run: Run, gitlab: StandIn, tmp_path: Path) -> None:
    none = {"PYTHON_KEYRING_BACKEND": NO_KEYRING}
    done = run("init", "--url", gitlab.url, stdin=TOKEN, **none)
    folder = tmp_path / ".config" / "gitlab-mcp" / "tokens"
    assert f"files below {folder}" in done.stdout
    assert {file.stat().st_mode & 0o777 for file in folder.iterdir()} == {0o600}
    assert "alice" in run("call", "browse_users", "me", **none).stdout
    assert f"files below {folder}" in run("doctor", **none).stdout


@pytest.mark.parametrize(
    "given",
    ["glpat-wrong-aaaaaaaaaaaaaaa", "", "two words", '"quoted"', "<your token>", "\x00\x01", "é" * 20],
)
def test_a_wrong_token_keeps_nothing_and_changes_nothing(
    run: Run, gitlab: StandIn, config: Path, tmp_path: Path, given: str
) -> None:
    run("init", "--url", gitlab.url, stdin=TOKEN)
    before = config.read_bytes(), kept(tmp_path)
    done = run("init", "--url", gitlab.url, "--yes", stdin=given + "\n")
    assert done.returncode in (1, 2)
    assert (config.read_bytes(), kept(tmp_path)) == before
    assert given == "" or given not in done.stdout + done.stderr


def test_a_gitlab_that_is_not_there_keeps_nothing(run: Run, tmp_path: Path, config: Path) -> None:
    done = run("init", "--url", "http://127.0.0.1:1", stdin=TOKEN)
    assert done.returncode == 3
    assert "Nothing was kept" in done.stderr
    assert not config.exists() and kept(tmp_path) == {}


def test_ctrl_c_at_every_question_changes_nothing(
    terminal: Callable[..., Terminal], gitlab: StandIn, config: Path, tmp_path: Path
) -> None:
    for answers in ([], [("Where is GitLab [https://gitlab.com]: ", gitlab.url)]):
        asked = terminal("init")
        for question, line in answers:
            asked.answer(question, line)
        asked.until("Token" if answers else "Where")
        asked.interrupt()
        assert asked.end() == 130, asked.shown
        assert "Traceback" not in asked.shown
    assert not config.exists() and kept(tmp_path) == {}


def test_what_is_there_is_shown_and_replaced_on_a_yes_alone(
    terminal: Callable[..., Terminal], run: Run, gitlab: StandIn, tmp_path: Path
) -> None:
    run("init", "--url", gitlab.url, stdin=TOKEN)
    before = kept(tmp_path)
    asked = terminal("init")
    asked.answer(f"Where is GitLab [{gitlab.url}]: ", "")
    asked.answer("Replace it? yes or no [no]: ", "")
    assert asked.end() == 0
    assert "alice" in asked.shown and "Nothing was changed" in asked.shown
    assert kept(tmp_path) == before
    asked = terminal("init", "--url", gitlab.url)
    asked.answer("Replace it? yes or no [no]: ", "yes")
    asked.answer("Token (not shown): ", TOKEN)
    assert asked.end() == 0
    assert kept(tmp_path) != before


def test_what_else_is_in_the_settings_file_stays(run: Run, gitlab: StandIn, config: Path) -> None:
    config.parent.mkdir(parents=True)
    config.write_text('# mine\nread_only = true  # for now\n\n[profiles.old]\nurl = "https://old.example"\n')
    run("init", "--url", gitlab.url, stdin=TOKEN)
    done = run("init", "--profile", "work", "--url", gitlab.url, stdin=TOKEN)
    assert done.returncode == 0, done.stderr
    text = config.read_text()
    assert (
        "# mine\nread_only = true  # for now\n" in text
        and '[profiles.old]\nurl = "https://old.example"' in text
    )
    assert text.index(f'url = "{gitlab.url}"') < text.index("[profiles.old]")
    assert f'[profiles.work]\nurl = "{gitlab.url}"' in text
    assert "--profile work" in done.stdout
    assert "alice" in run("call", "browse_users", "me", "--profile", "work").stdout


def test_a_settings_file_that_is_broken_is_refused_and_left_alone(
    run: Run, gitlab: StandIn, config: Path, tmp_path: Path
) -> None:
    config.parent.mkdir(parents=True)
    config.write_text("url = \n")
    done = run("init", "--url", gitlab.url, stdin=TOKEN)
    assert done.returncode == 2 and str(config) in done.stderr
    assert config.read_text() == "url = \n" and kept(tmp_path) == {}


def test_a_settings_file_that_cannot_be_written_loses_nothing(
    run: Run, gitlab: StandIn, config: Path, tmp_path: Path
) -> None:
    config.parent.parent.mkdir(parents=True)
    config.parent.write_text("in the way")
    done = run("init", "--url", gitlab.url, stdin=TOKEN)
    assert done.returncode == 2, done.stderr
    assert kept(tmp_path) == {}


def test_a_variable_that_comes_first_is_told(run: Run, gitlab: StandIn) -> None:
    done = run("init", "--url", gitlab.url, stdin=TOKEN, GITLAB_TOKEN="glpat-another-aaaaaaaaaaaa")
    assert "GITLAB_TOKEN is set and comes first" in done.stdout


def test_a_browser_signs_in_calls_work_and_logging_out_ends_it(
    run: Run, standin: StandIn, oauth: GitLabOAuth, browser: dict[str, str], tmp_path: Path, config: Path
) -> None:
    done = run("login", "--url", standin.url, "--oauth-client-id", APPLICATION, **browser)
    assert done.returncode == 0, done.stderr
    assert "alice" in done.stdout
    assert "close this page" in (tmp_path / "seen.html").read_text()
    assert f'oauth_client_id = "{APPLICATION}"' in config.read_text()
    assert "alice" in run("call", "browse_users", "me").stdout
    doctor = run("doctor").stdout
    assert re.search(r"sign-in +until 20\d\d-", doctor), doctor
    assert re.search(r"scopes +api", doctor)
    secrets = [secret for token in oauth.tokens for secret in (token.access, token.refresh)]
    assert not [secret for secret in secrets if secret in done.stdout + done.stderr + doctor]
    # A renewal by one process is what the next one goes on with.
    oauth.end_access_tokens()
    assert "alice" in run("call", "browse_users", "me").stdout
    assert oauth.renewals == 1
    out = run("logout")
    assert out.returncode == 0, out.stderr
    assert all(token.revoked for token in oauth.tokens) and kept(tmp_path) == {}
    failed = run("call", "browse_users", "me")
    assert failed.returncode == 2 and "gitlab-mcp login" in failed.stderr
    assert run("logout").stdout.startswith("Nobody is signed in")


def test_where_no_browser_can_be_opened_a_code_is_shown(
    run: Run, standin: StandIn, oauth: GitLabOAuth, tmp_path: Path
) -> None:
    done = run("login", "--url", standin.url, "--oauth-client-id", APPLICATION)
    assert done.returncode == 0, done.stderr
    assert "No browser can be opened here" in done.stderr
    assert re.search(r"/oauth/device in any browser and enter the code [A-Z]{4}-[A-Z]{4}", done.stderr)
    assert "alice" in run("call", "browse_users", "me").stdout


def test_a_sign_in_for_reading_asks_for_no_more(run: Run, standin: StandIn, oauth: GitLabOAuth) -> None:
    done = run("login", "--device", "--read-only", "--url", standin.url, "--oauth-client-id", APPLICATION)
    assert done.returncode == 0, done.stderr
    assert {token.scope for token in oauth.tokens} == {"read_api"}


def test_a_person_who_says_no_is_not_signed_in(
    run: Run, standin: StandIn, oauth: GitLabOAuth, browser: dict[str, str], tmp_path: Path, config: Path
) -> None:
    oauth.allows = False
    done = run("login", "--url", standin.url, "--oauth-client-id", APPLICATION, **browser)
    assert done.returncode == 1 and "AUTHENTICATION_FAILED" in done.stderr
    assert kept(tmp_path) == {} and not config.exists()


def test_a_gitlab_without_the_device_flow_is_told(run: Run, standin: StandIn) -> None:
    standin.answer("POST", "/oauth/authorize_device", 404, "<html>404</html>", {"Content-Type": "text/html"})
    done = run("login", "--device", "--url", standin.url, "--oauth-client-id", APPLICATION)
    assert done.returncode == 1
    assert "17.1" in done.stderr


def test_tokens_are_not_asked_for_over_an_open_line(run: Run) -> None:
    done = run("login", "--url", "http://gitlab.example.com", "--oauth-client-id", APPLICATION)
    assert done.returncode == 2 and "not encrypted" in done.stderr


def test_who_has_no_application_is_told_how_to_make_one(
    terminal: Callable[..., Terminal], run: Run, standin: StandIn, oauth: GitLabOAuth
) -> None:
    assert run("login", "--url", standin.url).returncode == 2
    asked = terminal("login", "--device", "--url", standin.url)
    asked.answer("Application ID: ", APPLICATION)
    assert asked.end() == 0, asked.shown
    assert "http://127.0.0.1:39471/callback" in asked.shown


def test_a_second_sign_in_ends_the_first(run: Run, standin: StandIn, oauth: GitLabOAuth) -> None:
    words = ("login", "--device", "--url", standin.url, "--oauth-client-id", APPLICATION)
    assert run(*words).returncode == 0
    assert run(*words, "--yes").returncode == 0
    assert [token.revoked for token in oauth.tokens] == [True, False]


def test_logging_out_of_a_gitlab_that_is_away_forgets_and_says_what_is_left(
    run: Run, standin: StandIn, oauth: GitLabOAuth, tmp_path: Path
) -> None:
    run("login", "--device", "--url", standin.url, "--oauth-client-id", APPLICATION)
    standin.answer("POST", "/oauth/revoke", 503, "down")
    out = run("logout")
    assert out.returncode == 1
    assert f"{standin.url}/-/user_settings/applications" in out.stdout
    assert kept(tmp_path) == {}


def test_two_processes_at_once_renew_once(
    run: Run, standin: StandIn, oauth: GitLabOAuth, environ: dict[str, str], tmp_path: Path
) -> None:
    run("login", "--device", "--url", standin.url, "--oauth-client-id", APPLICATION)
    oauth.end_access_tokens()
    standin.fault("POST", "/oauth/token", Delay(1.0), times=None)
    words = [*command(), "call", "browse_users", "me"]
    both = [
        subprocess.Popen(words, env=environ, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(3)
    ]
    for process in both:
        out, err = process.communicate(timeout=30)
        assert b"alice" in out, err
    assert (oauth.renewals, oauth.refused_renewals) == (1, 0)


def test_a_server_that_is_ended_in_a_renewal_keeps_what_gitlab_gave(
    run: Run, standin: StandIn, oauth: GitLabOAuth, environ: dict[str, str], tmp_path: Path
) -> None:
    run("login", "--device", "--url", standin.url, "--oauth-client-id", APPLICATION)
    oauth.end_access_tokens()
    standin.fault("POST", "/oauth/token", Delay(3.0))
    server = subprocess.Popen(
        command(),
        env=environ,
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert server.stdin
    client = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    }
    call = {"name": "browse_users", "arguments": {"action": "me"}}
    messages: tuple[dict[str, object], ...] = (
        {"id": 1, "method": "initialize", "params": client},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": call},
    )
    for message in messages:
        server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    server.stdin.flush()
    assert standin.wait_for(lambda gitlab: any(b"refresh_token" in each.body for each in gitlab.requests))
    server.send_signal(signal.SIGTERM)
    server.communicate(timeout=20)
    assert oauth.renewals == 1
    assert "alice" in run("call", "browse_users", "me").stdout
    assert (oauth.renewals, oauth.refused_renewals) == (1, 0)


def test_a_renewal_elsewhere_does_not_put_the_former_sign_in_back(
    gitlab: StandIn, environ: dict[str, str], tmp_path: Path, run: Run
) -> None:
    none = {"PYTHON_KEYRING_BACKEND": NO_KEYRING}
    run("init", "--url", gitlab.url, stdin=TOKEN, **none)
    before = keyring.get_keyring()
    keyring.set_keyring(load_keyring(NO_KEYRING))
    keeper = TokenKeeper(tmp_path / ".config" / "gitlab-mcp" / "tokens")
    name = AccountName(gitlab.url)
    former = keeper.read(name)
    assert former is not None
    asked = len(gitlab.requests)
    words = [*command(), "init", "--url", gitlab.url, "--yes"]
    with keeper.alone(name):
        replacing = subprocess.Popen(
            words, env={**environ, **none}, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
        )
        assert replacing.stdin
        replacing.stdin.write(TOKEN.encode())
        replacing.stdin.close()
        # It has tried the new token, and is about to keep it.
        assert gitlab.wait_for(lambda standin: len(standin.requests) >= asked + 4)
        time.sleep(1)
        keeper.write(name, former.credential)
    assert replacing.wait(20) == 0
    now = keeper.read(name)
    keyring.set_keyring(before)
    assert now is not None and now.credential.sign_in != former.credential.sign_in


def test_doctor_lists_the_profiles_and_where_their_tokens_are(
    run: Run, gitlab: StandIn, config: Path
) -> None:
    run("init", "--profile", "work", "--url", gitlab.url, stdin=TOKEN)
    config.write_text(
        config.read_text() + '\n[profiles.home]\nurl = "https://home.example"\nread_only = true\n'
    )
    done = run("doctor", "--json")
    checks = {check["name"]: check for check in json.loads(done.stdout)["checks"]}
    assert "a keyring of the tests" in checks["profile work"]["found"]
    assert checks["profile home"]["mark"] == "warn"
    assert "--profile home" in checks["profile home"]["fix"]
    assert json.loads(run("doctor", "--json", "--profile", "work").stdout)["worst"] == "ok"


def test_a_locked_keyring_is_told_in_calls_and_by_the_doctor(run: Run, gitlab: StandIn) -> None:
    run("init", "--url", gitlab.url, stdin=TOKEN)
    for words in (("call", "browse_users", "me"), ("doctor",), ("init", "--url", gitlab.url, "--yes")):
        done = run(*words, stdin=TOKEN, KEYRING_LOCKED="1")
        assert done.returncode in (1, 2)
        assert "Unlock the keyring" in " ".join((done.stdout + done.stderr).split()), (words, done)
        assert "Traceback" not in done.stderr


def test_over_http_what_is_kept_is_not_used_and_profiles_are_not_served(
    run: Run, gitlab: StandIn, environ: dict[str, str], tmp_path: Path
) -> None:
    run("init", "--url", gitlab.url, stdin=TOKEN)
    run("init", "--profile", "work", "--url", gitlab.url, stdin=TOKEN)
    words = [*command(), "serve", "--http", "127.0.0.1:0"]
    server = subprocess.Popen(
        words, env=environ, cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert server.stderr
    said = b""
    while b"work" not in said and (line := server.stderr.readline()):
        said += line
    server.terminate()
    server.communicate(timeout=20)
    assert b"not served over HTTP" in said

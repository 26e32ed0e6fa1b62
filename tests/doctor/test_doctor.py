from __future__ import annotations

import datetime
import ipaddress
import json
import ssl
from collections.abc import Callable
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from gitlab_mcp.actions.exchange import Answer, Request
from gitlab_mcp.cli import main
from gitlab_mcp.doctor.diagnosis import report_on
from gitlab_mcp.doctor.evidence import Evidence
from gitlab_mcp.gitlab.faults import Unreachable, UnreachableReason
from gitlab_mcp.settings import SETTINGS, Settings
from tests.support.recordings import rows
from tests.support.standin import StandIn

NOW = datetime.datetime.now(datetime.UTC)
DAY = datetime.timedelta(days=1)
SECOND = datetime.timedelta(seconds=1)
Doctor = Callable[..., tuple[int, dict[str, dict[str, Any]]]]


@pytest.fixture
def doctor(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Doctor:
    """The exit code and the findings by name, from a machine that has no settings of its own."""
    for variable in (name for setting in SETTINGS for name in setting.environment):
        monkeypatch.delenv(variable, raising=False)
    for variable in ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(variable, raising=False)
        monkeypatch.delenv(variable.lower(), raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)

    def doctor(*words: str, **environ: str) -> tuple[int, dict[str, dict[str, Any]]]:
        for name, value in environ.items():
            monkeypatch.setenv(name, value)
        code = main(["doctor", "--json", *words])
        said = capsys.readouterr()
        assert said.err == ""
        told = json.loads(said.out)
        marks = [check["mark"] for check in told["checks"]]
        assert told["worst"] == max(marks, key=["ok", "warn", "fail"].index)
        assert all(check["fix"] for check in told["checks"] if check["mark"] != "ok")
        return code, {check["name"]: check for check in told["checks"]}

    return doctor


@pytest.fixture
def recorded(standin: StandIn, cassettes: Path) -> StandIn:
    names = ("instance", "access_tokens", "users", "projects", "groups")
    standin.play(*(cassettes / f"{name}.json" for name in names))
    return standin


def marks(checks: dict[str, dict[str, Any]]) -> dict[str, str]:
    return {name: check["mark"] for name, check in checks.items()}


def test_a_good_set_up_is_all_ok_and_exits_0(doctor: Doctor, recorded: StandIn) -> None:
    code, checks = doctor(GITLAB_URL=recorded.url, GITLAB_TOKEN="alice", GITLAB_PROJECT_ID="acme/website")
    assert (code, set(marks(checks).values())) == (0, {"ok"})
    assert "alice" in checks["token"]["found"]
    assert checks["version"]["found"] == "GitLab 17.2.0-pre Enterprise Edition"
    assert checks["scopes"]["found"] == "api"
    assert "2027-09-12" in checks["expiry"]["found"]
    assert "GITLAB_URL" in checks["address"]["found"]
    assert set(checks) >= {"connection", "proxy", "tier", "toolsets", "project"}


@pytest.mark.parametrize(
    ("version", "mark", "told"),
    [
        ("16.11.4-ee", "warn", "this GitLab is older"),
        ("17.2.9-ee", "ok", "this is one of them"),
        ("18.5.0", "ok", "this GitLab is between them"),
        ("19.3.1-ee", "ok", "this is one of them"),
        ("19.10.0-pre", "ok", "this GitLab is newer"),
        ("20.0.0", "ok", "this GitLab is newer"),
    ],
)
def test_it_says_what_this_server_was_tried_on_and_what_that_means_here(
    doctor: Doctor, recorded: StandIn, version: str, mark: str, told: str
) -> None:
    recorded.answer("GET", "/version", 200, {"version": version, "enterprise": True})
    code, checks = doctor(GITLAB_URL=recorded.url, GITLAB_TOKEN="alice")
    assert (code, checks["proved"]["mark"]) == (0, mark)
    assert "17.2 and 19.3" in checks["proved"]["found"]
    assert told in checks["proved"]["found"]
    assert version in checks["version"]["found"]


@pytest.mark.parametrize("version", [None, "unknown"])
def test_where_the_version_is_not_told_nothing_is_said_of_it(
    doctor: Doctor, recorded: StandIn, version: str | None
) -> None:
    recorded.answer("GET", "/version", 200, {"version": version})
    _, checks = doctor(GITLAB_URL=recorded.url, GITLAB_TOKEN="alice")
    assert "proved" not in checks


def test_a_token_that_only_reads_is_a_warning_unless_the_server_only_reads(
    doctor: Doctor, recorded: StandIn
) -> None:
    code, checks = doctor(GITLAB_URL=recorded.url, GITLAB_TOKEN="alice_read")
    assert (code, checks["scopes"]["mark"]) == (0, "warn")
    code, checks = doctor("--read-only")
    assert (code, checks["scopes"]["mark"]) == (0, "ok")


def test_without_a_token_gitlab_is_still_tried_and_the_token_is_what_fails(
    doctor: Doctor, standin: StandIn
) -> None:
    standin.answer("GET", "*", 401, {"message": "401 Unauthorized"})
    code, checks = doctor(GITLAB_URL=standin.url)
    assert (code, checks["connection"]["mark"], checks["token"]["mark"]) == (1, "ok", "fail")
    assert "GITLAB_TOKEN" in checks["token"]["fix"]


@pytest.mark.parametrize(
    ("description", "word"),
    [
        ("Token is expired. You can either do re-authorization or token refresh.", "expired"),
        ("Token was revoked. You have to re-authorize from the user.", "revoked"),
    ],
)
def test_a_dead_token_fails_with_the_reason_gitlab_gives(
    doctor: Doctor, standin: StandIn, description: str, word: str
) -> None:
    standin.answer("GET", "*", 401, {"error": "invalid_token", "error_description": description})
    code, checks = doctor(GITLAB_URL=standin.url, GITLAB_PAT="glpat-dead")
    assert (code, checks["token"]["mark"]) == (1, "fail")
    assert word in checks["token"]["found"]
    assert "GITLAB_PAT" in checks["token"]["fix"]


@pytest.mark.parametrize(("days", "mark"), [(3, "warn"), (14, "warn"), (15, "ok")])
def test_a_token_about_to_expire_is_a_warning(
    doctor: Doctor, recorded: StandIn, days: int, mark: str
) -> None:
    ends = (NOW + days * DAY).date().isoformat()
    recorded.answer("GET", "/personal_access_tokens/self", 200, {"scopes": ["api"], "expires_at": ends})
    _, checks = doctor(GITLAB_URL=recorded.url, GITLAB_TOKEN="alice")
    assert checks["expiry"]["mark"] == mark
    assert ends in checks["expiry"]["found"]


def test_a_token_of_a_kind_the_api_does_not_take_is_named(doctor: Doctor, recorded: StandIn) -> None:
    code, checks = doctor(GITLAB_URL=recorded.url, GITLAB_TOKEN="gldt-something")
    assert (code, checks["token"]["mark"]) == (1, "fail")
    assert "deploy token" in checks["token"]["found"]
    assert "gldt-something" not in json.dumps(checks)


def test_a_dead_gitlab_exits_3_and_the_rest_is_still_told(doctor: Doctor) -> None:
    with StandIn() as gone:
        url = gone.url
    code, checks = doctor(GITLAB_URL=url, GITLAB_TOKEN="alice", GITLAB_TOOLSETS="cor")
    assert code == 3
    assert marks(checks) == {
        "address": "ok",
        "connection": "fail",
        "proxy": "ok",
        "token": "warn",
        "toolsets": "fail",
    }
    assert "GITLAB_URL" in checks["connection"]["fix"]
    assert "core" in checks["toolsets"]["fix"]


def test_an_address_of_one_word_where_nothing_answers_is_a_warning(doctor: Doctor) -> None:
    # Through a proxy that is not there, so that no name server is asked.
    code, checks = doctor(GITLAB_URL="gitlab", GITLAB_TOKEN="alice", HTTPS_PROXY="http://127.0.0.1:9")
    assert (code, checks["address"]["mark"]) == (3, "warn")
    assert "https://gitlab.example.com" in checks["address"]["fix"]


@pytest.mark.parametrize("why", [why for why in UnreachableReason if why is not UnreachableReason.TLS])
def test_an_unreached_gitlab_is_told_in_a_sentence(why: UnreachableReason) -> None:
    unreached = Unreachable(Request("GET", "/version"), why, "gitlab.example.com", sent=False)
    checks = {check.name: check for check in report_on(Settings(), Evidence(unreached, NOW)).checks}
    found = checks["connection"].found
    assert "gitlab.example.com" in found
    assert len(found.split()) > 2
    assert checks["connection"].fix


@pytest.mark.parametrize(
    ("status", "body", "headers"),
    [
        (200, "<html>Sign in</html>", {"Content-Type": "text/html"}),
        (404, "<html>nginx</html>", {"Content-Type": "text/html"}),
        (302, "", {"Content-Type": "text/html", "Location": "https://elsewhere.example.com/"}),
    ],
)
def test_something_else_at_the_address_is_told_apart_from_gitlab(
    doctor: Doctor, standin: StandIn, status: int, body: str, headers: dict[str, str]
) -> None:
    standin.answer("GET", "*", status, body, headers)
    code, checks = doctor(GITLAB_URL=standin.url, GITLAB_TOKEN="alice")
    assert (code != 0, checks["connection"]["mark"]) == (True, "fail")
    assert "GITLAB_URL" in checks["connection"]["fix"]


@pytest.mark.parametrize(
    ("off_by", "mark", "word"),
    [
        (-DAY, "warn", "ahead"),
        (DAY, "warn", "behind"),
        (59 * SECOND, "ok", "agrees"),
        (-59 * SECOND, "ok", "agrees"),
        (62 * SECOND, "warn", "behind"),
    ],
)
def test_a_clock_that_is_off_is_a_warning(off_by: datetime.timedelta, mark: str, word: str) -> None:
    version = Answer(200, {"date": format_datetime(NOW + off_by, usegmt=True)}, {"version": "17.2.0"})
    checks = {check.name: check for check in report_on(Settings(), Evidence(version, NOW)).checks}
    assert checks["clock"].mark == mark
    assert word in checks["clock"].found


def test_the_clocks_are_compared_when_gitlab_answers(doctor: Doctor, recorded: StandIn) -> None:
    date = format_datetime(NOW - DAY, usegmt=True)
    recorded.answer("GET", "/version", 200, {"version": "17.2.0"}, {"Date": date})
    _, checks = doctor(GITLAB_URL=recorded.url, GITLAB_TOKEN="alice")
    assert checks["clock"]["mark"] == "warn"


@pytest.mark.filterwarnings("ignore:Unverified HTTPS request")
def test_an_unknown_authority_names_the_setting_that_mends_it_and_it_does(
    doctor: Doctor, cassettes: Path, tmp_path: Path
) -> None:
    authority, tls = _self_signed(tmp_path)
    with StandIn(tls=tls) as gitlab:
        gitlab.play(cassettes / "instance.json", cassettes / "users.json", cassettes / "access_tokens.json")
        code, checks = doctor(GITLAB_URL=gitlab.url, GITLAB_TOKEN="alice")
        assert (code, checks["certificate"]["mark"]) == (3, "fail")
        assert "GITLAB_CA_FILE" in checks["certificate"]["fix"]
        assert gitlab.requests == []
        code, checks = doctor("--insecure")
        assert (code, checks["certificate"]["mark"]) == (0, "warn")
        code, checks = doctor(GITLAB_CA_FILE=str(authority))
        assert (code, checks["certificate"]["mark"]) == (0, "ok")


def test_proxies_in_effect_are_shown_without_their_passwords(doctor: Doctor, recorded: StandIn) -> None:
    _, checks = doctor(
        GITLAB_URL=recorded.url,
        GITLAB_TOKEN="alice",
        HTTPS_PROXY="http://me:hush@proxy.example.com:3128",
        NO_PROXY="127.0.0.1",
    )
    assert "proxy.example.com:3128" in checks["proxy"]["found"]
    assert "hush" not in json.dumps(checks)


def test_a_project_the_token_cannot_see_is_a_warning(doctor: Doctor, recorded: StandIn) -> None:
    recorded.answer("GET", "/projects/acme%2Fgone", 404, {"message": "404 Project Not Found"})
    code, checks = doctor(GITLAB_URL=recorded.url, GITLAB_TOKEN="alice", GITLAB_PROJECT_ID="acme/gone")
    assert (code, checks["project"]["mark"]) == (0, "warn")


def test_a_replay_is_examined_without_the_network(doctor: Doctor, cassettes: Path) -> None:
    code, checks = doctor("--replay", str(cassettes))
    assert (code, set(marks(checks).values())) == (0, {"ok"})
    assert str(cassettes) in checks["replay"]["found"]
    assert "https://gitlab.example.com" in checks["address"]["found"]
    assert checks["tier"]["found"].startswith("Free")


def test_unusable_settings_are_findings_too_and_exit_2(doctor: Doctor) -> None:
    code, checks = doctor("--max-bytes", "1", GITLAB_URL="ftp://x")
    assert (code, marks(checks)) == (2, {"url": "fail", "max_bytes": "fail"})


def test_for_people_each_fix_stands_below_its_finding(
    doctor: Doctor, recorded: StandIn, capsys: pytest.CaptureFixture[str]
) -> None:
    doctor(GITLAB_URL=recorded.url, GITLAB_TOKEN="alice_read")
    assert main(["doctor"]) == 0
    lines = capsys.readouterr().out.splitlines()
    warned = next(number for number, line in enumerate(lines) if line.startswith("warn  scopes"))
    assert lines[warned + 1].strip().startswith("Set --read-only")


def _self_signed(folder: Path) -> tuple[Path, ssl.SSLContext]:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "gitlab on loopback")])
    loopback = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(NOW - DAY)
        .not_valid_after(NOW + DAY)
        .add_extension(loopback, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    public, private = folder / "public.pem", folder / "private.pem"
    public.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    private.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(public, private)
    return public, context


def test_a_fine_grained_token_is_good_and_what_the_tools_need_is_named(
    doctor: Doctor, standin: StandIn
) -> None:
    """Of 19.3: such a token may read neither the version nor itself."""
    standin.play_rows(rows("context_ee", "19.3"))
    _, checks = doctor(GITLAB_URL=standin.url, GITLAB_TOKEN="fg_project")
    assert (checks["token"]["mark"], checks["version"]["mark"]) == ("ok", "warn")
    assert "fine-grained" in checks["token"]["found"]
    assert "Work Item: Create, Delete, Read, Update (" in checks["permissions"]["found"]
    assert "the chosen toolsets need" in checks["permissions"]["found"].lower()
    assert "Metadata: Read" in checks["version"]["fix"]
    assert "scopes" not in checks
    assert "/api/v4/user" not in {request.path for request in standin.requests}


def test_to_read_only_a_fine_grained_token_needs_no_more_than_to_read(
    doctor: Doctor, standin: StandIn
) -> None:
    standin.play_rows(rows("context_ee", "19.3"))
    _, checks = doctor("--read-only", GITLAB_URL=standin.url, GITLAB_TOKEN="fg_project")
    assert "Work Item: Read (" in checks["permissions"]["found"]
    assert "Create" not in checks["permissions"]["found"]


@pytest.mark.parametrize(
    ("rules", "mark", "says"),
    [
        ("{name: a, users: [alice]}", "ok", "1 rules in"),
        ("{name: a, everybody: true}, {name: b, users: [alice]}", "warn", "never reached"),
        ("{name: a, usrs: [alice]}", "fail", "Did you mean users?"),
    ],
)
def test_a_policy_is_looked_at(
    rules: str, mark: str, says: str, doctor: Doctor, recorded: StandIn, tmp_path: Path
) -> None:
    (tmp_path / "policy.yaml").write_text(f"rules: [{rules}]")
    _, checks = doctor("--policy", "policy.yaml", GITLAB_URL=recorded.url, GITLAB_TOKEN="alice")
    assert checks["policy"]["mark"] == mark and says in checks["policy"]["found"]

from __future__ import annotations

from typing import Any

import pytest

from gitlab_mcp.failures.secret_text import hiding
from gitlab_mcp.results.secret_redaction import keep_visible, redact_json, redact_text

HIDDEN = "[redacted]"


@pytest.mark.parametrize(
    ("body", "safe"),
    [
        ({"runners_token": "GR13489"}, {"runners_token": HIDDEN}),
        ({"feed_token": "x", "incoming_email_token": "y"}, {"feed_token": HIDDEN, "incoming_email_token": HIDDEN}),
        ({"token": "abc", "token_expires_at": None}, {"token": HIDDEN, "token_expires_at": None}),
        ({"runners_token": None, "private_token": ""}, {"runners_token": None, "private_token": ""}),
        ({"smtp_password": "p", "password_authentication_enabled": True},
         {"smtp_password": HIDDEN, "password_authentication_enabled": True}),
        ({"variable_type": "env_var", "key": "K", "value": "v"},
         {"variable_type": "env_var", "key": "K", "value": HIDDEN}),
        ({"key": "K", "value": "v"}, {"key": "K", "value": "v"}),
        ({"import_url": "https://bob:pw@git.example.com/x.git"},
         {"import_url": f"https://{HIDDEN}@git.example.com/x.git"}),
        ({"ssh_url_to_repo": "git@gitlab.example.com:a/b.git"}, {"ssh_url_to_repo": "git@gitlab.example.com:a/b.git"}),
        ({"api_key": "k1", "signing_key": "k2", "signing_token": "k3", "secretAccessKey": "k4", "passphrase": "k5"},
         {"api_key": HIDDEN, "signing_key": HIDDEN, "signing_token": HIDDEN, "secretAccessKey": HIDDEN,
          "passphrase": HIDDEN}),
        ({"secret_key_base": "a", "password_hash": "b", "next_page_token": "c"},
         {"secret_key_base": HIDDEN, "password_hash": HIDDEN, "next_page_token": "c"}),
        ({"custom_headers": [{"key": "X-Api", "value": "v"}], "url_variables": [{"key": "k", "value": "w"}]},
         {"custom_headers": [{"key": "X-Api", "value": HIDDEN}], "url_variables": [{"key": "k", "value": HIDDEN}]}),
        ({"request_headers": {"Content-Type": "application/json", "X-Gitlab-Token": "s", "X-Own": "t"}},
         {"request_headers": {"Content-Type": "application/json", "X-Gitlab-Token": HIDDEN, "X-Own": HIDDEN}}),
        ([{"note": "use glpat-aBcDeFgHiJkLmNoPqRsT."}], [{"note": f"use {HIDDEN}."}]),
    ],
)  # fmt: skip
def test_secrets_are_hidden_and_the_rest_is_not(body: Any, safe: Any) -> None:
    assert redact_json(body) == safe


@pytest.mark.parametrize(
    "prefix",
    ["glpat", "gldt", "glrt", "glcbt", "glptt", "glft", "glsoat", "gloas", "glagent", "glimt", "glffct"],
)
def test_every_kind_of_gitlab_token_is_found_in_text(prefix: str) -> None:
    assert redact_text(f"token={prefix}-abc_DEF-123456789012.01.ab12 end") == f"token={HIDDEN} end"


@pytest.mark.parametrize(
    "name",
    ["sig", "X-Amz-Signature", "X-Amz-Security-Token", "X-Amz-Credential", "X-Goog-Signature", "private_token",
     "access_token", "api_key", "signing_key", "secret", "secret_id", "password", "Signature"],
)  # fmt: skip
def test_a_secret_in_an_address_is_hidden_and_the_rest_of_it_is_not(name: str) -> None:
    address = "see https://store.example.com/a?X-Amz-Date=20260101&{}=4f3a9c%2Bd1&page_token=abc end"
    assert redact_text(address.format(name)) == address.format(name).replace("4f3a9c%2Bd1", HIDDEN)


def test_a_private_key_is_hidden_and_its_lines_stay_as_many() -> None:
    key = "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA\nabc+/=\n-----END RSA PRIVATE KEY-----"
    assert redact_text(f"a\n{key}\nb") == f"a\n{HIDDEN}\n\n\n\nb"
    assert "MIIE" not in redact_text(key.partition("-----END")[0])


def test_a_jwt_is_hidden() -> None:
    assert redact_text("x eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl y") == f"x {HIDDEN} y"


def test_ordinary_source_code_stays() -> None:
    code = "password = read()\nif sig == x: f(token=token, secret=None)\nurl = base + '?page=1&sort=asc'"
    assert redact_text(code) == code


def test_the_token_of_a_call_is_hidden_whatever_it_looks_like() -> None:
    with hiding("plainWithout+aPrefix", "short"):
        assert (
            redact_text("a plainWithout+aPrefix b plainWithout%2BaPrefix short")
            == f"a {HIDDEN} b {HIDDEN} short"
        )
    assert redact_text("plainWithout+aPrefix") == "plainWithout+aPrefix"


def test_words_that_look_like_a_prefix_stay() -> None:
    assert redact_text("see glpat- and glrt-short, http://a:b and user@host") == (
        "see glpat- and glrt-short, http://a:b and user@host"
    )


def test_what_is_revealed_stays_visible_and_only_that() -> None:
    assert redact_json(keep_visible({"token": "glpat-abcdefghijkl", "runners_token": "x"}, "token")) == {
        "token": "glpat-abcdefghijkl",
        "runners_token": HIDDEN,
    }

from __future__ import annotations

from typing import Any

import pytest

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


def test_words_that_look_like_a_prefix_stay() -> None:
    assert redact_text("see glpat- and glrt-short, http://a:b and user@host") == (
        "see glpat- and glrt-short, http://a:b and user@host"
    )


def test_what_is_revealed_stays_visible_and_only_that() -> None:
    assert redact_json(keep_visible({"token": "glpat-abcdefghijkl", "runners_token": "x"}, "token")) == {
        "token": "glpat-abcdefghijkl",
        "runners_token": HIDDEN,
    }

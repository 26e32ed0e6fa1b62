from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gitlab_mcp.settings import SETTINGS, Settings, SettingsError, load
from gitlab_mcp.settings.loading import config_folder
from gitlab_mcp.settings.writing import changed

FILE = """
url = "https://outside.example"
token = "glpat-outside"
project = "out/side"
read_only = true
log_level = "error"

[profiles.work]
url = "https://work.example/gitlab"
token = "glpat-work"
trust = "reversible"

[profiles.home]
url = "https://home.example"
read_only = false
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "config.toml"
    path.write_text(FILE)
    return path


def loaded(file: Path, flags: dict[str, Any] | None = None, **environ: str) -> Settings:
    return load({"config": str(file), **(flags or {})}, {"HOME": str(file.parent), **environ}, file.parent)


def problems(file: Path, flags: dict[str, Any] | None = None, **environ: str) -> list[str]:
    with pytest.raises(SettingsError) as unusable:
        loaded(file, flags, **environ)
    facts = unusable.value.failure.facts
    return [each["suggested_fix"] for each in facts.get("problems", [facts])]


def test_a_profile_has_its_own_and_the_limits_of_all(file: Path) -> None:
    work = loaded(file).profiles["work"]
    assert work.url == "https://work.example/gitlab"
    assert work.token is not None and work.token.reveal() == "glpat-work"
    assert (work.read_only, work.trust, work.log_level) == (True, "reversible", "error")
    assert work.sources["url"] == f"url of [profiles.work] in {file}"
    assert not loaded(file).profiles["home"].read_only


def test_what_says_who_calls_is_taken_from_nowhere_else(file: Path) -> None:
    environ: dict[str, Any] = {
        variable: "glpat-from-the-environment"
        for setting in SETTINGS
        if setting.of_account and setting.secret
        for variable in setting.environment
    }
    found = loaded(
        file, GITLAB_URL="https://variable.example", GITLAB_PROJECT="a/b", GITLAB_TIER="free", **environ
    )
    for name in ("work", "home"):
        profile = found.profiles[name]
        assert profile.url != "https://variable.example"
        assert (profile.project, profile.tier, profile.job_token) == (None, None, None)
    assert found.profiles["home"].token is None
    assert found.url == "https://variable.example"


@pytest.mark.parametrize("choice", [{"flags": {"profile": "work"}}, {"GITLAB_MCP_PROFILE": "work"}])
def test_a_chosen_profile_is_the_only_account(file: Path, choice: dict[str, Any]) -> None:
    found = loaded(file, **choice)
    assert (found.url, found.profile, found.profiles) == ("https://work.example/gitlab", "work", {})
    assert found.has_account


@pytest.mark.parametrize("name", ["url", "token_file", "project", "tier", "oauth_client_id"])
def test_a_flag_of_another_account_beside_a_profile_is_refused(file: Path, name: str) -> None:
    given = {"token_file": str(file), "tier": "free"}.get(name, "https://elsewhere.example")
    told = problems(file, {"profile": "work", name: given})
    assert any(f"Leave --{name.replace('_', '-')} out" in fix for fix in told)


def test_a_flag_that_is_a_limit_is_none_of_another_account(file: Path) -> None:
    assert loaded(file, {"profile": "home", "read_only": True}).read_only


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("profiles = 3", "tables with short names"),
        ("[profiles]\nwork = 3", "tables with short names"),
        ('[profiles."a b"]\nurl = "https://x.example"', "tables with short names"),
        ('[profiles.default]\nurl = "https://x.example"', "tables with short names"),
        ('[profiles."-x"]\nurl = "https://x.example"', "tables with short names"),
        ("[profiles.work]\nread_only = true", "Add url to [profiles.work]"),
        (
            '[profiles.work]\nurl = "https://x.example"\nlog_level = "debug"',
            "cannot have the setting log_level",
        ),
        ('[profiles.work]\nurl = "https://x.example"\nreadonly = true', "Did you mean read_only?"),
        ('[profiles.work]\nurl = "https://x.example"\nonly_in = ""', "Set only_in of [profiles.work]"),
        ('[profiles.work]\nurl = "x y"', "Set url of [profiles.work]"),
    ],
)
def test_a_profile_that_cannot_be_used_stops_the_start(tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "config.toml"
    file.write_text(text)
    assert any(told in fix for fix in problems(file)), problems(file)


def test_a_mistake_that_all_profiles_inherit_is_told_once(file: Path) -> None:
    assert len(problems(file, GITLAB_MCP_LOG_LEVEL="loud")) == 1


def test_a_profile_that_is_not_there_is_told_with_those_that_are(file: Path) -> None:
    assert "one of work, home" in problems(file, {"profile": "wrok"})[0]
    file.write_text("")
    assert "gitlab-mcp init --profile" in problems(file, {"profile": "wrok"})[0]


def test_nothing_is_of_an_account_where_nobody_said_so(tmp_path: Path) -> None:
    found = load({}, {"HOME": str(tmp_path)}, tmp_path)
    assert not found.has_account
    assert load({}, {"GITLAB_TOKEN": "glpat-x"}, tmp_path).has_account


def test_a_secret_may_stand_in_a_profile_as_it_may_outside() -> None:
    for setting in SETTINGS:
        assert not (setting.in_profile and not setting.in_file), setting.name
        assert not (setting.of_account and not setting.in_profile), setting.name


def test_where_a_persons_settings_are(tmp_path: Path) -> None:
    assert config_folder({"HOME": "/home/me"}) == Path("/home/me/.config/gitlab-mcp")
    assert config_folder({"HOME": "/home/me", "XDG_CONFIG_HOME": "/x"}) == Path("/x/gitlab-mcp")
    assert config_folder({}) is None


@pytest.mark.parametrize(
    "before",
    [
        "",
        "# a comment\n",
        FILE,
        "[profiles.work]\n",
        "[profiles]\n",
        "profiles = {work = {read_only = true}}\n",
    ],
)
def test_a_change_of_the_file_is_read_as_it_was_written(tmp_path: Path, before: str) -> None:
    file = tmp_path / "deeper" / "config.toml"
    if before:
        file.parent.mkdir()
        file.write_text(before)
    changed(file, {"url": "https://new.example"}).write()
    changed(file, {"url": "https://work.example", "oauth_client_id": "abc"}, "work").write()
    found = load({"config": str(file)}, {}, tmp_path)
    assert found.url == "https://new.example"
    assert found.profiles["work"].url == "https://work.example"
    assert found.profiles["work"].oauth_client_id == "abc"
    assert [each.name for each in file.parent.iterdir()] == ["config.toml"]
    if before.startswith("#"):
        assert file.read_text().startswith(before)


@pytest.mark.parametrize("content", [b"a = ", b"\xff", b"profiles = 3", b"[profiles]\nwork = 3"])
def test_a_file_that_is_none_of_ours_is_left_alone(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "config.toml"
    file.write_bytes(content)
    with pytest.raises(SettingsError):
        changed(file, {"url": "https://new.example"}, "work").write()
    assert file.read_bytes() == content

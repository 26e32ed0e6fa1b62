from __future__ import annotations

import dataclasses
import json
import logging
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gitlab_mcp.settings import DEFAULT, SETTINGS, Settings, SettingsError, load

TOKEN = "glpat-not-a-real-token"


def settings(
    flags: dict[str, Any] | None = None, environ: dict[str, str] | None = None, directory: Path = Path("/")
) -> Settings:
    return load(flags or {}, environ or {}, directory)


def problem(*args: Any, **kwargs: Any) -> dict[str, Any]:
    with pytest.raises(SettingsError) as caught:
        settings(*args, **kwargs)
    assert caught.value.failure.code == "CONFIGURATION_ERROR"
    return dict(caught.value.failure.facts)


def checkout(directory: Path, remote: str) -> Path:
    (directory / ".git").mkdir(parents=True)
    (directory / ".git/config").write_text(
        f'[core]\n\tbare = false\n[remote "upstream"]\n\turl = git@gitlab.com:other/thing.git\n'
        f'[remote "origin"]\n\turl = {remote}\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n'
    )
    return directory


def test_nothing_given_means_the_defaults() -> None:
    found = settings()
    assert dataclasses.replace(found, sources={}) == Settings()
    assert set(found.sources.values()) == {DEFAULT}


def test_a_variable_means_one_setting_only() -> None:
    names = [variable for setting in SETTINGS for variable in setting.environment]
    assert len(names) == len(set(names))


def test_a_flag_wins_over_a_variable_and_a_variable_over_the_file(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text('url = "https://file.example.com"\ntier = "free"\nread_only = true\n')
    found = settings(
        {"config": str(config), "url": "https://flag.example.com"},
        {"GITLAB_URL": "https://variable.example.com", "GITLAB_TIER": "Premium"},
    )
    assert (found.url, found.tier, found.read_only) == ("https://flag.example.com", "premium", True)
    assert found.sources["url"] == "--url"
    assert found.sources["tier"] == "GITLAB_TIER"
    assert found.sources["read_only"] == f"read_only in {config}"


def test_our_name_wins_over_the_names_of_others() -> None:
    found = settings(
        environ={"GITLAB_API_URL": "https://theirs.example.com", "GITLAB_URL": "https://ours.example.com"}
    )
    assert found.url == "https://ours.example.com"


def test_a_variable_left_blank_counts_as_not_given() -> None:
    found = settings(environ={"GITLAB_URL": "", "GITLAB_HOST": " ", "GITLAB_TOKEN": ""})
    assert (found.url, found.token) == ("https://gitlab.com", None)


@pytest.mark.parametrize(
    ("given", "url"),
    [
        ("https://gitlab.example.com/api/v4", "https://gitlab.example.com"),
        ("https://gitlab.example.com/api/v4/", "https://gitlab.example.com"),
        ("https://gitlab.example.com/api/graphql", "https://gitlab.example.com"),
        ("gitlab.example.com", "https://gitlab.example.com"),
        ("gitlab.example.com:8443", "https://gitlab.example.com:8443"),
        ("http://[::1]:8080/gitlab/", "http://[::1]:8080/gitlab"),
        ("https://Example.COM/Tools/GitLab/api/v4", "https://example.com/Tools/GitLab"),
    ],
)
def test_an_address_is_understood_as_people_write_it(given: str, url: str) -> None:
    assert settings({"url": given}).url == url


@pytest.mark.parametrize(
    "given",
    [
        "ftp://gitlab.example.com",
        "https:///acme",
        "https://someone:secret@gitlab.example.com",
        "https://gitlab.example.com:99999",
        "https://gitlab.example.com/?private_token=x",
        "https://gitlab.example.com/a/../b",
        "https://gitlab.example.com\r\nX: y",
        "${GITLAB_URL}",
        "https://[::1",
    ],
)
def test_an_address_that_cannot_be_one_is_refused_without_repeating_it(given: str) -> None:
    facts = problem({"url": given})
    assert facts["setting"] == "url"
    assert facts["source"] == "--url"
    assert given not in str(facts)


def test_all_problems_are_told_at_once(tmp_path: Path) -> None:
    facts = problem(
        {"url": "ftp://x", "max_bytes": "12", "record": "out.json", "replay": [str(tmp_path)]},
        {"GITLAB_TOKEN": "<your token>", "GITLAB_TIER": "gold"},
        tmp_path,
    )
    assert [each["setting"] for each in facts["problems"]] == ["url", "token", "tier", "max_bytes", "record"]
    assert all(each["suggested_fix"] for each in facts["problems"])


@pytest.mark.parametrize(
    ("flags", "setting"),
    [
        ({"deadline": "0"}, "deadline"),
        ({"deadline": "nan"}, "deadline"),
        ({"read_timeout": "soon"}, "read_timeout"),
        ({"max_bytes": "1.5"}, "max_bytes"),
        ({"error_style": "poem"}, "error_style"),
        ({"toolsets": ","}, "toolsets"),
        ({"only_in": ",,"}, "only_in"),
        ({"only_in": [""]}, "only_in"),
        ({"only_in": ["acme/../other"]}, "only_in"),
        ({"never_in": " , "}, "never_in"),
        ({"only_actions": ","}, "only_actions"),
        ({"never_actions": ","}, "never_actions"),
        ({"ca_file": "/nowhere/ca.pem"}, "ca_file"),
        ({"token_file": "/nowhere/token"}, "token_file"),
        ({"replay": ["/nowhere"]}, "replay"),
        ({"record": "/nowhere/out.json"}, "record"),
        ({"record": "out.yaml"}, "record"),
        ({"record": "out"}, "record"),
        ({"config": "/nowhere/config.toml"}, "config"),
    ],
)
def test_a_value_out_of_range_names_its_setting_and_what_is_expected(
    flags: dict[str, Any], setting: str
) -> None:
    facts = problem(flags)
    assert (facts["setting"], bool(facts["expected"])) == (setting, True)


@pytest.mark.parametrize("setting", ["only_in", "never_in", "only_actions", "never_actions"])
@pytest.mark.parametrize("empty", ["[]", '""', '",,"', '[""]', '["", ","]'])
def test_an_empty_list_of_limits_stops_the_start(setting: str, empty: str, tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(f"{setting} = {empty}\n")
    facts = problem({"config": str(tmp_path / "config.toml")})
    assert (facts["setting"], bool(facts["suggested_fix"])) == (setting, True)


@pytest.mark.parametrize(
    ("variable", "setting"),
    [
        ("GITLAB_MCP_ONLY_IN", "only_in"),
        ("GITLAB_ALLOWED_PROJECT_IDS", "only_in"),
        ("GITLAB_MCP_NEVER_IN", "never_in"),
        ("GITLAB_MCP_ONLY_ACTIONS", "only_actions"),
        ("GITLAB_MCP_NEVER_ACTIONS", "never_actions"),
        ("GITLAB_TOOLSETS", "toolsets"),
    ],
)
@pytest.mark.parametrize("blank", ["", " ", "\t\n", ",", " , "])
def test_a_limit_left_blank_stops_the_start(variable: str, setting: str, blank: str) -> None:
    facts = problem(environ={variable: blank})
    assert (facts["setting"], variable in facts["suggested_fix"]) == (setting, True)


def test_a_flag_counts_beside_a_limit_left_blank() -> None:
    found = settings({"only_in": ["acme"]}, environ={"GITLAB_MCP_ONLY_IN": ""})
    assert found.only_in == ("acme",)


def test_a_misspelt_key_of_the_file_is_refused_with_the_nearest(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text("readonly = true\n")
    assert "read_only" in problem({"config": str(config)})["suggested_fix"]


def test_a_broken_file_is_named_with_the_place(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text('url = "https://gitlab.example.com"\nread_only = maybe\n')
    assert "line 2" in problem({"config": str(config)})["suggested_fix"]


def test_the_usual_file_is_read_and_its_paths_start_at_it(tmp_path: Path) -> None:
    (tmp_path / "gitlab-mcp").mkdir()
    (tmp_path / "gitlab-mcp/ca.pem").write_text("")
    (tmp_path / "gitlab-mcp/config.toml").write_text('ca_file = "ca.pem"\ntoolsets = ["ci", "default"]\n')
    found = settings(environ={"XDG_CONFIG_HOME": str(tmp_path)})
    assert found.ca_file == tmp_path / "gitlab-mcp/ca.pem"
    assert found.toolsets == ("ci", "core")


def test_certificate_checks_cannot_be_turned_off_by_a_variable_or_a_file(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text("insecure = true\n")
    assert problem({"config": str(config)})["setting"] == "insecure"
    everything = dict.fromkeys(("GITLAB_INSECURE", "INSECURE", "GITLAB_MCP_INSECURE"), "true")
    assert settings(environ=everything).insecure is False
    assert settings({"insecure": True}).insecure is True


@pytest.mark.parametrize("variable", next(each.environment for each in SETTINGS if each.name == "token"))
def test_a_token_is_found_under_each_of_its_names_and_shown_under_none(
    variable: str, caplog: pytest.LogCaptureFixture
) -> None:
    found = settings(environ={variable: f" {TOKEN}\n"})
    token = found.token_source()()
    assert token is not None
    assert (token.value.reveal(), token.kind) == (TOKEN, "private")
    logging.getLogger("test").warning("%s %r %s", found, token, token.value)
    shown = f"{found} {found!r} {token!r} {token.value:>40} {dataclasses.asdict(token)} {caplog.text}"
    assert TOKEN not in shown
    with pytest.raises(TypeError):
        pickle.dumps(token.value)


@pytest.mark.parametrize(
    "bad", ["two words", '"quoted"', "${TOKEN}", "<your token>", "tok\nX-Evil: 1", "töken"]
)
def test_a_token_that_cannot_be_one_is_refused_without_showing_it(bad: str) -> None:
    facts = problem(environ={"GITLAB_PAT": bad})
    assert facts["source"] == "GITLAB_PAT"
    assert bad not in str(facts)


def test_no_flag_takes_a_secret() -> None:
    assert {setting.name for setting in SETTINGS if setting.flag is None} == {
        "token",
        "job_token",
        "sentry_dsn",
    }


@pytest.mark.parametrize(
    ("environ", "kind"),
    [
        ({"CI_JOB_TOKEN": "abc"}, "job"),
        ({"CI_JOB_TOKEN": "abc", "GITLAB_TOKEN": TOKEN}, "private"),
        ({"GITLAB_TOKEN": "glcbt-64_abc"}, "job"),
        ({"GITLAB_OAUTH_TOKEN": "0123456789abcdef" * 4}, "bearer"),
    ],
)
def test_the_kind_of_a_token_decides_how_it_is_sent(environ: dict[str, str], kind: str) -> None:
    token = settings(environ=environ).token_source()()
    assert token is not None
    assert token.kind == kind


def test_a_rotated_token_file_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("glpat-first\n")
    source = settings({"token_file": str(path)}).token_source()
    first, again = source(), source()
    assert first is not None and again is not None
    assert again.value is first.value
    new = tmp_path / "new"
    new.write_text("glpat-other\n")
    os.utime(new, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns))
    new.rename(path)
    second = source()
    assert second is not None
    assert (first.value.reveal(), second.value.reveal()) == ("glpat-first", "glpat-other")


def test_a_token_file_that_vanishes_is_a_configuration_error_of_the_call(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text(TOKEN)
    source = settings({"token_file": str(path)}).token_source()
    source()
    path.unlink()
    with pytest.raises(SettingsError) as caught:
        source()
    assert caught.value.failure.facts["setting"] == "token_file"


def test_an_empty_token_file_is_told_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("\n")
    assert problem({"token_file": "token"}, directory=tmp_path)["setting"] == "token_file"


def test_of_a_token_and_a_token_file_the_nearer_source_is_used(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("glpat-in-file")
    (tmp_path / "config.toml").write_text('token_file = "token"\n')
    by_variable = settings({"config": str(tmp_path / "config.toml")}, {"GITLAB_TOKEN": TOKEN})
    by_flag = settings({"token_file": str(tmp_path / "token")}, {"GITLAB_TOKEN": TOKEN})
    assert (by_variable.token_file, by_flag.token) == (None, None)
    assert by_variable.token is not None


def test_proxies_are_told_without_their_passwords() -> None:
    found = settings(
        environ={"https_proxy": "http://me:hush@proxy.example.com:3128", "NO_PROXY": "localhost"}
    )
    assert found.proxies == {"https_proxy": "http://proxy.example.com:3128", "NO_PROXY": "localhost"}


@pytest.mark.parametrize(
    ("remote", "url", "project"),
    [
        ("git@gitlab.com:acme/website.git", "https://gitlab.com", "acme/website"),
        ("gitlab.com:acme/website", "https://gitlab.com", "acme/website"),
        ("ssh://git@gitlab.com:2222/acme/web/site.git", "https://gitlab.com", "acme/web/site"),
        ("https://gitlab.com/acme/website.git", "https://gitlab.com", "acme/website"),
        ("https://ci:secret@gitlab.com/acme/website.git/", "https://gitlab.com", "acme/website"),
        ("https://git.example.com/tools/acme/website.git", "https://git.example.com/tools", "acme/website"),
        ("https://git.example.com/acme/website.git", "https://git.example.com/tools", None),
        ("git@github.com:acme/website.git", "https://gitlab.com", None),
        ("git@gitlab.com.evil.example:acme/website.git", "https://gitlab.com", None),
        ("/srv/git/website.git", "https://gitlab.com", None),
        ("https://gitlab.com/website", "https://gitlab.com", None),
    ],
)
def test_the_project_of_a_checkout_is_used_when_it_is_on_this_gitlab(
    tmp_path: Path, remote: str, url: str, project: str | None
) -> None:
    found = settings({"url": url}, directory=checkout(tmp_path / "repo", remote))
    assert found.project == project
    assert found.sources["project"] == ("git remote origin" if project else DEFAULT)


def test_a_worktree_and_a_subdirectory_know_their_project(tmp_path: Path) -> None:
    main = checkout(tmp_path / "main", "git@gitlab.com:acme/website.git")
    (main / ".git/worktrees/fix").mkdir(parents=True)
    (main / ".git/worktrees/fix/commondir").write_text("../..\n")
    deep = tmp_path / "fix/src/deep"
    deep.mkdir(parents=True)
    (tmp_path / "fix/.git").write_text(f"gitdir: {main}/.git/worktrees/fix\n")
    assert settings(directory=deep).project == "acme/website"


def test_a_project_given_or_the_remote_not_wanted_leaves_the_checkout_alone(tmp_path: Path) -> None:
    here = checkout(tmp_path, "git@gitlab.com:acme/website.git")
    assert settings(environ={"GITLAB_PROJECT_ID": "42"}, directory=here).project == "42"
    assert settings({"project_from_git": False}, directory=here).project is None


def recording(path: Path, *addresses: str) -> Path:
    """Synthetic, in the form that `--record` writes."""
    answer = {"status": {"code": 200}, "headers": {}, "body": {"string": "{}"}}
    exchanges = [{"request": {"method": "GET", "uri": uri}, "response": answer} for uri in addresses]
    path.write_text(json.dumps({"version": 1, "interactions": exchanges}))
    return path


def test_what_is_replayed_answers_for_the_gitlab_it_was_recorded_from(tmp_path: Path) -> None:
    uri = "https://git.acme.test/below/api/v4/version"
    replay = [str(recording(tmp_path / "seen.json", "https://elsewhere.test/login", uri))]
    found = settings({"replay": replay})
    assert (found.url, found.sources["url"]) == ("https://git.acme.test/below", "the recordings")
    chosen = settings({"replay": replay}, {"GITLAB_URL": "https://gitlab.example.com"})
    assert (chosen.url, chosen.sources["url"]) == ("https://gitlab.example.com", "GITLAB_URL")


def test_a_recording_of_nothing_says_nothing_about_the_address(tmp_path: Path) -> None:
    found = settings({"replay": [str(recording(tmp_path / "seen.json"))]})
    assert (found.url, found.sources["url"]) == (Settings().url, DEFAULT)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"interactions": [1]}', '{"interactions": [{}]}'])
def test_a_file_that_is_no_recording_cannot_be_replayed(text: str, tmp_path: Path) -> None:
    (tmp_path / "seen.json").write_text(text)
    (tmp_path / "seen.yaml").write_text(text)
    for name in ("seen.json", "seen.yaml", "."):
        facts = problem({"replay": [str(tmp_path / name)]})
        assert (facts["setting"], facts["source"]) == ("replay", "--replay")


def test_only_a_new_file_or_a_cassette_is_recorded_to(tmp_path: Path) -> None:
    taken, folder = tmp_path / "notes.json", tmp_path / "folder.json"
    taken.write_text('{"mine": 1}')
    folder.mkdir()
    for path in (taken, folder):
        facts = problem({"record": str(path)})
        assert (facts["setting"], facts["source"]) == ("record", "--record")
        assert ".json" in facts["expected"]
    for name in ("new.json", recording(tmp_path / "seen.json").name):
        assert settings({"record": str(tmp_path / name)}).record == tmp_path / name


def test_the_settings_page_says_what_the_declaration_says() -> None:
    root = Path(__file__).parents[2]
    printed = subprocess.run(
        [sys.executable, root / "scripts/settings_page.py"], capture_output=True, check=True, env=os.environ
    )
    assert printed.stdout.decode() == (root / "docs/guides/settings.md").read_text("utf-8")


def test_cassettes_of_several_versions_are_not_played_together(tmp_path: Path) -> None:
    for version in ("17.2", "19.3"):
        (tmp_path / version).mkdir()
        recording(tmp_path / version / "seen.json", "https://gitlab.test/api/v4/version")
    facts = problem({"replay": [str(tmp_path)]})
    assert (facts["setting"], facts["source"]) == ("replay", "--replay")
    assert str(tmp_path / "17.2") in facts["suggested_fix"]
    assert str(tmp_path / "19.3") in facts["suggested_fix"]
    assert settings({"replay": [str(tmp_path / "19.3")]}).url == "https://gitlab.test"

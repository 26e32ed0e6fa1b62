"""Whoever starts the server with these variables gets the settings that were given here."""

from __future__ import annotations

from pathlib import Path

from gitlab_mcp.settings import SETTINGS, as_variables, load

FLAGS = {
    "url": "gitlab.test/gl",
    "read_only": True,
    "toolsets": "core,ci",
    "only_in": ["acme", "tools/ci"],
    "never_actions": ["manage_project.*"],
    "deadline": "12.5",
    "tier": "premium",
    "project_from_git": False,
    "max_bytes": "9000",
    "format": "markdown",
    "audit_log": "stderr",
}


def test_they_mean_the_same_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("alice-in-a-file")
    (tmp_path / "a.json").write_text('{"version": 1, "interactions": []}')
    (tmp_path / "b.json").write_text('{"version": 1, "interactions": []}')
    given = load({**FLAGS, "token_file": "token", "replay": ["a.json", "b.json"]}, {}, tmp_path)
    again = load({}, as_variables(given), Path("/"))
    for setting in SETTINGS:
        assert getattr(again, setting.name) == getattr(given, setting.name), setting.name


def test_a_variable_gets_its_own_name_and_secrets_stay_out_unless_the_token_is_asked_for() -> None:
    given = load({}, {"GITLAB_HOST": "gitlab.test", "GITLAB_PAT": "alice", "NO_COLOR": "1"})
    assert as_variables(given) == {"GITLAB_URL": "https://gitlab.test"}
    assert as_variables(given, with_token=True)["GITLAB_TOKEN"] == "alice"


def test_what_the_settings_file_says_is_left_to_it(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('url = "https://gitlab.test"\nread_only = true\n')
    given = load({"config": "config.toml"}, {}, tmp_path)
    assert as_variables(given) == {"GITLAB_MCP_CONFIG": str(tmp_path / "config.toml")}

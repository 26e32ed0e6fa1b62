"""What a release tells registries and package indexes."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import jsonschema
import pytest
from package_metadata import addresses, registry_name, with_whole_links
from release_files import manifest, registry_entry

from gitlab_mcp import __version__
from gitlab_mcp.settings import SETTINGS

GITHUB = "https://github.com/acme/gitlab-mcp-server"
GITLAB = "https://gitlab.example.com/tools/gitlab-mcp-server"


@pytest.mark.parametrize(
    ("home", "download"),
    [
        (GITHUB, f"{GITHUB}/releases/download/v{__version__}/a.mcpb"),
        (GITLAB, f"{GITLAB}/-/releases/v{__version__}/downloads/a.mcpb"),
    ],
)
def test_the_registry_is_told_where_the_bundle_is_and_what_it_hashes_to(
    home: str, download: str, tmp_path: Path
) -> None:
    bundle = tmp_path / "a.mcpb"
    bundle.write_bytes(b"bundle")
    entry = registry_entry(home, bundle)
    assert entry["version"] == __version__
    package = next(each for each in entry["packages"] if each["registryType"] == "mcpb")
    assert package["identifier"] == download
    assert package["fileSha256"] == hashlib.sha256(b"bundle").hexdigest()
    asked = {each["name"]: each for each in package["environmentVariables"]}
    assert asked["GITLAB_TOKEN"]["isSecret"] and not asked["GITLAB_URL"].get("isSecret")
    assert asked.keys() <= {name for setting in SETTINGS for name in setting.environment}


def test_what_the_registry_would_refuse_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle = tmp_path / "a.mcpb"
    bundle.write_bytes(b"bundle")
    monkeypatch.setattr("release_files.about", "much " * 30)
    with pytest.raises(jsonschema.ValidationError, match="too long"):
        registry_entry(GITHUB, bundle)


def test_the_namespace_is_that_of_the_owner_of_the_home() -> None:
    assert registry_name(GITHUB) == "io.github.acme/gitlab-mcp-server"
    assert registry_name(GITLAB) == "com.example.gitlab/gitlab-mcp-server"


def test_the_bundle_asks_for_variables_that_the_server_reads() -> None:
    told = manifest("")
    assert told["version"] == __version__
    read = {name for setting in SETTINGS for name in setting.environment}
    assert {name for name in told["server"]["mcp_config"]["env"] if name.startswith("GITLAB")} <= read
    assert told["user_config"]["gitlab_token"]["sensitive"]
    assert "homepage" not in told
    assert manifest(GITLAB)["support"] == addresses(GITLAB)["Issues"]


def test_links_of_the_readme_lead_to_the_home_of_the_project() -> None:
    page = '[a](docs/a.md#b) [b](docs/) [c](https://x.test/) [d](#d) [e](mailto:x@y.test)\n<img src="docs/p.svg">\n'
    assert with_whole_links(page, GITHUB, "v1") == (
        f"[a]({GITHUB}/blob/v1/docs/a.md#b) [b]({GITHUB}/tree/v1/docs/) [c](https://x.test/) [d](#d) "
        f'[e](mailto:x@y.test)\n<img src="{GITHUB}/raw/v1/docs/p.svg">\n'
    )
    assert f"]({GITLAB}/-/blob/v1/docs/a.md" in with_whole_links(page, GITLAB, "v1")


def test_the_rules_of_the_registry_are_those_of_a_schema(tmp_path: Path) -> None:
    schema = json.loads((Path(__file__).parents[2] / "deploy/server.schema.json").read_text())
    jsonschema.Draft7Validator.check_schema(schema)
    for broken in ({"name": "x/y"}, {"name": "no-slash", "description": "d", "version": "1"}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.Draft7Validator(schema).validate(broken)

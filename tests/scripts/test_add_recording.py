"""A recording of one's own becomes part of the cassettes. The exchanges here are synthetic."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parent.parent.parent / "scripts/add_recording.py"
GITLAB = "https://git.corp.example/gitlab"


def exchange(uri: str, body: object, caller: str = "caller-1") -> dict[str, Any]:
    return {
        "request": {"method": "GET", "uri": uri, "body": None, "headers": {"X-Recorded-As": [caller]}},
        "response": {
            "status": {"code": 200, "message": "OK"},
            "headers": {"Content-Type": ["application/json"], "Set-Cookie": ["_gitlab_session=x"]},
            "body": {"string": json.dumps(body)},
        },
    }


@pytest.fixture
def cassettes(tmp_path: Path) -> Path:
    folder = tmp_path / "cassettes"
    folder.mkdir()
    held = exchange("https://gitlab.example.com/api/v4/projects/1/labels", [], "alice")
    written(folder / "labels.json", held, exchange(held["request"]["uri"], [], "bob"))
    return folder


def written(path: Path, *interactions: dict[str, Any]) -> Path:
    path.write_text(json.dumps({"version": 1, "interactions": interactions}), "ascii")
    return path


def added(recording: Path, cassettes: Path) -> str:
    command = [sys.executable, str(SCRIPT), str(recording), "--cassettes", str(cassettes)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def interactions(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(path.read_text("ascii"))["interactions"]
    return found


def test_an_exchange_comes_into_its_nouns_cassette_without_secrets_and_without_its_host(
    tmp_path: Path, cassettes: Path
) -> None:
    label = {"id": 7, "web_url": f"{GITLAB}/you/play", "feed_token": "s3cr3t", "by": "you@corp.example"}
    new = written(
        tmp_path / "new.json",
        exchange(f"{GITLAB}/api/v4/metadata", {"version": "18.9.1-ee"}),
        exchange(f"{GITLAB}/api/v4/projects/you%2Fplay/labels/7?private_token=s3cr3t", label),
    )
    added(new, cassettes)
    first, mine, bobs = interactions(cassettes / "labels.json")
    assert [each["request"]["headers"]["X-Recorded-As"] for each in (first, mine, bobs)] == [
        ["alice"],
        ["alice"],
        ["bob"],
    ]
    assert mine["recorded_from"] == "GitLab 18.9.1-ee"
    assert mine["request"]["uri"].startswith(
        "https://gitlab.example.com/api/v4/projects/you%2Fplay/labels/7?"
    )
    assert json.loads(mine["response"]["body"]["string"])["web_url"] == "https://gitlab.example.com/you/play"
    assert mine["response"]["headers"] == {"content-type": ["application/json"]}
    assert "s3cr3t" not in json.dumps(mine) and "corp.example" not in json.dumps(mine)
    assert len(interactions(cassettes / "instance.json")) == 1


def test_what_a_cassette_answers_already_is_left_out(tmp_path: Path, cassettes: Path) -> None:
    before = (cassettes / "labels.json").read_text("ascii")
    new = written(
        tmp_path / "new.json", exchange(f"{GITLAB}/api/v4/projects/1/labels?page=1&per_page=20", [{"id": 1}])
    )
    assert "0 added, 1 known already" in added(new, cassettes)
    assert (cassettes / "labels.json").read_text("ascii") == before

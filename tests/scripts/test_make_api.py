"""Two versions of GitLab, folded into one table."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from gitlab_mcp.api.endpoints import EndpointFacts, endpoints_of, facts_in

SCRIPT = Path(__file__).parent.parent.parent / "scripts/make_api.py"

OLD = [
    {"endpoint": "GET /same", "edition": "CE", "params": {"page": {"type": "integer", "default": 1}}},
    {"endpoint": "GET /gone", "edition": "CE", "params": {}},
    {
        "endpoint": "PUT /things/:id",
        "edition": "EE",
        "params": {"id": {"type": "integer", "required": True}, "state": {"type": "string", "values": ["a"]}},
    },
]
NEW = [
    OLD[0],
    {"endpoint": "GET /new", "edition": "CE", "params": {}},
    {
        "endpoint": "PUT /things/:thing_id",
        "edition": "CE",
        "params": {
            "thing_id": {"type": "integer", "required": True},
            "state": {"type": "string", "values": ["a", "b"]},
        },
    },
]
PAGES = [
    {"endpoint": "PUT /things/:iid", "tier": "Premium", "page": "api/things.md", "section": "Update a thing"},
    {"endpoint": "GET /<route-prefix>/x", "tier": "Free", "page": "api/templates.md", "section": "X"},
]


def fold(table: Path, kind: str, version: str, source: Any) -> str:
    file = table.parent / ("source.jsonl" if kind == "routes" else "source.json")
    lines = map(json.dumps, source) if kind == "routes" else [json.dumps(source)]
    file.write_text("\n".join(lines), "utf-8")
    command = [sys.executable, str(SCRIPT), "--into", str(table), f"--{kind}", version, str(file)]
    return subprocess.run(command, capture_output=True, check=True, text=True).stdout


def test_a_second_version_says_what_came_what_went_and_what_changed(tmp_path: Path) -> None:
    table = tmp_path / "endpoints.jsonl"
    fold(table, "routes", "17.2", OLD)
    fold(table, "docs", "18.9", PAGES)
    fold(table, "roles", "17.2", {"least_role": {"GET /same": "guest"}})
    assert fold(table, "routes", "19.3", NEW).splitlines() == [
        "- GET /gone",
        "+ GET /new",
        "~ PUT /things/:thing_id",
    ]
    rows = endpoints_of(table.read_text("utf-8"))

    def known(version: str) -> dict[str, EndpointFacts]:
        return {key: facts for key, row in rows.items() if (facts := facts_in(row, version))}

    older, newer = known("17.2"), known("19.3")
    assert older.keys() == {"GET /same", "GET /gone", "PUT /things/*"}
    assert newer.keys() == {"GET /same", "GET /new", "PUT /things/*"}
    assert older["GET /same"] == newer["GET /same"]
    assert (older["GET /same"].role, newer["GET /same"].role) == ("guest", "guest")
    was, thing = older["PUT /things/*"], newer["PUT /things/*"]
    assert (was.edition, thing.edition) == ("EE", "CE")
    assert was.parameters and thing.parameters
    assert (was.parameters["state"].values, thing.parameters["state"].values) == (("a",), ("a", "b"))
    assert was.parameters["thing_id"] == thing.parameters["thing_id"]
    assert was.parameters.keys() == {"thing_id", "state"}
    assert thing.documented[0].endpoint == "PUT /things/:iid"
    assert thing.docs == "api/things/#update-a-thing"


def test_which_parameters_go_together_and_what_is_answered_are_kept_of_the_newest(tmp_path: Path) -> None:
    table = tmp_path / "endpoints.jsonl"
    fold(table, "routes", "17.2", OLD)
    rules = [["at_least_one_of", "a", "b"], ["exactly_one_of", "a", "b"], ["mutually_exclusive", "a", "c"]]
    fold_lines(table, "rules", "19.3", [{"endpoint": "GET /same", "rules": rules}])
    fold_lines(
        table,
        "answers",
        "19.3",
        [{"endpoint": "GET /same", "fields": ["id", "_links", "note_html", "web_url"]}],
    )
    known = endpoints_of(table.read_text("utf-8"))["GET /same"]
    # What one rule leaves free, another cannot demand without a condition.
    assert known["rules"] == [["at_least_one_of", "a", "b"], ["mutually_exclusive", "a", "c"]]
    assert known["answer"] == "id web_url"


def fold_lines(table: Path, kind: str, version: str, lines: list[dict[str, Any]]) -> None:
    file = table.parent / "lines.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    command = [sys.executable, str(SCRIPT), "--into", str(table), f"--{kind}", version, str(file)]
    subprocess.run(command, capture_output=True, check=True, text=True)

"""What a client of the last release would notice, and the version that it takes."""

from __future__ import annotations

import sys
from copy import deepcopy
from pathlib import Path
from typing import Any

import interface
import pytest
from interface import least_version, noticed, written

NOW: dict[str, dict[str, Any]] = {
    "action browse_labels list": {
        "danger": "read",
        "required": ["project_id"],
        "fields": {"project_id": {"type": "string"}, "sort": {"type": "string", "values": ["asc", "desc"]}},
    },
    "error code NOT_FOUND": {"status": 404},
    "flag --url": {},
}


def changed(**facts: Any) -> dict[str, dict[str, Any]]:
    """The interface before, in which one action was otherwise."""
    before = deepcopy(NOW)
    before["action browse_labels list"].update(facts)
    return before


@pytest.mark.parametrize(
    ("before", "what"),
    [
        ({**NOW, "action browse_labels all": NOW["flag --url"]}, "action browse_labels all is gone"),
        ({**NOW, "error code LOST": {"status": 400}}, "error code LOST is gone"),
        ({**NOW, "flag --address": {}}, "flag --address is gone"),
        (changed(danger="reversible"), "action browse_labels list: danger was reversible and is read"),
        (changed(required=[]), "action browse_labels list: project_id is required now"),
        (
            changed(fields={**NOW["action browse_labels list"]["fields"], "page": {"type": "integer"}}),
            "action browse_labels list: the field page is gone",
        ),
        (
            changed(
                fields={
                    "project_id": {"type": "integer"},
                    "sort": {"type": "string", "values": ["asc", "desc"]},
                }
            ),
            "action browse_labels list: project_id was of the type integer and is string",
        ),
        (
            changed(
                fields={"project_id": {"type": "string"}, "sort": {"type": "string", "values": ["asc", "up"]}}
            ),
            "action browse_labels list: sort no longer takes up",
        ),
        (
            changed(fields={"project_id": {"type": "string"}, "sort": {"type": "string"}}),
            "action browse_labels list: sort no longer takes any value",
        ),
    ],
)
def test_what_may_stop_working_is_named(before: dict[str, dict[str, Any]], what: str) -> None:
    breaking = [each.what for each in noticed(before, NOW, {}) if each.breaks]
    assert breaking == [what]
    assert least_version("0.3.1", list(noticed(before, NOW, {}))) == "0.4.0"
    assert least_version("1.3.1", list(noticed(before, NOW, {}))) == "2.0.0"


def test_what_is_new_takes_a_minor_version_and_nothing_a_patch() -> None:
    before = changed(fields={"project_id": {"type": "string"}})
    assert [(each.what, each.breaks) for each in noticed(before, NOW, {})] == [
        ("action browse_labels list: the field sort is new", False)
    ]
    assert least_version("1.3.1", list(noticed(before, NOW, {}))) == "1.4.0"
    assert least_version("1.3.1", list(noticed(NOW, NOW, {}))) == "1.3.2"


def test_a_name_that_still_works_breaks_nothing_until_its_end() -> None:
    before = {"action browse_projects labels": NOW["action browse_labels list"], **NOW}
    del before["action browse_labels list"]
    moved = {"action browse_projects labels": ("browse_labels list", "2030-01-31")}
    first, *_ = noticed(before, NOW, moved)
    assert not first.breaks
    assert "until 2030-01-31" in first.what


def test_every_present_name_and_every_former_one_is_in_the_interface() -> None:
    now, moved = interface.interface(), interface.former_names()
    assert len([name for name in now if name.startswith("action ")]) > 1_400
    assert len(moved) > 60
    assert all(f"action {present}" in now for present, _ in moved.values())
    assert list(noticed(now, now, moved)) == []


def test_the_first_release_and_the_next_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "released" / "interface.jsonl"
    monkeypatch.setattr(interface, "RELEASED", file)
    monkeypatch.setattr(sys, "argv", ["interface.py", "--release"])
    monkeypatch.setattr(interface, "__version__", "0.1.0")
    assert interface.main() == 0
    assert interface.read_released() == ("0.1.0", interface.interface())
    before = {**interface.interface(), "flag --gone": {}}
    file.write_text(written("0.1.0", before))
    assert interface.main() == 1
    told = capsys.readouterr()
    assert "! flag --gone is gone" in told.out
    assert "0.2.0" in told.err
    assert file.read_text() == written("0.1.0", before)
    monkeypatch.setattr(interface, "__version__", "0.2.0")
    assert interface.main() == 0
    assert interface.read_released() == ("0.2.0", interface.interface())

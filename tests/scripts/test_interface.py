"""What a client of the last release would notice, and the version that it takes."""

from __future__ import annotations

import sys
from copy import deepcopy
from pathlib import Path
from typing import Any

import interface
import pytest
from interface import least_version, noticed, written

TODAY = "2030-01-31"
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
    breaking = [each.what for each in noticed(before, NOW, TODAY) if each.breaks]
    assert breaking == [what]
    assert least_version("0.3.1", list(noticed(before, NOW, TODAY))) == "0.4.0"
    assert least_version("1.3.1", list(noticed(before, NOW, TODAY))) == "2.0.0"


def test_what_is_new_takes_a_minor_version_and_nothing_a_patch() -> None:
    before = changed(fields={"project_id": {"type": "string"}})
    assert [(each.what, each.breaks) for each in noticed(before, NOW, TODAY)] == [
        ("action browse_labels list: the field sort is new", False)
    ]
    assert least_version("1.3.1", list(noticed(before, NOW, TODAY))) == "1.4.0"
    assert least_version("1.3.1", list(noticed(NOW, NOW, TODAY))) == "1.3.2"


def former(until: str) -> dict[str, dict[str, Any]]:
    return {**NOW, "action browse_projects labels": {"now": "action browse_labels list", "until": until}}


def test_a_name_that_still_works_breaks_nothing() -> None:
    before = {"action browse_projects labels": NOW["action browse_labels list"]}
    first, *more = noticed(before, former("2031-01-31"), TODAY)
    assert not first.breaks
    assert "until 2031-01-31" in first.what
    assert not any(each.breaks for each in more)


def test_a_former_name_may_go_after_its_date_and_not_before() -> None:
    for until, breaks in (("2030-01-30", False), ("2030-01-31", True)):
        (gone,) = noticed(former(until), NOW, TODAY)
        assert (gone.breaks, "browse_projects labels is gone" in gone.what) == (breaks, True)
    (earlier,) = noticed(former("2031-01-31"), former("2030-06-30"), TODAY)
    assert earlier.breaks
    assert list(noticed(former("2030-06-30"), former("2031-01-31"), TODAY)) == []


def test_another_way_to_give_what_is_required_breaks_nothing() -> None:
    now = changed(required=["project_id|group_id"])
    assert list(noticed(NOW, now, TODAY)) == []
    assert [each.what for each in noticed(now, NOW, TODAY)] == [
        "action browse_labels list: project_id is required now"
    ]


def test_every_present_name_and_every_former_one_is_in_the_interface() -> None:
    now = interface.interface()
    actions = {name: promised for name, promised in now.items() if name.startswith("action ")}
    formers = [promised for promised in actions.values() if "until" in promised]
    assert len(actions) > 1_400 and len(formers) > 60
    assert all(promised["now"] in actions for promised in formers)
    assert list(noticed(now, now, TODAY)) == []


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

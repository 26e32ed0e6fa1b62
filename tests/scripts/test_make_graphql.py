"""A GraphQL schema, reduced. The schema is synthetic."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.support.standin import StandIn

SCRIPT = Path(__file__).parent.parent.parent / "scripts/make_graphql.py"


def kind(name: str, *fields: str) -> dict[str, Any]:
    text = {"kind": "NON_NULL", "name": None, "ofType": {"kind": "SCALAR", "name": "String"}}
    many = {"kind": "LIST", "name": None, "ofType": text}
    return {
        "kind": "OBJECT",
        "name": name,
        "fields": [
            {"name": each, "type": many, "args": [{"name": "first", "type": text}]} for each in fields
        ],
    }


def schema(*kinds: dict[str, Any]) -> dict[str, Any]:
    return {"data": {"__schema": {"types": list(kinds)}}}


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_graphql", SCRIPT)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "FACTS", tmp_path)
    return module


def test_a_new_version_says_what_came_what_went_and_what_only_ee_has(
    script: ModuleType,
    standin: StandIn,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    old, ce = tmp_path / "old.json", tmp_path / "ce.json"
    old.write_text(json.dumps(schema(kind("Query", "a", "gone"), kind("Gone", "x"))))
    ce.write_text(json.dumps(schema(kind("Query", "a"))))
    standin.answer("POST", "/api/graphql", body=schema(kind("Query", "a", "paid"), kind("Epic", "x")))
    monkeypatch.setattr(sys, "argv", ["make_graphql", "19.3", "--ee", str(old)])
    script.main()
    monkeypatch.setattr(sys, "argv", ["make_graphql", "19.4", "--ee", standin.url, "--ce", str(ce)])
    capsys.readouterr()
    script.main()
    assert capsys.readouterr().out.splitlines() == ["- Gone", "- Query.gone", "+ Epic", "+ Query.paid"]
    reduced = script.introspected(standin.url)
    script.mark(reduced, script.only_in(reduced, script.introspected(str(ce))))
    assert reduced["Epic"]["ee"] is True
    assert reduced["Query"]["ee_fields"] == ["paid"]
    assert reduced["Query"]["fields"]["a"] == {"type": "[String!]", "args": {"first": "String!"}}

"""The next version of GitLab from two OpenAPI documents, which are synthetic and in the forms that GitLab has."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from gitlab_mcp.api.endpoints import EndpointFacts, endpoints_of, facts_in, normalised

ROOT = Path(__file__).parent.parent.parent
LABELS = "/api/v4/projects/{id}/labels"
LISTED = {"name": "search", "in": "query", "schema": {"type": "string"}}
OF_PROJECT = {
    "name": "id",
    "in": "path",
    "required": True,
    "schema": {"oneOf": [{"type": "string"}, {"type": "integer"}]},
}


def v3(get: list[Any], body: dict[str, Any], **more: Any) -> dict[str, Any]:
    create = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Body"}}}}
    operations = {"get": {"parameters": [OF_PROJECT, *get]}, "post": {"requestBody": create}}
    return {
        "openapi": "3.0.1",
        "paths": {LABELS: operations, **more},
        "components": {"schemas": {"Body": {"type": "object", **body}}},
    }


OLD = v3(
    [LISTED],
    {"properties": {"name": {"type": "string"}, "priority": {"type": "integer"}}, "required": ["name"]},
    **{"/api/v4/version": {"get": {}}, "/api/v4/metadata": {"get": {}}},
)
NEW = v3(
    [LISTED, {"name": "since", "in": "query", "schema": {"type": "string", "format": "date-time"}}],
    {"properties": {"name": {"type": "string"}, "shade": {"type": "string", "enum": ["light", "dark"]}}},
    **{
        "/api/v4/projects/{id}/hues": {"get": {"parameters": [OF_PROJECT]}},
        "/api/v4/metadata": {"get": {}},
    },
)


def run(script: str, *arguments: Any) -> str:
    command = [sys.executable, str(ROOT / "scripts" / script), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, check=True, text=True).stdout


def table_of(path: Path, version: str) -> dict[str, EndpointFacts]:
    rows = endpoints_of(path.read_text("utf-8"))
    return {key: facts for key, row in rows.items() if (facts := facts_in(row, version))}


def written(directory: Path, name: str, document: Any) -> Path:
    path = directory / name
    path.write_text(yaml.safe_dump(document), "utf-8")
    return path


def test_what_differs_between_two_documents_becomes_the_next_version_of_the_table(tmp_path: Path) -> None:
    old, new = written(tmp_path, "old.yaml", OLD), written(tmp_path, "new.yaml", NEW)
    routes, table = tmp_path / "routes.jsonl", tmp_path / "endpoints.jsonl"
    lacks = tmp_path / "lacks.txt"
    lacks.write_text("GET /projects/{id}/hues\n", "utf-8")
    said = run("read_openapi.py", old, new, routes, "--ce-lacks", lacks).splitlines()
    assert said == [
        "+ GET /projects/:id/hues",
        "? GET /version",
        "~ GET /projects/:id/labels: + since",
        "~ POST /projects/:id/labels: + shade",
        "~ POST /projects/:id/labels: - priority",
        "~ POST /projects/:id/labels: name is required no longer",
    ]
    table.write_bytes((ROOT / "src/gitlab_mcp/api/endpoints.jsonl").read_bytes())
    printed = run("make_api.py", "--into", table, "--routes", "99.0", routes)
    assert printed.splitlines() == [
        "+ GET /projects/:id/hues",
        "~ GET /projects/:id/labels",
        "~ POST /projects/:id/labels",
    ], "nothing else changes by going through the script"
    before, after = table_of(table, "19.3"), table_of(table, "99.0")
    create = normalised("POST /projects/:id/labels")
    assert (before[create].parameters or {}).keys() - (after[create].parameters or {}).keys() == {"priority"}
    assert (after[create].parameters or {})["shade"].values == ("light", "dark")
    assert (after["GET /projects/*/labels"].parameters or {})["since"].type == "datetime"
    assert after["GET /projects/*/hues"].edition == "EE"
    assert "GET /version" in after, "gone from the document is not gone"


def test_what_an_instance_no_longer_has_is_taken_away(tmp_path: Path) -> None:
    old, new = written(tmp_path, "old.yaml", OLD), written(tmp_path, "new.yaml", NEW)
    gone = tmp_path / "gone.txt"
    gone.write_text("GET /version\n", "utf-8")
    said = run("read_openapi.py", old, new, tmp_path / "routes.jsonl", "--gone", gone)
    assert "- GET /version" in said and "? GET /version" not in said
    routes = [json.loads(line) for line in (tmp_path / "routes.jsonl").read_text("utf-8").splitlines()]
    assert "GET /version" not in {route["endpoint"] for route in routes}


def test_the_older_form_of_the_documents_is_read_too(tmp_path: Path) -> None:
    body = {"in": "body", "name": "it", "schema": {"$ref": "#/definitions/Body"}}
    colour = {"in": "formData", "name": "hue", "type": "array", "items": {"type": "integer"}}
    old = {"swagger": "2.0", "paths": {"/api/v4/projects/{id}/labels": {"post": {"parameters": []}}}}
    new = {
        "swagger": "2.0",
        "paths": {"/api/v4/projects/{id}/labels": {"post": {"parameters": [body, colour]}}},
        "definitions": {"Body": {"properties": {"shade": {"type": "string"}}}},
    }
    files = [written(tmp_path, "old.yaml", old), written(tmp_path, "new.yaml", new)]
    said = run("read_openapi.py", *files, tmp_path / "routes.jsonl").splitlines()
    assert said == ["~ POST /projects/:id/labels: + hue", "~ POST /projects/:id/labels: + shade"]


@pytest.mark.parametrize("sign", ["", "? "])
def test_an_instance_is_asked_only_by_reading_which_endpoints_it_lacks(
    tmp_path: Path, standin: Any, sign: str
) -> None:
    standin.answer("GET", "/projects/0/labels", 404, {"message": "404 Project Not Found"})
    standin.answer("GET", "/license", 404, {"error": "404 Not Found"})
    asked = tmp_path / "asked.txt"
    asked.write_text(
        "".join(f"{sign}{each}\n" for each in ("GET /projects/*/labels", "GET /license", "DELETE /x"))
    )
    assert run("ask_routes.py", standin.url, asked).splitlines() == ["GET /license"]
    assert {request.method for request in standin.requests} == {"GET"}


def test_the_fields_of_what_an_endpoint_answers_are_read_too(tmp_path: Path) -> None:
    label = {"type": "object", "properties": {"id": {"type": "integer"}, "name": {"type": "string"}}}
    listed = {"200": {"content": {"application/json": {"schema": {"type": "array", "items": label}}}}}
    new = v3([LISTED], {}, **{"/api/v4/labels": {"get": {"responses": listed}}})
    answers = tmp_path / "answers.jsonl"
    run(
        "read_openapi.py",
        written(tmp_path, "old.yaml", OLD),
        written(tmp_path, "new.yaml", new),
        tmp_path / "routes.jsonl",
        "--answers",
        answers,
    )
    assert json.loads(answers.read_text("utf-8")) == {"endpoint": "GET /labels", "fields": ["id", "name"]}

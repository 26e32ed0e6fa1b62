"""The routes of a new version of GitLab, from the OpenAPI documents that GitLab publishes.

    python scripts/read_openapi.py openapi_19_3.yaml openapi_19_4.yaml routes_19_4.jsonl [--ce-lacks lacks.txt]
    python scripts/make_api.py --routes 19.4 routes_19_4.jsonl

With `--answers answers_19_4.jsonl` the fields of the answers are written down too, for `make_api.py --answers`.

The documents are doc/api/openapi/openapi_v3.yaml of the tags v19.3.0-ee and v19.4.0-ee (openapi_v2.yaml before 18.9).
They leave routes out, and say less of a parameter than the application does. So only what differs between the two is
believed: it is applied to the newest routes that are known, and printed. What is gone from the document may have become
hidden: it is printed with `?` and kept. Which of these an instance still has, `scripts/ask_routes.py` finds out, and
`--gone` takes them away. `--ce-lacks` names endpoints that only EE has, as that script prints them for a CE.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from gitlab_mcp.api.endpoints import EndpointFacts, Parameter, every, find, normalised

METHODS = ("get", "post", "put", "patch", "delete")
_TIMES = {"date-time": "datetime", "date": "date", "binary": "file"}

Parameters = dict[str, Parameter]


def parameters_by_endpoint(document: Mapping[str, Any]) -> dict[str, Parameters]:
    """What an OpenAPI document, of version 2 or 3, says each endpoint takes."""
    return {
        f"{method.upper()} {_path(path)}": dict(_parameters(document, operation))
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
        if method in METHODS
    }


def answers_by_endpoint(document: Mapping[str, Any]) -> dict[str, list[str]]:
    """The fields of what each endpoint answers with, where the document says it."""
    found = {}
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            if method in METHODS and (fields := _answered(document, operation)):
                found[f"{method.upper()} {_path(path)}"] = fields
    return found


def _answered(document: Mapping[str, Any], operation: Mapping[str, Any]) -> list[str]:
    """Of one thing, also where a list of them is answered."""
    answers: dict[Any, Mapping[str, Any]] = operation.get("responses", {})
    response = _resolved(
        document, next((each for status, each in answers.items() if str(status)[0] == "2"), {})
    )
    contents = [each.get("schema", {}) for each in response.get("content", {}).values()]
    for schema in [*contents, response.get("schema", {})]:
        thing = _resolved(document, schema)
        thing = _resolved(document, thing.get("items", {})) if thing.get("type") == "array" else thing
        if fields := [*thing.get("properties", {})]:
            return fields
    return []


def _path(path: str) -> str:
    return re.sub(r"\{(\w+)\}", r":\1", re.sub(r"^(/api)?/v4", "", path))


def _parameters(document: Mapping[str, Any], operation: Mapping[str, Any]) -> Iterator[tuple[str, Parameter]]:
    for told in operation.get("parameters", ()):
        about = _resolved(document, told)
        if about.get("in") == "body":
            yield from _members(document, about["schema"])
        elif about.get("in") != "header":
            schema = _resolved(document, about.get("schema", about))
            yield about["name"], _parameter(document, schema, required=about.get("required") is True)
    for content in _resolved(document, operation.get("requestBody", {})).get("content", {}).values():
        yield from _members(document, content.get("schema", {}))


def _members(document: Mapping[str, Any], told: Mapping[str, Any]) -> Iterator[tuple[str, Parameter]]:
    schema = _resolved(document, told)
    for name, member in schema.get("properties", {}).items():
        required = name in schema.get("required", ())
        yield name, _parameter(document, _resolved(document, member), required=required)


def _parameter(document: Mapping[str, Any], schema: Mapping[str, Any], *, required: bool) -> Parameter:
    items = _resolved(document, schema.get("items", {}))
    values = tuple(str(value) for value in schema.get("enum", items.get("enum", ())))
    return Parameter(_type(document, schema), required, values, schema.get("default"))


def _type(document: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    kinds = schema.get("oneOf") or schema.get("anyOf")
    if kinds:
        return "|".join(dict.fromkeys(_type(document, _resolved(document, kind)) for kind in kinds))
    kind = str(schema.get("type", "object"))
    if kind == "array":
        return f"array of {_type(document, _resolved(document, schema.get('items', {'type': 'string'})))}"
    return _TIMES.get(schema.get("format", ""), kind)


def _resolved(document: Mapping[str, Any], told: Mapping[str, Any]) -> Mapping[str, Any]:
    while "$ref" in told:
        place: Any = document
        for part in told["$ref"].removeprefix("#/").split("/"):
            place = place[part]
        told = place
    return told


class NewRoutes:
    """The newest routes that are known, with what differs between two documents."""

    def __init__(self, old: dict[str, Parameters], new: dict[str, Parameters], gone: set[str]) -> None:
        self.changes: list[str] = []
        self.routes: dict[str, EndpointFacts] = {
            normalised(known.endpoint): known
            for known in every()
            if known.parameters is not None and normalised(known.endpoint) not in gone
        }
        was = {normalised(endpoint): parameters for endpoint, parameters in old.items()}
        for endpoint, parameters in new.items():
            key = normalised(endpoint)
            known = self.routes.get(key)
            if known is None:
                self.changes.append(f"+ {endpoint}")
                self.routes[key] = EndpointFacts(endpoint, parameters=parameters)
            elif key in was:
                self.routes[key] = self._changed(known, was[key], parameters)
        there = {normalised(endpoint) for endpoint in new}
        for key in gone:
            self.changes.append(f"- {key}")
        self.changes += [f"? {key}" for key in was if key not in there and key in self.routes]

    def _changed(self, known: EndpointFacts, was: Parameters, now: Parameters) -> EndpointFacts:
        parameters = dict(known.parameters or {})
        for name, parameter in now.items():
            if name in known.in_path:
                continue
            if name not in parameters and name not in was:
                parameters[name] = parameter
                self.changes.append(f"~ {known.endpoint}: + {name}")
            elif name in was and name in parameters and (more := _more(was[name], parameter)):
                self.changes.append(f"~ {known.endpoint}: {name} {more}")
                parameters[name] = _with(parameters[name], was[name], parameter)
        for name in was.keys() - now.keys() & parameters.keys() - set(known.in_path):
            del parameters[name]
            self.changes.append(f"~ {known.endpoint}: - {name}")
        return EndpointFacts(
            known.endpoint, edition=known.edition, parameters=parameters, deprecated=known.deprecated
        )

    def lines(self, ce_lacks: set[str]) -> Iterator[str]:
        """In the form that scripts/make_api.py reads."""
        for key, known in self.routes.items():
            edition = "EE" if key in ce_lacks else known.edition
            params = {name: _told(each) for name, each in (known.parameters or {}).items()}
            route = {"endpoint": known.endpoint, "edition": edition, "params": params}
            yield json.dumps(route | ({"deprecated": True} if known.deprecated else {})) + "\n"


def _more(was: Parameter, now: Parameter) -> str:
    if set(was.values) != set(now.values) and was.values and now.values:
        came, went = set(now.values) - set(was.values), set(was.values) - set(now.values)
        return " ".join([f"+ {each}" for each in sorted(came)] + [f"- {each}" for each in sorted(went)])
    if was.required != now.required:
        return "is required now" if now.required else "is required no longer"
    return ""


def _with(known: Parameter, was: Parameter, now: Parameter) -> Parameter:
    went = set(was.values) - set(now.values)
    values = dict.fromkeys([value for value in known.values if value not in went] + list(now.values))
    return Parameter(
        known.type, now.required, tuple(values) if known.values else (), known.default, known.ee_only
    )


def _told(parameter: Parameter) -> dict[str, Any]:
    told = {
        "type": parameter.type,
        "required": parameter.required,
        "values": [int(each) if parameter.type.endswith("integer") else each for each in parameter.values],
        "ee_only": parameter.ee_only,
    }
    told = {name: value for name, value in told.items() if value}
    return told if parameter.default is None else {**told, "default": parameter.default}


def endpoints_in(file: Path | None) -> set[str]:
    """One a line, whatever sign is before it."""
    lines = file.read_text("utf-8").splitlines() if file else ()
    return {normalised(line.lstrip("+-~? ")) for line in lines if line.strip()}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("routes", type=Path)
    parser.add_argument("--ce-lacks", type=Path)
    parser.add_argument("--gone", type=Path)
    parser.add_argument("--answers", type=Path, help="also write the fields of the answers there")
    chosen = parser.parse_args()
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    documents = [yaml.load(path.read_text("utf-8"), loader) for path in (chosen.old, chosen.new)]
    old, new = map(parameters_by_endpoint, documents)
    if chosen.answers:
        lines = (
            json.dumps({"endpoint": endpoint, "fields": fields}) + "\n"
            for endpoint, fields in answers_by_endpoint(documents[1]).items()
        )
        chosen.answers.write_text("".join(lines), "utf-8")
    read = NewRoutes(old, new, endpoints_in(chosen.gone))
    lacking = {endpoint for endpoint in endpoints_in(chosen.ce_lacks) if find(endpoint) is None}
    chosen.routes.write_text("".join(read.lines(lacking)), "utf-8")
    sys.stdout.writelines(f"{line}\n" for line in sorted(read.changes))
    return 0


if __name__ == "__main__":
    sys.exit(main())

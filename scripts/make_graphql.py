"""Reduce GitLab's GraphQL schema of one version to what tests/contracts/test_graphql.py holds our documents against.

    python scripts/make_graphql.py 19.4 --ee https://gitlab.example.com --ce https://ce.example.com
    python scripts/make_graphql.py 19.4 --ee introspection.json --ee-only ee_only.json

An address is asked by introspection, with the token in GITLAB_TOKEN where there is one. What only EE has is what CE
lacks, or a list of it: {types: [], fields: {type: []}, input_fields: {type: []}}. Written is
tests/support/facts/graphql_<version>.json.gz; what came and went since the version before it is printed.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gitlab_mcp.api.versions import version_number

FACTS = Path(__file__).resolve().parent.parent / "tests/support/facts"
_TYPE = "kind name ofType{kind name ofType{kind name ofType{kind name ofType{kind name}}}}"
_ARGUMENT = f"name defaultValue type{{{_TYPE}}}"
INTROSPECTION = (
    "{__schema{types{kind name possibleTypes{name} enumValues(includeDeprecated:true){name}"
    f" inputFields{{{_ARGUMENT}}} fields(includeDeprecated:true){{name type{{{_TYPE}}} args{{{_ARGUMENT}}}}}}}}}}}"
)

Schema = dict[str, dict[str, Any]]


def introspected(source: str) -> Schema:
    """The types of a file, or of an instance that is asked."""
    if not source.startswith("http"):
        told = json.loads(Path(source).read_text("utf-8"))
    else:
        headers = {"Content-Type": "application/json"}
        if token := os.environ.get("GITLAB_TOKEN"):
            headers["Authorization"] = f"Bearer {token}"
        body = json.dumps({"query": INTROSPECTION}).encode()
        request = urllib.request.Request(f"{source.rstrip('/')}/api/graphql", body, headers)
        with urllib.request.urlopen(request, timeout=120) as answer:
            told = json.load(answer)
    if "errors" in told:
        raise SystemExit(f"GitLab answers: {told['errors']}")
    return {
        kind["name"]: reduced(kind) for kind in told.get("data", told)["__schema"]["types"] if kind["name"]
    }


def reduced(kind: dict[str, Any]) -> dict[str, Any]:
    about: dict[str, Any] = {"kind": kind["kind"]}
    fields = {each["name"]: _field(each) for each in kind.get("fields") or kind.get("inputFields") or ()}
    if fields:
        about["fields"] = fields
    if kind.get("enumValues"):
        about["values"] = [each["name"] for each in kind["enumValues"]]
    if kind.get("possibleTypes"):
        about["possible"] = [each["name"] for each in kind["possibleTypes"]]
    return about


def _field(field: dict[str, Any]) -> dict[str, Any]:
    args = {each["name"]: _spelled(each["type"]) for each in field.get("args") or ()}
    return {"type": _spelled(field["type"]), **({"args": args} if args else {})}


def _spelled(kind: dict[str, Any]) -> str:
    match kind["kind"]:
        case "NON_NULL":
            return f"{_spelled(kind['ofType'])}!"
        case "LIST":
            return f"[{_spelled(kind['ofType'])}]"
        case _:
            return str(kind["name"])


def only_in(ee: Schema, ce: Schema) -> dict[str, Any]:
    """What CE lacks, in the form of the list."""
    both = ee.keys() & ce.keys()
    lacking = {name: [*(_fields(ee, name) - _fields(ce, name))] for name in both}
    return {
        "types": [*(ee.keys() - ce.keys())],
        "fields": {name: sorted(each) for name, each in lacking.items()},
    }


def mark(schema: Schema, ee_only: dict[str, Any]) -> None:
    for name in ee_only["types"]:
        if name in schema:
            schema[name]["ee"] = True
    for part in ("fields", "input_fields"):
        for name, fields in ee_only.get(part, {}).items():
            if fields and name in schema and "ee" not in schema[name]:
                schema[name]["ee_fields"] = fields


def _fields(schema: Schema, name: str) -> set[str]:
    return set(schema[name].get("fields", ()))


def changes(old: Schema, new: Schema) -> Iterator[str]:
    """`+ Type`, `- Type.field`."""
    for sign, here, there in (("-", old, new), ("+", new, old)):
        for name in sorted(here):
            if name not in there:
                yield f"{sign} {name}\n"
            else:
                yield from (
                    f"{sign} {name}.{each}\n" for each in sorted(_fields(here, name) - _fields(there, name))
                )


def known() -> dict[str, Path]:
    """The files by version, from old to new."""
    files = {
        path.name[8:].partition(".json")[0].replace("_", "."): path
        for path in FACTS.glob("graphql_*.json.gz")
    }
    return dict(sorted(files.items(), key=lambda each: version_number(each[0])))


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("version")
    parser.add_argument("--ee", required=True, metavar="URL|FILE")
    parser.add_argument("--ce", metavar="URL|FILE")
    parser.add_argument("--ee-only", type=Path, metavar="FILE")
    chosen = parser.parse_args()
    schema = introspected(chosen.ee)
    if chosen.ce:
        mark(schema, only_in(schema, introspected(chosen.ce)))
    elif chosen.ee_only:
        mark(schema, json.loads(chosen.ee_only.read_text("utf-8")))
    older = [
        path for version, path in known().items() if version_number(version) < version_number(chosen.version)
    ]
    text = json.dumps(schema, sort_keys=True, separators=(",", ":"))
    path = FACTS / f"graphql_{chosen.version.replace('.', '_')}.json.gz"
    path.write_bytes(gzip.compress(text.encode(), mtime=0))
    if older:
        sys.stdout.writelines(changes(json.loads(gzip.decompress(older[-1].read_bytes())), schema))
    return 0


if __name__ == "__main__":
    sys.exit(main())

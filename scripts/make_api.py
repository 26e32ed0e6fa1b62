"""Fold what is known of one version of GitLab into src/gitlab_mcp/api/endpoints.jsonl.

    python scripts/make_api.py --routes 17.2 routes.jsonl     what the application declares
    python scripts/make_api.py --docs 18.9 endpoints.json     what the documentation says
    python scripts/make_api.py --roles 17.2 roles.json        the least role of an endpoint, as measured
    python scripts/make_api.py --custom 19.3 custom.json      what a custom role adds to be let in
    python scripts/make_api.py --tokens 19.3 tokens.jsonl     what it asks of fine-grained and job tokens
    python scripts/make_api.py --rules 19.3 routes.jsonl      which of its parameters go together
    python scripts/make_api.py --answers 19.3 answers.jsonl   the fields of what it answers

routes.jsonl    {endpoint, edition, params: {name: {type, required, values, default, ee_only}}, deprecated} a line
endpoints.json  [{endpoint, tier, page, section}]
roles.json      {least_role: {endpoint: role}, beside: {endpoint: [role]}}, where beside are roles below the least one
                that are let in all the same
custom.json     {endpoint: permission}, what a custom role adds to be let in
tokens.jsonl    {endpoint, permissions: [], boundaries: [], no_granular_token, job_token: [policy] or nothing} a line
                of routes.jsonl `rules`: [[at_least_one_of, name, name]], also exactly_one_of, mutually_exclusive,
                all_or_none_of
answers.jsonl   {endpoint, fields: []} a line; only of reads, since a write shows what was sent

Versions are folded in from old to new, each once. A file may end in .gz. What the version changed is printed.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from gitlab_mcp.api.endpoints import DATA, endpoints_of, normalised, placeholders
from gitlab_mcp.api.versions import version_number

PATH = Path(__file__).resolve().parent.parent / "src/gitlab_mcp/api" / DATA
SAY_NOTHING = ("As a regular user", "As an administrator")
"""Titles that several sections of a page have."""
MOST_FIELDS = 40
"""Of an answer, or of a rule, that are written down."""

Row = dict[str, Any]


class Data:
    """The rows of the file, and the versions that each kind of fact was read from."""

    def __init__(self, text: str = "") -> None:
        text = text or '{"versions":{}}'
        self.versions: dict[str, list[str]] = json.loads(text.partition("\n")[0])["versions"]
        self.rows: dict[str, Row] = endpoints_of(text)

    def text(self) -> str:
        """One endpoint a line, so that a diff shows what a version changed."""
        rows = sorted(self.rows.values(), key=lambda row: [*reversed(row["endpoint"].split(" ", 1))])
        lines = [{"versions": dict(sorted(self.versions.items()))}, *rows]
        return "".join(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n" for line in lines)

    def fold(self, kind: str, version: str, source: Any) -> None:
        known = self.versions.setdefault(kind, [])
        if known and version_number(version) <= version_number(known[-1]):
            raise SystemExit(f"{kind} of {known[-1]} are in: only those of a newer version can follow")
        FOLDS[kind](self, version, known[-1] if known else None, source)
        known.append(version)

    def changes(self, older: Data) -> str:
        """An endpoint a line: + new, - gone, ~ changed."""
        lines = []
        for key, row in sorted(self.rows.items()):
            was = older.rows.get(key)
            if was != row:
                gone = "until" in row and was and "until" not in was
                lines.append(f"{'-' if gone else '~' if was else '+'} {row['endpoint']}\n")
        return "".join(lines)

    def documented_in(self, row: Row) -> str | None:
        """The version that documents an endpoint: it is at least that old."""
        return self.versions["docs"][-1] if "docs" in row else None

    def row(self, endpoint: str) -> Row:
        return self.rows.setdefault(normalised(endpoint), {"endpoint": endpoint})


def fold_routes(data: Data, version: str, before: str | None, routes: list[Row]) -> None:
    there: dict[str, Row] = {}
    for route in routes:
        if route["endpoint"].startswith("*"):
            continue  # What answers where nothing else does.
        # Where `/-/epics` and `/epics` are two routes, the plain one is meant.
        known = there.get(normalised(route["endpoint"]))
        if known is None or "/-/" in known["endpoint"]:
            there[normalised(route["endpoint"])] = route
    for key, route in there.items():
        is_new = key not in data.rows or "params" not in data.rows[key]
        row = data.row(route["endpoint"])
        row.pop("until", None)
        if row["endpoint"] != route["endpoint"]:
            respell(row, route["endpoint"])
        if is_new and before:
            row["since"] = data.documented_in(row) or version
        told = {name: parameter(about) for name, about in route["params"].items()}
        asked = before if not is_new else None
        in_path = {name: told[name] for name in placeholders(route["endpoint"]) if name in told}
        # A path tells the type of its names well enough: only the newest is kept.
        row["params"] = folded_all({**row.get("params", {}), **in_path}, told, version, asked)
        _set(row, "edition", "EE" if route["edition"] == "EE" else None, version, asked)
        _set(row, "deprecated", route.get("deprecated") or None, version, asked)
    for key, row in data.rows.items():
        if key not in there and "params" in row and "until" not in row:
            row["until"] = before


def respell(row: Row, endpoint: str) -> None:
    """The newest spelling counts: the placeholders of the path are renamed with it."""
    for page in row.get("docs", ()):
        page.setdefault("as", row["endpoint"])
    if "params" in row:
        names = dict(zip(placeholders(row["endpoint"]), placeholders(endpoint), strict=False))
        row["params"] = {names.get(name, name): told for name, told in row["params"].items()}
    row["endpoint"] = endpoint


def parameter(about: Row) -> str | Row:
    """`integer!` for one that is required, an object where more than that is known."""
    kind = about.get("type", "string") + ("!" if about.get("required") else "")
    more: Row = {part: about[part] for part in ("values", "default", "ee_only") if part in about}
    if not isinstance(more.get("values"), list):
        more.pop("values", None)  # A range of numbers.
    return {"type": kind, **more} if more else kind


def fold_docs(data: Data, version: str, before: str | None, pages: list[Row]) -> None:
    """The new documentation replaces the old one."""
    for row in data.rows.values():
        row.pop("docs", None)
    for entry in pages:
        if "<" in entry["endpoint"] or "$" in entry["endpoint"]:
            continue  # A template of an endpoint.
        row = data.row(entry["endpoint"])
        told = {
            "page": entry["page"].removesuffix(".md").removesuffix("/_index"),
            "section": "" if entry["section"] in SAY_NOTHING else entry["section"],
            "tier": entry["tier"],
            "as": entry["endpoint"] if entry["endpoint"] != row["endpoint"] else None,
        }
        told = {name: value for name, value in told.items() if value}
        if told not in row.setdefault("docs", []):
            row["docs"].append(told)
    data.rows = {key: row for key, row in data.rows.items() if row.keys() != {"endpoint"}}
    for key, row in data.rows.items():
        row.get("docs", []).sort(key=partial(_aside, key))


def _aside(endpoint: str, page: Row) -> tuple[int, bool]:
    """How far a page is from being about the endpoint: it is named after the last noun of the path."""
    nouns = [part for part in endpoint.split("/")[1:] if "*" not in part]
    noun = page["page"].rpartition("/")[2]
    return (nouns[::-1].index(noun) if noun in nouns else len(nouns)), not page.get("section")


def fold_roles(data: Data, version: str, before: str | None, measured: Row) -> None:
    for endpoint, role in measured["least_role"].items():
        _set(data.row(endpoint), "role", role, version, before)
    for endpoint, roles in measured.get("beside", {}).items():
        _set(data.row(endpoint), "beside", " ".join(roles), version, before)


def fold_custom(data: Data, version: str, before: str | None, permissions: Mapping[str, str]) -> None:
    for endpoint, permission in permissions.items():
        _set(data.row(endpoint), "custom", permission, version, before)


def fold_tokens(data: Data, version: str, before: str | None, lines: list[Row]) -> None:
    for line in lines:
        if normalised(line["endpoint"]) not in data.rows:
            continue
        told = {
            "permissions": " ".join(line.get("permissions") or ()),
            "at": " ".join(dict.fromkeys(line.get("boundaries") or ())),
            "no": line.get("no_granular_token"),
        }
        told = {name: value for name, value in told.items() if value}
        if line.get("job_token") is not None:
            told["job"] = " ".join(line["job_token"])
        _set(data.row(line["endpoint"]), "tokens", told or None, version, before)


def fold_rules(data: Data, version: str, before: str | None, routes: list[Row]) -> None:
    """The newest alone. Where nearly any parameter will do, the rule names none. What is demanded of parameters where
    another rule says that any other will do, holds on a condition that is not known."""
    for route in routes:
        key, told = normalised(route["endpoint"]), route.get("rules", ())
        enough = {name for kind, *names in told if kind == "at_least_one_of" for name in names}
        rules = [
            [kind] if kind == "at_least_one_of" and len(names) > MOST_FIELDS else [kind, *names]
            for kind, *names in told
            if kind != "exactly_one_of" or not enough.issuperset(names)
        ]
        if key in data.rows:
            data.rows[key].pop("rules", None)
        if key in data.rows and rules:
            data.rows[key]["rules"] = rules


def fold_answers(data: Data, version: str, before: str | None, lines: list[Row]) -> None:
    """The newest alone: what an answer lacks is not shown anyway."""
    for line in lines:
        key = normalised(line["endpoint"])
        if key.startswith("GET ") and key in data.rows and (fields := telling(line["fields"])):
            data.rows[key]["answer"] = " ".join(fields)


def telling(fields: list[str]) -> list[str]:
    """Without decoration: pictures, HTML, addresses of the API."""
    kept = [name for name in fields if not name.startswith(("_", "avatar")) and not name.endswith("_html")]
    kept = [
        name for name in kept if name.isidentifier() and (name == "web_url" or not name.startswith("links"))
    ]
    return kept[:MOST_FIELDS]


def folded_all(old: Row, new: Row, version: str, before: str | None) -> Row:
    """Each parameter as it was and as it is."""
    names = {**dict.fromkeys(new), **dict.fromkeys(old)}
    both = {name: folded(old.get(name), new.get(name), version, before) for name in names}
    return {name: told for name, told in both.items() if told is not None}


def folded(old: Any, new: Any, version: str, before: str | None) -> Any:
    """A fact that may differ by version: plain while it does not, else a list whose members say since and until."""
    if before is None:
        return new
    history = old if isinstance(old, list) else [] if old is None else [old]
    last = history[-1] if history and "until" not in _marked(history[-1]) else None
    if (None if last is None else _plain(last)) == new:
        return old
    if last is not None:
        history = [*history[:-1], {**_marked(last), "until": before}]
    if new is not None:
        history = [*history, {**_marked(new), "since": version}]
    return history[0] if len(history) == 1 else history


def _marked(fact: Any) -> Row:
    return fact if isinstance(fact, dict) else {"is": fact}


def _plain(fact: Any) -> Any:
    told = {name: value for name, value in _marked(fact).items() if name not in ("since", "until")}
    return told.get("is", told)


def _set(row: Row, name: str, value: Any, version: str, before: str | None) -> None:
    if (told := folded(row.get(name), value, version, before)) is not None:
        row[name] = told


FOLDS: Mapping[str, Callable[[Data, str, str | None, Any], None]] = {
    "routes": fold_routes,
    "docs": fold_docs,
    "roles": fold_roles,
    "custom": fold_custom,
    "tokens": fold_tokens,
    "rules": fold_rules,
    "answers": fold_answers,
}


def read(path: Path) -> Any:
    text = (gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()).decode()
    return [json.loads(line) for line in text.splitlines()] if ".jsonl" in path.name else json.loads(text)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--into", type=Path, default=PATH, help="another file than the packaged one")
    for kind in FOLDS:
        parser.add_argument(f"--{kind}", nargs=2, metavar=("VERSION", "FILE"))
    chosen = vars(parser.parse_args())
    path: Path = chosen["into"]
    text = path.read_text("utf-8") if path.exists() else ""
    data = Data(text)
    for kind in FOLDS:
        if chosen[kind]:
            version, file = chosen[kind]
            data.fold(kind, version, read(Path(file)))
    path.write_text(data.text(), "utf-8")
    sys.stdout.write(data.changes(Data(text)))
    return 0


if __name__ == "__main__":
    sys.exit(main())

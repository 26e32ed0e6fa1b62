"""Write the measured part of tier_features.yaml from a file of facts about GitLab's paid features.

    python scripts/make_tier_features.py FACTS.json

The file is meant to be read and edited by people: what this script finds there already and does not own (the
keys in KEPT) it leaves as it is, so it can run again when newer facts are measured.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import yaml

MAP = Path(__file__).parent.parent / "tier_features.yaml"
KEPT = ("name", "changed", "earlier", "add_on", "parameters", "only", "alternatives", "notes")
ORDER = (
    *("name", "tier", "earlier", "add_on", "docs", "role", "changed", "endpoints", "parameters", "only"),
    *("as_filter", "graphql", "without_it", "alternatives", "notes"),
)

HEADER = """\
# What GitLab sells, feature by feature: the only place in this project where a tier is stated.
#
# name          as it appears in an error
# tier          the lowest that has it: Free, Premium or Ultimate
# earlier       the tier it had before a version: [{before: "18.11", tier: Premium}]
# add_on        what must be bought beside the tier
# docs          the page below https://docs.gitlab.com/
# role          the least role, for people
# changed       what became of it, version by version
# endpoints     REST endpoints that are paid as a whole
# parameters    by endpoint, the parameters that are paid where the endpoint is not
# only          the values for which a parameter is paid; `several` for a list with more than one entry
# as_filter     what an edition that lacks it makes of its parameters in a list: dropped (everything is listed), empty,
#               works. Not said: CE drops what it does not know, the others work
# graphql       GraphQL names
# without_it    what an edition that lacks it does (ee_without_license, gitlab_com_free, ce):
#               effect  refused; or silently: dropped (taken and thrown away), not_enforced (saved, does nothing),
#                       empty (an empty answer), works
#               status, says  the answer: its status and its sentence
#               basis   measured 17.2, on running instances; code 18.9, read in GitLab's source; or inferred, from
#                       what an EE without a licence does
#               code_says  what the code of 18.9 does, where 17.2 was measured to differ
# alternatives  actions of this server to use instead; $name is the caller's argument of that name
#
# An operator's own file (GITLAB_MCP_TIER_FEATURES) is merged over this one, key by key.
"""

EFFECTS = {
    "refused": "refused",
    "ignored": "dropped",
    "empty_result": "empty",
    "stored_not_enforced": "not_enforced",
    "works": "works",
}
IN_WORDS = (
    (r"foss schema|error inside", "refused"),
    (r"drop|ignor|unknown|the first id|deleted|not changed|as ee without", "dropped"),
    (r"enforced|never fire|inactive|without the secrets|not supported|exclusivity", "not_enforced"),
    (r"empty|null|omitted", "empty"),
)
WHERE = {"id", "group_path", "project_id"}
"""Parameters that say where, in the place of a path."""
ENDPOINT = re.compile(r"(?:\([^)]*\) )?(?P<method>[A-Z]+) (?P<path>[^ ?]+)(?P<rest>.*)")


def main() -> int:
    facts = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    kept: dict[str, Any] = yaml.safe_load(MAP.read_text(encoding="utf-8")) if MAP.exists() else {}
    features = {entry["key"]: feature(entry) for entry in facts}
    for key, entry in kept.items():
        known = features.setdefault(key, entry)
        known.update({name: entry[name] for name in KEPT if name in entry})
        # Endpoints that people found to belong to it stay.
        known["endpoints"] = [*dict.fromkeys([*entry.get("endpoints", ()), *(known.get("endpoints") or ())])]
    MAP.write_text(HEADER + "".join(written(key, entry) for key, entry in features.items()), encoding="utf-8")
    return 0


def feature(entry: dict[str, Any]) -> dict[str, Any]:
    endpoints, parameters = split_endpoints(entry["endpoints"])
    exists = entry["measured"]["exists"]
    changed = "; ".join(filter(None, [entry["since_changed"], None if exists else "not in 17.2"]))
    return {
        "name": re.sub(r" \(.*\)$", "", entry["name"]),
        "tier": entry["tier"].split("_")[0].capitalize(),
        "add_on": "GitLab Duo" if entry["tier"].endswith("_addon") else None,
        "docs": entry["docs"]["url_path"].lstrip("/"),
        "role": entry["min_role"],
        "changed": changed,
        "endpoints": endpoints,
        "parameters": parameters,
        "graphql": entry["graphql"],
        "without_it": {
            "ee_without_license": behaviour(entry, "ee_without_license", "ee_without_license", "ee"),
            "gitlab_com_free": behaviour(entry, "gitlab_com_free_namespace", None, None),
            "ce": behaviour(entry, "ce_foss", "ce", "ce"),
        },
    }


def split_endpoints(texts: list[str]) -> tuple[list[str], dict[str, list[str]]]:
    """`PUT /projects/:id (mirror, only_mirror)` and `GET /issues?weight=` name parameters, the rest whole endpoints."""
    whole: list[str] = []
    parameters: dict[str, list[str]] = {}
    previous: list[str] = []
    for text in texts:
        match = ENDPOINT.fullmatch(text)
        if match is None:
            continue
        endpoint, rest = f"{match['method']} {match['path']}", match["rest"]
        if "only through GraphQL" in rest:
            continue
        if rest.startswith("?") and not (set(named := re.findall(r"[?&](\w+)", rest)) & WHERE):
            previous = list(dict.fromkeys(named))
        elif "(same)" in rest:
            pass
        elif rest and (names := parameter_names(rest)):
            previous = names
        else:
            whole.append(endpoint)
            continue
        parameters[endpoint] = previous
    return whole, parameters


def parameter_names(rest: str) -> list[str]:
    inside = rest.strip(" ()").split(" with ")[0].split(" only ")[0]
    if re.search(r"\d\d\.|deprecated|flagged|bot tokens", inside):
        return []
    inside = re.sub(r"^e\.g\. ", "", inside)
    words = (re.match(r"[a-z_]+", word.strip()) for word in re.split(r"[,|]", inside.split("=")[0]))
    return [word[0] for word in words if word and not word[0].endswith("_")]


def behaviour(
    entry: dict[str, Any], in_code: str, measured: str | None, holds: str | None
) -> dict[str, Any] | None:
    code = from_code(entry, in_code)
    seen = entry["measured"].get(measured) if measured and entry["measured"]["exists"] else None
    if not seen or "effect" not in seen:
        return {**code, "basis": "code 18.9"} if code else None
    known: dict[str, Any] = {
        "effect": EFFECTS[seen["effect"]],
        "status": seen.get("status"),
        "says": says(seen),
    }
    if holds and entry["measured"]["code_claim_holds"].get(holds) is False:
        known["code_says"] = " ".join(
            str(code[part]) for part in ("effect", "status", "says") if code.get(part)
        )
    return {**known, "basis": "measured 17.2"}


def from_code(entry: dict[str, Any], name: str) -> dict[str, Any]:
    claim = entry["unlicensed"].get(name) or {}
    effect = str(claim.get("effect", ""))
    if effect.startswith("same as ee_without_license"):
        return from_code(entry, "ee_without_license") | {"status": claim.get("status")}
    return {
        "effect": effect_in_words(claim.get("status"), effect, claim),
        "status": claim.get("status"),
        "says": says(claim),
    }


def effect_in_words(status: int | None, effect: str, claim: dict[str, Any]) -> str:
    if status is not None and status >= 400:
        return "refused"
    if str(claim.get("body", "")).startswith(("[]", "null")):
        return "empty"
    return next((name for pattern, name in IN_WORDS if re.search(pattern, effect, re.IGNORECASE)), "works")


def says(answer: dict[str, Any]) -> str | None:
    """The sentence of a refusal; the body of a success says nothing here."""
    if "FOSS schema" in answer.get("effect", ""):
        return "no such field"
    if (answer.get("status") or 0) < 400 or not answer.get("body"):
        return None
    try:
        body = json.loads(answer["body"])
    except ValueError:
        return None
    if body == {"error": "404 Not Found"}:
        return "no such route"
    said = body.get("message") or body.get("error") if isinstance(body, dict) else None
    if isinstance(said, dict):
        said = said.get("error") or "; ".join(
            f"{field} {', '.join(map(str, texts))}" for field, texts in said.items()
        )
    if isinstance(said, list):
        said = "; ".join(map(str, said))
    return said[:160] if said else None


def written(key: str, entry: dict[str, Any]) -> str:
    ordered = {name: compact(entry[name]) for name in ORDER if entry.get(name)}
    return "\n" + yaml.dump({key: ordered}, Dumper=Readable, sort_keys=False, width=200, allow_unicode=True)


def compact(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: compact(inner) for key, inner in value.items() if inner not in (None, "", [], {})}
    return value


class Readable(yaml.SafeDumper):
    """Lists of words and small mappings on one line, everything else below one another."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def represent_sequence(self, tag: str, sequence: Any, flow_style: bool | None = None) -> Any:
        return super().represent_sequence(tag, sequence, all(" " not in str(item) for item in sequence))

    def represent_mapping(self, tag: str, mapping: Any, flow_style: bool | None = None) -> Any:
        small = (
            "effect" in mapping or "before" in mapping or all(str(v)[0] in "$1C" for v in mapping.values())
        )
        return super().represent_mapping(tag, mapping, small)


if __name__ == "__main__":
    raise SystemExit(main())

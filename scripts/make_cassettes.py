"""Turn recorded exchanges with a GitLab into what is committed: cassettes, and the evidence the tests read.

    make_cassettes.py VERSION RECORDINGS [FACTS]

VERSION is that of the recorded GitLab and names the folders that are written: cassettes/VERSION and
tests/support/recordings/VERSION. RECORDINGS holds JSON lines `{label, actor, method, path, route, status, request,
headers, body}`; not every version has each file. FACTS holds the tables about paid parameters. The same input always
gives the same bytes. What scripts/add_recording.py added stays.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from gitlab_mcp.api.endpoints import find

ROOT = Path(__file__).resolve().parent.parent
HOST = "https://gitlab.example.com"
DEFAULT_CALLER = "alice"
ADDED = "recorded_from"
"""Marks an exchange that came later and from another GitLab, and says from which."""
BIG_BODY = 100_000

KEPT_HEADERS = re.compile(
    r"content-(type|disposition)|location|retry-after|ratelimit-.*|www-authenticate|x-request-id"
    r"|x-(total|total-pages|page|per-page|next-page|prev-page)|x-gitlab-last-commit-id"
)

EVIDENCE = (
    "errors",
    *(
        f"{what}_{edition}"
        for what in ("context", "tiers", "params", "graphql", "detect")
        for edition in ("ee", "ce")
    ),
)
LEFT_OUT_OF_EVIDENCE = frozenset({"body_chars"})
FACTS = ("parameter_tiers.json", "parameter_tiers_measured.json")

# Whom the cassettes know; the many others that mistakes were made as are in the tests' recordings.
CALLERS = ("alice", "bob", "carol", "dave", "root", "alice_read")
ASKED_FOR_PAID = ("alice", "root")

# The first noun whose pattern is found in a route owns the exchange: a question is answered by one file.
NOUNS: tuple[tuple[str, str], ...] = (
    ("graphql", r"^/api/graphql"),
    ("search", r"/search$"),
    ("members", r"/(members|invitations|access_requests|billable_members|member_roles|pending_members)\b"),
    ("reviews", r"/draft_notes|/(un)?approve$|merge_requests/:\w+/approval|/reset_approvals|^/suggestions"),
    ("approval_rules", r"/(approval_rules|approvals|approval_settings|merge_request_approval_settings?)\b"),
    ("epics", r"/epics|/epic_boards|/related_epic"),
    ("iterations", r"/iterations|/iteration_cadences"),
    ("vulnerabilities", r"/vulnerabilit"),
    ("dependencies", r"/dependenc(ies|y_list)"),
    ("integrations", r"/(integrations|services)\b"),
    ("packages", r"/packages|/dependency_proxy"),
    ("schedules", r"/pipeline_schedules"),
    ("discussions", r"/(discussions|notes)\b"),
    ("boards", r"/boards"),
    ("labels", r"/labels|/resource_label_events"),
    ("milestones", r"^/(projects|groups)/:id/milestones"),
    ("environments", r"/(protected_environments|environments|deployments|freeze_periods)\b"),
    ("pipelines", r"/pipelines?\b|/resource_groups"),
    ("triggers", r"/triggers?\b"),
    ("commits", r"/repository/commits|/statuses"),
    ("merge_requests", r"/merge_requests"),
    ("issues", r"/issues|/issues_statistics"),
    ("jobs", r"^/projects/:id/(jobs|artifacts)|^/jobs?\b"),
    ("ci_config", r"/ci/lint|/templates/"),
    ("variables", r"/variables"),
    ("runners", r"/runners"),
    ("files", r"/repository/(files|tree|blobs|archive)|/secure_files|/uploads"),
    ("protected_branches", r"/protected_(branches|tags)"),
    ("branches", r"/repository/(branches|merged_branches)"),
    ("tags", r"/repository/tags"),
    ("commits", r"/repository/"),
    ("releases", r"/releases"),
    ("registry", r"/registry"),
    ("wikis", r"/wikis"),
    ("snippets", r"/snippets"),
    ("access_tokens", r"/(access_tokens|personal_access_tokens|impersonation_tokens|job_token_scope)"),
    ("deploy_access", r"/(deploy_keys|deploy_tokens|project_deploy_keys)\b"),
    ("push_rules", r"/push_rule"),
    ("webhooks", r"/hooks"),
    ("feature_flags", r"/feature_flags"),
    ("terraform_states", r"/terraform"),
    ("audit_events", r"/audit_event"),
    ("analytics", r"/analytics|/dora/|/insights|_analytics$"),
    ("compliance", r"/(security_settings|security/compliance|compliance|(external_)?status_checks)"),
    ("todos", r"^/todos"),
    ("events", r"/events$"),
    ("groups", r"^/groups"),
    ("projects", r"^/projects"),
    ("users", r"^/users?\b|^/user_counts|^/keys|^/namespaces"),
    ("instance", r"^/"),
)

# The shop is one project read in depth; its nouns with the big answers have files of their own.
SHOP_FILES = {
    "merge_requests": "shop_merge_requests",
    "pipelines": "shop_pipelines",
    "jobs": "shop_jobs",
    "commits": "shop_commits",
    "files": "shop_files",
    "discussions": "shop_reviews",
    "reviews": "shop_reviews",
    "graphql": "shop_graphql",
}


@dataclass(frozen=True, slots=True)
class Story:
    """A chain in which a question is answered differently than by the shop at rest: it is played alone."""

    name: str
    alone: str
    """A pattern of labels that would contradict the shop."""
    shared: str = r"(?!)"
    """A pattern of labels that are in both."""


STORIES = (
    Story("polls", r"/poll_"),
    Story("drafts_that_break", r"/isolate_|submit_review/bulk_publish(_nothing)?$"),
    Story(
        "review_chain",
        alone=r"/replay_(drafts_ready|\w+_after)$",
        shared=r"/replay_|/bulk_publish_clean$|review_bundle/review_(mr|mr_plain|versions|diffs)$|readiness/me$",
    ),
)

SECRET_FIELD = re.compile(
    r'("(?:runners_token|token|feed_token|incoming_email_token|static_object_token|secret|private_token|password'
    r'|jwt|encrypted_password|plain_token)"\s*:\s*")[^"]+(")'
)
SECRET_TEXT = re.compile(r"\b(?:gl[a-z]{2,5}-[\w.-]{8,}|GR1348941[\w-]{8,})")
REDACTED = "REDACTED"


Question = tuple[str, str, str, tuple[tuple[str, str], ...], str | None]


@dataclass(frozen=True, slots=True)
class Exchange:
    label: str
    caller: str
    method: str
    path: str
    query: tuple[tuple[str, str], ...]
    body: str | None
    status: int
    headers: tuple[tuple[str, str], ...]
    answer: str
    route: str

    @property
    def question(self) -> Question:
        """What the replay matches on: paging as GitLab does it anyway is no part of it."""
        query = tuple(sorted(without_default_paging(self.query)))
        return self.caller, self.method, self.path, query, self.body

    @property
    def worked(self) -> bool:
        return 200 <= self.status < 300

    @property
    def noun(self) -> str:
        return next(noun for noun, pattern in NOUNS if re.search(pattern, self.route))

    def as_vcr(self) -> dict[str, Any]:
        uri = f"{HOST}{self.path}" + (f"?{urlencode(self.query)}" if self.query else "")
        request_headers = {"X-Recorded-As": [self.caller]}
        if self.body is not None:
            request_headers["Content-Type"] = ["application/json"]
        return {
            "request": {"method": self.method, "uri": uri, "body": self.body, "headers": request_headers},
            "response": {
                "status": {"code": self.status, "message": HTTPStatus(self.status).phrase},
                "headers": {name: [value] for name, value in self.headers},
                "body": {"string": self.answer},
            },
        }


def without_default_paging(query: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    return (pair for pair in query if pair not in (("page", "1"), ("per_page", "20")))


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Nothing where this was not recorded."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def parameter_types(endpoint: str) -> dict[str, str]:
    known = find(endpoint)
    return {name: each.type for name, each in ((known and known.parameters) or {}).items()}


def exchange_from(row: Mapping[str, Any]) -> Exchange:
    url = urlsplit(row["path"])
    query = tuple(parse_qsl(url.query, keep_blank_values=True))
    body = row["request"]
    if isinstance(body, str):
        # A file as it is; its query says what is done with it.
        body = scrub(body)
    elif row["method"] in ("POST", "PUT", "PATCH"):
        # The recorder put small writes into the query; a client of ours sends them as JSON.
        query, body = (), body_of(body, query, parameter_types(row["route"] or ""))
    elif isinstance(body, dict):
        query, body = query + tuple(flat_query(body)), None
    return Exchange(
        label=row["label"],
        caller=row["actor"],
        method=row["method"],
        path=url.path,
        query=query,
        body=body,
        status=row["status"],
        headers=tuple(kept_headers(row["headers"])),
        answer=scrub(row["body"]),
        route=row["route"].partition(" ")[2].replace("(-/)", "") if row["route"] else route_guess(url.path),
    )


def body_of(body: Any, query: Iterable[tuple[str, str]], types: Mapping[str, str]) -> str | None:
    fields = typed(query, types)
    if body is None and not fields:
        return None
    if isinstance(body, list):
        return scrub(json.dumps(body))
    return scrub(json.dumps({**fields, **(body or {})}))


def typed(query: Iterable[tuple[str, str]], types: Mapping[str, str]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for name, text in query:
        if name.endswith("[]"):
            fields.setdefault(name[:-2], []).append(typed_value(text, types.get(name[:-2], "")))
        else:
            fields[name] = typed_value(text, types.get(name, "string"))
    return fields


def typed_value(text: str, kind: str) -> Any:
    if kind == "boolean" and text in ("true", "false"):
        return text == "true"
    if kind in ("integer", "array of integer") and re.fullmatch(r"-?\d+", text):
        return int(text)
    return text


def flat_query(fields: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in fields.items():
        if isinstance(value, list):
            yield from ((f"{name}[]", str(item)) for item in value)
        else:
            yield name, str(value).lower() if isinstance(value, bool) else str(value)


def route_guess(path: str) -> str:
    """The path with placeholders for numbers and scopes, where GitLab has no route."""
    short = path.removeprefix("/api/v4")
    short = re.sub(r"^/(projects|groups|users)/[^/]+", r"/\1/:id", short)
    return re.sub(r"/\d+(?=/|$)", "/:id", short)


def kept_headers(headers: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    return ((name, value) for name, value in sorted(headers.items()) if KEPT_HEADERS.fullmatch(name))


def scrub(text: str) -> str:
    return SECRET_TEXT.sub(REDACTED, SECRET_FIELD.sub(rf"\g<1>{REDACTED}\g<2>", text))


def one_answer_each(exchanges: Iterable[Exchange], known: set[Question]) -> Iterator[Exchange]:
    """The first answer to each question that nobody answered yet."""
    for exchange in exchanges:
        if exchange.question not in known:
            known.add(exchange.question)
            yield exchange


def life_cycles(exchanges: Iterable[Exchange], known: set[Question]) -> Iterator[Exchange]:
    """Every answer in its order, without those that say the same again."""
    last: dict[Question, tuple[int, str]] = {}
    for exchange in exchanges:
        said = (exchange.status, exchange.answer)
        if exchange.question not in known and last.get(exchange.question) != said:
            last[exchange.question] = said
            yield exchange
    known.update(last)


def plan(recordings: Path) -> dict[str, list[Exchange]]:
    """Which exchanges go into which cassette."""

    def exchanges(name: str) -> list[Exchange]:
        return [exchange_from(row) for row in read_rows(recordings / f"{name}.jsonl")]

    def of_callers(name: str, callers: Container[str]) -> list[Exchange]:
        return [exchange for exchange in exchanges(name) if exchange.caller in callers]

    known: set[Question] = set()
    jobs = exchanges("jobs")
    alone = re.compile("|".join(story.alone for story in STORIES))
    shop = [exchange for exchange in jobs if not alone.search(exchange.label)]
    by_noun = [
        *one_answer_each([*exchanges("reads"), *exchanges("reads_by_path")], known),
        *life_cycles([*exchanges("world"), *exchanges("writes")], known),
        *one_answer_each(of_callers("tiers_ee", ASKED_FOR_PAID), known),
        *one_answer_each(of_callers("context_ee", CALLERS), known),
        *one_answer_each(of_callers("graphql_ee", CALLERS), known),
        *life_cycles(of_callers("work_items", CALLERS), known),
    ]
    detect = exchanges("detect_ee")
    # A paid feature of the group that everything else is recorded of, as each caller.
    epics = (each for each in detect if each.label == "detect/epics_private" and each.caller in CALLERS)
    by_noun += one_answer_each(epics, known)
    probes = [*exchanges("params_ee"), *detect]
    by_noun += one_answer_each(where_nothing_worked(probes, [*by_noun, *shop]), known)
    cassettes: dict[str, list[Exchange]] = {}
    for exchange in by_noun:
        cassettes.setdefault(exchange.noun, []).append(exchange)
    for exchange in big_answers_once(one_answer_each(resting_first(shop), known)):
        cassettes.setdefault(SHOP_FILES.get(exchange.noun, "shop"), []).append(exchange)
    for story in STORIES:
        told = (each for each in jobs if re.search(f"{story.alone}|{story.shared}", each.label))
        if chain := list(life_cycles(told, set())):
            cassettes[f"stories/{story.name}"] = chain
    return {name: default_caller_first(cassettes[name]) for name in sorted(cassettes)}


def where_nothing_worked(probes: Iterable[Exchange], others: Iterable[Exchange]) -> Iterator[Exchange]:
    """The probes of known callers that worked on a route on which none of the others did."""
    worked = {(other.method, other.route) for other in others if other.worked}
    for probe in probes:
        known = probe.caller in CALLERS and probe.path.startswith("/api/")
        if known and probe.worked and (probe.method, probe.route) not in worked:
            yield probe


def resting_first(shop: list[Exchange]) -> list[Exchange]:
    """The reviews changed the merge requests they were made on: what others read before counts."""
    reviewing = ("jobs_comment_line", "jobs_submit_review")
    return sorted(shop, key=lambda exchange: exchange.label.startswith(reviewing))


def big_answers_once(exchanges: Iterable[Exchange]) -> Iterator[Exchange]:
    seen: set[str] = set()
    for exchange in exchanges:
        if len(exchange.answer) < BIG_BODY:
            yield exchange
        elif exchange.answer not in seen:
            seen.add(exchange.answer)
            yield exchange


def default_caller_first(exchanges: list[Exchange]) -> list[Exchange]:
    return sorted(exchanges, key=lambda exchange: exchange.caller != DEFAULT_CALLER)


def write_cassette(path: Path, exchanges: Iterable[Exchange]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    extend_cassette(path, (exchange.as_vcr() for exchange in exchanges))


def read_cassette(path: Path) -> list[dict[str, Any]]:
    interactions: list[dict[str, Any]] = json.loads(path.read_text(encoding="ascii"))["interactions"]
    return interactions


def extend_cassette(path: Path, interactions: Iterable[Mapping[str, Any]]) -> None:
    """Put them behind what the file holds of the same caller, the default caller first."""
    held = read_cassette(path) if path.exists() else []
    ordered = sorted([*held, *interactions], key=lambda each: recorded_as(each) != DEFAULT_CALLER)
    lines = ",\n".join(json.dumps(each, separators=(",", ":")) for each in ordered)
    path.write_text(f'{{"version":1,"interactions":[\n{lines}\n]}}\n', encoding="ascii")


def recorded_as(interaction: Mapping[str, Any]) -> str:
    return str(interaction["request"]["headers"]["X-Recorded-As"][0])


def write_compressed(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text.encode(), compresslevel=9, mtime=0))


def evidence(row: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: row[name] for name in row if row[name] is not None and name not in LEFT_OUT_OF_EVIDENCE}
    if "request" in kept:
        kept["request"] = json.loads(scrub(json.dumps(kept["request"])))
    return {**kept, "headers": dict(kept_headers(row["headers"])), "body": scrub(row["body"])}


def json_lines(rows: Iterable[Mapping[str, Any]]) -> str:
    return "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows)


def evidence_of(recordings: Path) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    for name in EVIDENCE:
        yield name, read_rows(recordings / f"{name}.jsonl")
    judged = [row for row in read_rows(recordings / "writes.jsonl") if row.get("truth")]
    yield "refused_writes", judged


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("version")
    parser.add_argument("recordings", type=Path)
    parser.add_argument("facts", type=Path, nargs="?")
    chosen = parser.parse_args()
    cassettes = ROOT / "cassettes" / chosen.version
    added: dict[Path, list[dict[str, Any]]] = {}
    for old in cassettes.rglob("*.json"):
        added[old] = [each for each in read_cassette(old) if ADDED in each]
        old.unlink()
    for name, exchanges in plan(chosen.recordings).items():
        write_cassette(cassettes / f"{name}.json", exchanges)
    for path, interactions in added.items():
        if interactions:
            extend_cassette(path, interactions)
    for name, recorded in evidence_of(chosen.recordings):
        if recorded:
            path = ROOT / f"tests/support/recordings/{chosen.version}/{name}.jsonl.gz"
            write_compressed(path, json_lines(map(evidence, recorded)))
    for file in FACTS if chosen.facts else ():
        write_compressed(
            ROOT / f"tests/support/facts/{file}.gz", (chosen.facts / file).read_text(encoding="utf-8")
        )


if __name__ == "__main__":
    main()
